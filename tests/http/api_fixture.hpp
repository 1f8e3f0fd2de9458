// api_fixture.hpp - a memory and its API in a folder of one test's own, without a server.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "http/endpoint.hpp"
#include "mcp/lazy_memory.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::cli::test {

struct Answer {
  std::uint16_t status = 0;
  std::string body;
  JsonValue json;
  std::shared_ptr<JsonParser> parser;  ///< Keeps `json`.
  HttpResponse response;

  /// The code of a failure; empty when it went well.
  [[nodiscard]] std::string_view code() const { return json["error"]["code"].string(); }
  [[nodiscard]] std::string_view field() const { return json["error"]["field"].string(); }
};

class ApiFixture {
 public:
  ApiFixture();

  /// `target` is a path with its query, which stands as it is: "/memory/search?q=pool&k=5".
  Answer request(std::string_view method, std::string_view target, std::string_view body = {});
  Answer get(std::string_view target) { return request("GET", target); }
  Answer post(std::string_view target, std::string_view body) {
    return request("POST", target, body);
  }
  /// Adds an entry and returns its id; fails the test when it can't.
  std::string add(std::string_view session, EntryType type, std::string_view json);
  /// A session of this id.
  void make_session(std::string_view id);
  /// The last line of a log.
  [[nodiscard]] std::string last_line(std::string_view session, std::string_view log) const;

  MemoryManager& memory() { return memory_; }
  LazyMemory& users() { return users_; }
  const bmad_mem::test::TemporaryDirectory& folder() { return folder_; }

 private:
  bmad_mem::test::TemporaryDirectory folder_;
  MemoryManager memory_;
  LazyMemory users_;
  ApiContext context_{memory_, &users_};
};

/// How many elements there are.
std::size_t count(JsonValue array);

}  // namespace bmad_mem::cli::test
