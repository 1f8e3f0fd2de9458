#include "http/api_fixture.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace bmad_mem::cli::test {
namespace {

MemoryManager open_new(const std::string& root) {
  REQUIRE(MemoryManager::init(root));
  Result<MemoryManager> memory = MemoryManager::open({.root = root, .note_accesses = false});
  REQUIRE(memory);
  return *std::move(memory);
}

/// "a=b&c=d"; nothing is decoded.
std::vector<HttpField> query_of(std::string_view text) {
  std::vector<HttpField> fields;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    fields.push_back({.name = std::string(pair.substr(0, equals)),
                      .value = equals == std::string_view::npos
                                   ? std::string()
                                   : std::string(pair.substr(equals + 1))});
  }
  return fields;
}

class Collector final : public HttpBodyWriter {
 public:
  bool write(std::string_view piece) override {
    text += piece;
    return true;
  }
  std::string text;
};

}  // namespace

ApiFixture::ApiFixture()
    : memory_(open_new(folder_.path("memory"))), users_({.explicit_root = folder_.path("mine")}) {
  // What the tool keeps for its user is kept for this test.
  ::setenv("XDG_STATE_HOME", folder_.path("state").c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

Answer ApiFixture::request(std::string_view method, std::string_view target,
                           std::string_view body) {
  HttpRequest request;
  request.method = method;
  request.path = target.substr(0, target.find('?'));
  if (const std::size_t mark = target.find('?'); mark != std::string_view::npos) {
    request.query = query_of(target.substr(mark + 1));
  }
  request.body = body;
  Answer answer;
  answer.response = answer_api(context_, request);
  answer.status = answer.response.status;
  answer.body = answer.response.body;
  if (answer.response.write_body) {
    Collector collector;
    CHECK(answer.response.write_body(collector));
    answer.body = collector.text;
  } else if (answer.response.content_type == "application/json") {
    answer.parser = std::make_shared<JsonParser>();
    const Result<JsonValue> json = answer.parser->parse(answer.body);
    REQUIRE_MESSAGE(json, answer.body);
    answer.json = *json;
  }
  return answer;
}

std::string ApiFixture::add(std::string_view session, EntryType type, std::string_view json) {
  const Result<std::string> id = memory_.add(session, type, json);
  REQUIRE_MESSAGE(id, (id ? "" : id.error().to_string()));
  return *id;
}

void ApiFixture::make_session(std::string_view id) {
  REQUIRE(memory_.create_session({.session_id = std::string(id)}));
}

std::string ApiFixture::last_line(std::string_view session, std::string_view log) const {
  std::string text = folder_.read(fmt::format("memory/sessions/{}/{}", session, log));
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

std::size_t count(JsonValue array) {
  std::size_t elements = 0;
  for ([[maybe_unused]] const JsonValue element : array.elements()) {
    ++elements;
  }
  return elements;
}

}  // namespace bmad_mem::cli::test
