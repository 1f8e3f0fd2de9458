#include <chrono>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "search/query/plan.hpp"

namespace bmad_mem::question_test {
namespace {

Timestamp at(std::string_view text) { return try_parse_rfc3339(text).value(); }
const Timestamp kNow = at("2026-01-11T10:00:00Z");

Plan read(const Query& query) { return read_query(query, kNow).value(); }

Error refusal(const Query& query) {
  Result<Plan> plan = read_query(query, kNow);
  REQUIRE_FALSE(plan.has_value());
  return plan.error();
}

}  // namespace

TEST_CASE("filters of the text join those of the query") {
  const Plan plan =
      read({.text = "why type:fact agent:ann tag:\"a b\" topic:t session:s2 is:pinned since:7d",
            .filter = {.sessions = {"s1"}, .types = {EntryType::kEvent}, .limit = 3}});
  REQUIRE(plan.clauses.size() == 1);
  CHECK(plan.clauses[0].text == "why");
  CHECK(plan.query.filter.types == std::vector{EntryType::kEvent, EntryType::kFact});
  CHECK(plan.query.filter.agents == std::vector<std::string>{"ann"});
  CHECK(plan.query.filter.tags == std::vector<std::string>{"a b"});
  CHECK(plan.query.topics == std::vector<std::string>{"t"});
  CHECK(plan.query.filter.sessions == std::vector<std::string>{"s1", "s2"});
  CHECK(plan.query.filter.pinned_only);
  CHECK(plan.query.filter.since == kNow - std::chrono::days(7));
  CHECK(plan.query.filter.limit == 3);
}

TEST_CASE("a filter that is turned around stands apart") {
  const Plan plan = read({.text = "why -type:fact -tag:x"});
  CHECK(plan.query.filter.types.empty());
  REQUIRE(plan.filters.size() == 2);
  CHECK(plan.filters[0].type == EntryType::kFact);
  CHECK(plan.filters[1].value == "x");
}

TEST_CASE("fields of the text and topics of the query join the filter") {
  const Plan plan = read({.text = "x status:open -severity:low",
                          .filter = {.fields = {{.field = "key", .value = "k"}}},
                          .topics = {"t"}});
  CHECK(plan.query.filter.fields ==
        std::vector<FieldFilter>{{.field = "key", .value = "k"},
                                 {.field = "status", .value = "open"},
                                 {.field = "severity", .value = "low", .excluded = true}});
  CHECK(plan.query.topics == std::vector<std::string>{"t"});
  CHECK(refusal({.text = "x", .filter = {.fields = {{.field = "y", .value = "z"}}}}).field ==
        "fields");
  CHECK(refusal({.text = "x", .filter = {.fields = {{.field = "status", .value = "z"}}}}).field ==
        "fields");
}

TEST_CASE("what was read as words is told") {
  const Plan plan = read({.text = "x -O2"});
  CHECK(plan.as_prose.size() == 1);
  CHECK(plan.notes.size() == 1);
  CHECK(read({.text = "-word", .filter = {.types = {EntryType::kFact}}}).clauses[0].excluded);
}

TEST_CASE("prose is one clause, whatever signs it holds") {
  const Plan plan = read({.text = "-x type:fact \"open", .text_is_prose = true});
  REQUIRE(plan.clauses.size() == 1);
  CHECK(plan.clauses[0].text == "-x type:fact \"open");
  CHECK(plan.prose == plan.clauses[0].text);
  CHECK(plan.query.filter.types.empty());
}

TEST_CASE("a time range that ends before it begins is refused, wherever its ends come from") {
  CHECK(refusal({.text = "x since:1d", .filter = {.until = kNow - std::chrono::days(2)}}).field ==
        "time_range");
  CHECK(refusal({.text = "x", .filter = {.since = kNow, .until = kNow - std::chrono::days(2)}})
            .code == ErrorCode::E_INVALID_QUERY);
  CHECK(read({.text = "x", .filter = {.since = kNow, .until = kNow}}).query.filter.since == kNow);
}

TEST_CASE("a query that says nothing is refused; a filter says enough") {
  CHECK(refusal({.text = ""}).field == "text");
  CHECK(refusal({.text = "  "}).code == ErrorCode::E_INVALID_QUERY);
  CHECK(refusal({.text = "", .filter = {.sessions = {"s1"}}}).field == "text");
  CHECK(read({.text = "", .filter = {.tags = {"x"}}}).clauses.empty());
  CHECK(read({.text = "is:pinned"}).clauses.empty());
}

}  // namespace bmad_mem::question_test
