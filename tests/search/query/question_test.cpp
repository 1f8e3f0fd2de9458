#include <chrono>

#include <doctest/doctest.h>

#include "bmad_mem/rfc3339.hpp"
#include "search/query_parser.hpp"

namespace bmad_mem::question_test {
namespace {

Timestamp at(std::string_view text) { return try_parse_rfc3339(text).value(); }
const Timestamp kNow = at("2026-01-11T10:00:00Z");

Question read(const Query& query) { return read_question(query, kNow).value(); }

Error refusal(const Query& query) {
  Result<Question> question = read_question(query, kNow);
  REQUIRE_FALSE(question.has_value());
  return question.error();
}

}  // namespace

TEST_CASE("filters of the text join those of the query") {
  const Question question =
      read({.text = "why type:fact agent:ann tag:\"a b\" topic:t session:s2 is:pinned since:7d",
            .filter = {.sessions = {"s1"}, .types = {EntryType::kEvent}, .limit = 3}});
  REQUIRE(question.clauses.size() == 1);
  CHECK(question.clauses[0].text == "why");
  CHECK(question.filter.types == std::vector{EntryType::kEvent, EntryType::kFact});
  CHECK(question.filter.agents == std::vector<std::string>{"ann"});
  CHECK(question.filter.tags == std::vector<std::string>{"a b"});
  CHECK(question.topics == std::vector<std::string>{"t"});
  CHECK(question.filter.sessions == std::vector<std::string>{"s1", "s2"});
  CHECK(question.filter.pinned_only);
  CHECK(question.filter.since == kNow - std::chrono::days(7));
  CHECK(question.filter.limit == 3);
}

TEST_CASE("a filter that is turned around stands apart") {
  const Question question = read({.text = "why -type:fact -tag:x"});
  CHECK(question.filter.types.empty());
  REQUIRE(question.exclusions.size() == 2);
  CHECK(question.exclusions[0].type == EntryType::kFact);
  CHECK(question.exclusions[1].value == "x");
}

TEST_CASE("fields of the text and topics of the query join the filter") {
  const Question question = read({.text = "x status:open -severity:low",
                                  .filter = {.fields = {{.field = "key", .value = "k"}}},
                                  .topics = {"t"}});
  CHECK(question.filter.fields ==
        std::vector<FieldFilter>{{.field = "key", .value = "k"},
                                 {.field = "status", .value = "open"},
                                 {.field = "severity", .value = "low", .excluded = true}});
  CHECK(question.topics == std::vector<std::string>{"t"});
  CHECK(refusal({.text = "x", .filter = {.fields = {{.field = "y", .value = "z"}}}}).field ==
        "fields");
  CHECK(refusal({.text = "x", .filter = {.fields = {{.field = "status", .value = "z"}}}}).field ==
        "fields");
}

TEST_CASE("what was read as words is told") {
  const Question question = read({.text = "x -O2"});
  CHECK(question.as_prose.size() == 1);
  CHECK(question.notes.size() == 1);
  CHECK(read({.text = "-word", .filter = {.types = {EntryType::kFact}}}).clauses[0].excluded);
}

TEST_CASE("prose is one clause, whatever signs it holds") {
  const Question question = read({.text = "-x type:fact \"open", .text_is_prose = true});
  REQUIRE(question.clauses.size() == 1);
  CHECK(question.clauses[0].text == "-x type:fact \"open");
  CHECK(question.prose == question.clauses[0].text);
  CHECK(question.filter.types.empty());
}

TEST_CASE("a time range that ends before it begins is refused, wherever its ends come from") {
  CHECK(refusal({.text = "x since:1d", .filter = {.until = kNow - std::chrono::days(2)}}).field ==
        "time_range");
  CHECK(refusal({.text = "x", .filter = {.since = kNow, .until = kNow - std::chrono::days(2)}})
            .code == ErrorCode::E_INVALID_QUERY);
  CHECK(read({.text = "x", .filter = {.since = kNow, .until = kNow}}).filter.since == kNow);
}

TEST_CASE("a query that says nothing is refused; a filter says enough") {
  CHECK(refusal({.text = ""}).field == "text");
  CHECK(refusal({.text = "  "}).code == ErrorCode::E_INVALID_QUERY);
  CHECK(refusal({.text = "", .filter = {.sessions = {"s1"}}}).field == "text");
  CHECK(read({.text = "", .filter = {.tags = {"x"}}}).clauses.empty());
  CHECK(read({.text = "is:pinned"}).clauses.empty());
}

}  // namespace bmad_mem::question_test
