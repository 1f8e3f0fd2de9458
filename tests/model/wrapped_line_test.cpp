#include <array>
#include <string>

#include <doctest/doctest.h>

#include "model/entry.hpp"

namespace bmad_mem::test::wrapped_line_test {
namespace {

std::string wrapped(std::string_view entry) {
  std::string out;
  const std::array<WrapLabel, 1> labels = {{{"reason", "a \"quoted\",\"entry\":{} one"}}};
  append_wrapped(out, EntryType::kFact, labels, entry);
  return out;
}

}  // namespace

TEST_CASE("a wrapped line is JSON with the line in it") {
  std::string out;
  append_wrapped(out, EntryType::kAgentState, {}, R"({"id":"s"})");
  CHECK(out == R"({"type":"agent_state","entry":{"id":"s"}})");
}

TEST_CASE("a line comes back byte for byte") {
  const std::string deep =
      std::string(kJsonDepthMax - 1, '[') + std::string(kJsonDepthMax - 1, ']');
  const std::string lines[] = {
      R"({})",
      R"({"id":"f","content":"ünï \u00e9 \"}]{[,:\\","n": 1.00 , "deep":[{"entry":{}}]})",
      "  {\"id\" : 1}\t\r",
      R"({"deep":)" + deep + "}",
  };
  for (const std::string& line : lines) {
    CAPTURE(line);
    const std::string text = wrapped(line);
    JsonParser parser;
    const WrappedLine taken = unwrap_line(parser, text).value();
    CHECK(taken.entry == line);
    CHECK(taken.type == EntryType::kFact);
    CHECK(taken.members["reason"].string() == "a \"quoted\",\"entry\":{} one");
  }
}

TEST_CASE("a person may order the members and put blanks between them") {
  JsonParser parser;
  const WrappedLine taken =
      unwrap_line(parser, " { \"entry\": {\"id\": 1},\t\"mine\":[1,2] , \"type\" : \"facts\" } ")
          .value();
  CHECK(taken.entry == " {\"id\": 1}");
  CHECK(taken.type == EntryType::kFact);
}

TEST_CASE("what is no wrapped line is refused") {
  struct Row {
    std::string_view text;
    std::string_view field;
  };
  static constexpr Row kRows[] = {
      {"", ""},
      {"[]", ""},
      {"no JSON", ""},
      {"{", ""},
      {R"({"type":"fact","entry":{})", "entry"},
      {R"({"type":"fact","entry":{}}})", ""},
      {R"({"type":"fact","type":"fact","entry":{}})", "type"},
      {R"({"type":"fact"})", "entry"},
      {R"({"type":"fact","entry":[]})", "entry"},
      {R"({"type":"fact","entry":{]})", "entry"},
      {R"({"type":"fact","entry":})", "entry"},
      {R"({"entry":{}})", "type"},
      {R"({"type":7,"entry":{}})", "type"},
      {R"({"type":"poem","entry":{}})", "type"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    JsonParser parser;
    const Result<WrappedLine> taken = unwrap_line(parser, row.text);
    REQUIRE(!taken);
    CHECK(taken.error().code == ErrorCode::E_INVALID_FORMAT);
    CHECK(taken.error().field == row.field);
    CHECK(!taken.error().message.empty());
  }
}

}  // namespace bmad_mem::test::wrapped_line_test
