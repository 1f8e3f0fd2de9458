// http_post.hpp - one question to a server of HTTP on this machine, and its answer.
//
// Plain HTTP/1.1: no TLS, no redirect, no proxy, no cookie, a connection for each question. A host
// is an address, or "localhost", which is 127.0.0.1 and then [::1]: no name is looked up, since the
// resolver of a statically linked glibc needs the shared libraries of the machine that built it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct HttpPlace {
  std::vector<std::string> addresses;  ///< Numeric, in the order in which they are tried.
  std::uint16_t port = 80;
  std::string host;    ///< As the header has it: "localhost:11434".
  std::string target;  ///< Path and query, at least "/".
};

/// Where "http://HOST[:PORT][/PATH][?QUERY]" is. Errors: E_INVALID_QUERY for https, names, user
/// names, blanks and all else that is no such URL; E_ACCESS_DENIED for an address that is not of
/// this machine (127.0.0.0/8, ::1), unless `takes_remote`.
Result<HttpPlace> http_place(std::string_view url, bool takes_remote);

/// The body of the answer to `json`, with status 200, of at most `answer_size_max` bytes. Errors:
/// E_STORAGE_IO when nobody listens, the answer is cut, or has another status; E_QUERY_TIMEOUT when
/// all of it takes longer than `timeout`; E_SIZE_LIMIT.
Result<std::string> http_post(const HttpPlace& place, std::string_view json,
                              std::chrono::milliseconds timeout, std::size_t answer_size_max);

}  // namespace bmad_mem
