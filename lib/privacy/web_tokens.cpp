// web_tokens.cpp - JSON web tokens: base64url parts, the first of which is a JSON object.
//
//   eyJhbGciOi….eyJzdWIiOi….SflKxwRJSM…         signed: header, payload, signature
//   eyJhbGciOi….eyJzdWIiOi….                    not signed: the third part is empty
//   eyJhbGciOi….key.vector.ciphertext.tag       encrypted: five parts, the second may be empty
#include <array>
#include <cstddef>
#include <string>

#include "bmad_mem/text.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kHeaderSizeMax = 8192;
constexpr std::size_t kSignatureSizeMin = 16;
/// In one run of base64url: "a-eyJ…" may be a prefix, more than a few are nobody's.
constexpr std::size_t kTriesMax = 4;

/// A token may stand behind "\n", "%20" and signs, but not in the middle of a word.
bool may_web_token_begin_at(std::string_view text, std::size_t at) {
  if (!is_alnum(byte_before(text, at))) {
    return true;
  }
  return (at >= 2 && text[at - 2] == '\\' && std::string_view("nrt").contains(text[at - 1])) ||
         (at >= 3 && text[at - 3] == '%');
}

bool is_json_object(std::string_view part) {
  const std::string decoded = decode_base64(part);
  const std::size_t last = decoded.find_last_not_of(" \t\r\n");
  return decoded.starts_with('{') && last != std::string::npos && decoded[last] == '}';
}

bool is_token_header(std::string_view part) {
  if (part.size() > kHeaderSizeMax || !is_json_object(part)) {
    return false;
  }
  const std::string decoded = decode_base64(part);
  return decoded.contains("\"alg\"") || decoded.contains("\"typ\"") || decoded.contains("\"enc\"");
}

/// The end of the token whose header is [begin, header_end); `begin` when it is none.
std::size_t token_end(std::string_view text, std::size_t begin, std::size_t header_end) {
  std::array<std::size_t, 5> ends = {header_end};
  std::size_t count = 1;
  while (count < ends.size() && byte_at(text, ends[count - 1]) == '.') {
    ends[count] = run_end(text, ends[count - 1] + 1, is_base64url);
    ++count;
  }
  const auto size_of = [&](std::size_t i) { return ends[i] - ends[i - 1] - 1; };
  if (count == 5 && size_of(2) > 0 && size_of(3) > 0 && size_of(4) > 0) {
    return ends[4];
  }
  if (count < 3) {
    return begin;
  }
  if (size_of(2) >= kSignatureSizeMin) {
    return ends[2];
  }
  const std::string_view payload = text.substr(ends[0] + 1, size_of(1));
  return size_of(2) == 0 && count == 3 && is_json_object(payload) ? ends[2] : begin;
}

}  // namespace

void scan_web_token(StructureScan& scan, std::size_t at, std::size_t /*size*/) {
  if (at >= scan.token_run_end) {
    scan.token_run_end = run_end(scan.text, at, is_base64url);
    scan.token_tries = 0;
  }
  if (!may_web_token_begin_at(scan.text, at) || byte_at(scan.text, scan.token_run_end) != '.' ||
      scan.token_tries++ >= kTriesMax ||
      !is_token_header(scan.text.substr(at, scan.token_run_end - at))) {
    return;
  }
  const std::size_t end = token_end(scan.text, at, scan.token_run_end);
  if (end > at) {
    scan.add(at, end, "jwt");
    scan.token_run_end = end;
    scan.token_tries = kTriesMax;
  }
}

}  // namespace bmad_mem
