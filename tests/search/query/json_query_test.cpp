// json_query_test.cpp - a query as programs write it.

#include <array>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/json_cursor.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "search/query/query_scanner.hpp"

namespace bmad_mem::json_query_test {
namespace {

Result<Query> read(std::string_view json) { return read_json_query(json, Timestamp{}); }

}  // namespace

TEST_CASE("a JSON query says all that a query can") {
  const Query query = read(R"({"text": "database scalability",
      "types": ["decisions", "finding", "agent_states", "decision"],
      "time_range": {"start": "2026-01-10T00:00:00Z", "end": "2026-01-11"},
      "tags": ["database", "architecture"], "agents": ["architect"],
      "sessions": ["sess-2026-01-11-4q7m2s"], "min_relevance": 0.5, "limit": 7,
      "sort": "time_asc", "weights": {"text": 1, "time": 0.25}})")
                          .value();
  CHECK(query.text == "database scalability");
  CHECK(query.filter.types ==
        std::vector{EntryType::kDecision, EntryType::kFinding, EntryType::kAgentState});
  CHECK(format_rfc3339(*query.filter.since) == "2026-01-10T00:00:00Z");
  CHECK(format_rfc3339(*query.filter.until) == "2026-01-11T23:59:59.999Z");
  CHECK(query.filter.tags == std::vector<std::string>{"database", "architecture"});
  CHECK(query.filter.agents == std::vector<std::string>{"architect"});
  CHECK(query.filter.sessions == std::vector<std::string>{"sess-2026-01-11-4q7m2s"});
  CHECK(query.min_relevance == 0.5);
  CHECK(query.filter.limit == 7);
  CHECK(query.sort == SortOrder::kTimeAsc);
  REQUIRE(query.weights.has_value());
  CHECK(query.weights->text == 1.0);
  CHECK(query.weights->time == 0.25);
  CHECK(query.weights->importance == RelevanceWeights().importance);
  CHECK(query.weights->access == RelevanceWeights().access);
}

TEST_CASE("what a JSON query leaves out, or gives as null, has its default") {
  for (const std::string_view json :
       {"{}", R"({"text":null,"types":null,"time_range":null,"limit":null,"weights":null})",
        R"({"types":[],"time_range":{"start":null},"weights":{"access":null}})"}) {
    CAPTURE(std::string(json));
    const Query query = read(json).value();
    CHECK(query.text.empty());
    CHECK(query.filter.types.empty());
    CHECK_FALSE(query.filter.since.has_value());
    CHECK_FALSE(query.filter.until.has_value());
    CHECK(query.min_relevance == 0);
    CHECK(query.filter.limit == 20);
    CHECK(query.sort == SortOrder::kRelevanceDesc);
    CHECK_FALSE(query.weights.has_value());
  }
}

TEST_CASE("a JSON query that is wrong is refused by field and column") {
  struct Row {
    std::string_view json;
    std::uint64_t column;
    std::string_view field;
    std::string_view message;
  };
  static constexpr Row kRows[] = {
      {R"([])", 1, "", "must be an object, not an array"},
      {R"({"text":1})", 9, "text", "must be a string, not a number"},
      {R"({"text":"a","limits":1})", 13, "limits", "is not known here; known are text, types, "},
      {R"({"te\u0078ts":1})", 2, "texts", "; did you mean text?"},
      {R"({"query":"x"})", 2, "query", "is not known here; known are text, "},
      {R"({"types":"decision"})", 10, "types", "must be an array of strings; put the string in ["},
      {R"({"types":7})", 10, "types", "must be an array of strings, not a number"},
      {R"({ "types" : [ "fact", "facst" ] })", 23, "types[1]",
       "\"facst\" is not a type of entry; the types are conversation, "},
      {R"({"tags":["a",["b"]]})", 14, "tags[1]", "must be a string, not an array"},
      {R"({"tags":["a,\"]","",3]})", 18, "tags[1]", "is empty; leave it out"},
      {R"({"agents":[null]})", 12, "agents[0]", "must be a string, not null"},
      {R"({"sessions":["../x"]})", 14, "sessions[0]", "\"../x\" is not the id of a session"},
      {R"({"time_range":[]})", 15, "time_range", "must be an object, not an array"},
      {R"({"time_range":{"start":"soon"}})", 24, "time_range.start", "\"soon\" is not a time; "},
      {R"({"time_range":{"end":1}})", 22, "time_range.end", "must be a string, not a number"},
      {R"({"time_range":{"strt":"now"}})", 16, "time_range.strt",
       "is not known here; known are start, end; did you mean start?"},
      {R"({"time_range":{"start":"2026-01-02","end":"2026-01-01"}})", 15, "time_range",
       "the start is after the end; swap them"},
      {R"({"min_relevance":"0.5"})", 18, "min_relevance", "must be a number, not a string"},
      {R"({"min_relevance":1.5})", 18, "min_relevance", "must be a number from 0 to 1"},
      {R"({"min_relevance":-1})", 18, "min_relevance", "must be a number from 0 to 1"},
      {R"({"limit":1.5})", 10, "limit", "must be a whole number, 0 or more; 0 is no limit"},
      {R"({"limit":-1})", 10, "limit", "must be a whole number"},
      {R"({"limit":18446744073709551615})", 10, "limit", "must be a whole number"},
      {R"({"limit":true})", 10, "limit", "must be a number, not a boolean"},
      {R"({"sort":"time_dsc"})", 9, "sort",
       "\"time_dsc\" is not an order; known are relevance_desc, time_desc, time_asc; did you mean "
       "time_desc?"},
      {R"({"weights":{"text":2}})", 20, "weights.text", "must be a number from 0 to 1"},
      {R"({"weights":{"word":1}})", 13, "weights.word", "known are text, time, importance, access"},
      {R"({"weights":{"text":0,"time":0,"importance":0,"access":0}})", 12, "weights", "are all 0"},
      {R"({"text":"a")", 12, "text", "not valid JSON"},
      {R"({"text":"a","text":"b"})", 13, "text", "is twice"},
      {R"()", 1, "", "not valid JSON"},
      {"{\"text\":\"\xFF\"}", 10, "", "not valid UTF-8"},
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.json));
    const Result<Query> query = read(row.json);
    REQUIRE_FALSE(query.has_value());
    CHECK(query.error().code == ErrorCode::E_INVALID_QUERY);
    CHECK(query.error().column == row.column);
    CHECK(query.error().line == 0);
    CHECK(query.error().field == row.field);
    CAPTURE(query.error().message);
    CHECK(query.error().message.find(row.message) != std::string::npos);
  }
}

TEST_CASE("in a JSON query of several lines the line is named too") {
  const Error wrong_value = read("{\n  \"text\": \"a\",\n  \"limit\": -1\n}").error();
  CHECK(wrong_value.line == 3);
  CHECK(wrong_value.column == 12);
  const Error wrong_syntax = read("{\n  \"text\": a\n}").error();
  CHECK(wrong_syntax.line == 2);
  CHECK(wrong_syntax.column == 11);
}

TEST_CASE("a JSON query has at most a mebibyte") {
  const std::string text(kQuerySizeMax - 11, 'x');
  CHECK(read(fmt::format(R"({{"text":"{}"}})", text)).has_value());
  CHECK(read(fmt::format(R"({{"text":"{}x"}})", text)).error().message ==
        "the query has 1048577 bytes, and the maximum is 1048576; shorten it");
}

TEST_CASE("an unknown key is quoted short and fit for a terminal") {
  const Error error = read(R"({"\u001b[31m)" + std::string(3000, 'x') + R"(":1})").error();
  CHECK(error.field.size() < 60);
  CHECK(error.field.starts_with(" [31mxxx"));
  CHECK(error.message.size() < 300);
}

TEST_CASE("what is not JSON is quoted fit for a terminal") {
  const Error error = read("\"a\x7F\xE2\x80\xAE b").error();
  CHECK(error.message.find("\x7F") == std::string::npos);
  CHECK(error.message.find("\xE2\x80\xAE") == std::string::npos);
}

TEST_CASE("a place in a JSON text is found by counting") {
  constexpr std::string_view kText =
      R"( { "a" : [ 1, "x:,]\"" , {"k\"":[ ]} ] , "b":{ "c" : -2 } })";
  struct Row {
    std::vector<std::size_t> path;
    std::string_view value;
    std::string_view key;
  };
  const Row rows[] = {
      {{}, "{ \"a\"", "{ \"a\""},   {{0}, "[ 1,", "\"a\""},    {{0, 0}, "1,", "1,"},
      {{0, 1}, "\"x:,]", "\"x:,]"}, {{0, 2}, "{\"k", "{\"k"},  {{0, 2, 0}, "[ ]", "\"k\\\"\":"},
      {{1}, "{ \"c\"", "\"b\":"},   {{1, 0}, "-2", "\"c\" :"},
  };
  for (const Row& row : rows) {
    CHECK(kText.substr(json_value_offset(kText, row.path)).starts_with(row.value));
    CHECK(kText.substr(json_key_offset(kText, row.path)).starts_with(row.key));
  }
}

}  // namespace bmad_mem::json_query_test
