#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "entry_text.hpp"
#include "model/entry.hpp"
#include "model/field.hpp"

namespace bmad_mem::complete_test {
namespace {

class FixedClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override {
    return parse_rfc3339("2026-10-02T08:00:00Z").value();
  }
};

/// Completes entries on one day of October, with ids that count from zero.
class Desk {
 public:
  Result<CompleteEntry> complete(EntryType type, std::string_view text) {
    return complete_entry(type, parser_, text, ids_, clock_.now());
  }
  /// The line, or the error as text.
  std::string line(EntryType type, std::string_view text) {
    const Result<CompleteEntry> entry = complete(type, text);
    return entry ? entry->line : entry.error().to_string();
  }

 private:
  FixedClock clock_;
  IdGenerator ids_{clock_, [] { return 0U; }};
  JsonParser parser_;
};

}  // namespace

TEST_CASE("id, timestamp and decay_factor are filled in, and the line is in canonical order") {
  Desk desk;
  const Result<CompleteEntry> entry =
      desk.complete(EntryType::kDecision,
                    R"({ "decision" : "Use PostgreSQL", "ticket": 42, "made_by": "architect" })");
  REQUIRE(entry.has_value());
  CHECK(entry->id == "dec-1m3xt1500000000");
  CHECK(entry->line ==
        R"({"id":"dec-1m3xt1500000000","timestamp":"2026-10-02T08:00:00Z","made_by":"architect",)"
        R"("decision":"Use PostgreSQL","ticket":42,"decay_factor":1.0})");
}

TEST_CASE("what the caller gives is kept byte for byte") {
  Desk desk;
  CHECK(
      desk.line(EntryType::kFact,
                "{\"decay_factor\":0.50,\n \"zeta\":[ 1.00, {\"b\":1, \"a\":2} ],"
                "\"content\":\"caf\\u00e9 \\/ \xc3\xa9\","
                "\"alpha\":1E2,\t\"confidence\":1.0,\"timestamp\":\"2026-10-02t10:00:00.5+02:00\","
                "\"id\":\"mine:1\"}") ==
      "{\"id\":\"mine:1\",\"timestamp\":\"2026-10-02t10:00:00.5+02:00\","
      "\"content\":\"caf\\u00e9 \\/ \xc3\xa9\",\"confidence\":1.0,"
      "\"zeta\":[1.00,{\"b\":1,\"a\":2}],\"alpha\":1E2,\"decay_factor\":0.50}");
}

TEST_CASE("a finding is open until somebody says otherwise") {
  Desk desk;
  CHECK(desk.line(EntryType::kFinding, R"({"description":"d","tags":["x"]})")
            .ends_with(R"("description":"d","status":"open","tags":["x"],"decay_factor":1.0})"));
  CHECK(desk.line(EntryType::kFinding, R"({"description":"d","status":"resolved"})").find("open") ==
        std::string::npos);
}

TEST_CASE("a member that names the type is dropped, one that names another is refused") {
  Desk desk;
  for (const char* name : {"agent_state", "agent_states", "agent-states"}) {
    const std::string line =
        desk.line(EntryType::kAgentState,
                  R"({"type":")" + std::string(name) + R"(","agent_id":"a","state":1})");
    CHECK(line.find("\"type\"") == std::string::npos);
    CHECK(line.starts_with("{\"id\":\"state-"));
  }
  const Result<CompleteEntry> other =
      desk.complete(EntryType::kFact, R"({"type":"decision","content":"x"})");
  REQUIRE_FALSE(other.has_value());
  CHECK(other.error().code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(other.error().field == "type");
}

TEST_CASE("a member `type` that names no type of ours is an unknown field like any other") {
  Desk desk;
  CHECK(desk.line(EntryType::kEvent, R"({"type":"tool_use","kind":"k"})")
            .ends_with(R"("kind":"k","type":"tool_use","decay_factor":1.0})"));
  CHECK(desk.line(EntryType::kEvent, R"({"type":7,"kind":"k"})")
            .ends_with(R"("kind":"k","type":7,"decay_factor":1.0})"));
}

TEST_CASE("each line is a valid entry, and completing it again changes nothing") {
  Desk desk;
  for (const EntryType type : kEntryTypes) {
    std::string text = "{";
    for (const Field& field : entry_shape(type).fields) {
      if (field.need == FieldNeed::kRequired && field.name != "id" && field.name != "timestamp") {
        text += text.size() > 1 ? "," : "";
        text += '"' + std::string(field.name) + "\":" + std::string(field.example);
      }
    }
    text += "}";
    CAPTURE(text);
    const std::string line = desk.line(type, text);
    const EntryText entry(line);
    CHECK_FALSE(check_entry(type, entry.value()).has_value());
    CHECK(entry_id(entry.value()).starts_with(entry_type_info(type).id_prefix));
    CHECK(desk.line(type, line) == line);
  }
}

TEST_CASE("two entries completed in one millisecond get different ids that sort in order") {
  Desk desk;
  const std::string first = desk.complete(EntryType::kFact, R"({"content":"x"})").value().id;
  const std::string second = desk.complete(EntryType::kFact, R"({"content":"x"})").value().id;
  CHECK(first < second);
}

TEST_CASE("what is no JSON is E_INVALID_FORMAT, what is no entry E_SCHEMA_INVALID") {
  struct Row {
    const char* text;
    ErrorCode code;
    const char* field;
  };
  static constexpr Row kRows[] = {
      {"", ErrorCode::E_INVALID_FORMAT, ""},
      {"{\"content\":\"x\"", ErrorCode::E_INVALID_FORMAT, ""},
      {"{\"content\":\"x\",\"content\":\"y\"}", ErrorCode::E_INVALID_FORMAT, "content"},
      {"{\"content\":\"x\"} {}", ErrorCode::E_INVALID_FORMAT, ""},
      {"{\"content\":\"\xff\"}", ErrorCode::E_INVALID_FORMAT, ""},
      {"{\"content\":\"x\",\"n\":18446744073709551616}", ErrorCode::E_INVALID_FORMAT, "n"},
      {"[]", ErrorCode::E_SCHEMA_INVALID, ""},
      {"{}", ErrorCode::E_SCHEMA_INVALID, "content"},
      {"{\"content\":\"x\",\"id\":\"\"}", ErrorCode::E_SCHEMA_INVALID, "id"},
      {"{\"content\":\"x\",\"timestamp\":\"now\"}", ErrorCode::E_SCHEMA_INVALID, "timestamp"},
  };
  Desk desk;
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const Result<CompleteEntry> entry = desk.complete(EntryType::kFact, row.text);
    REQUIRE_FALSE(entry.has_value());
    CHECK(entry.error().code == row.code);
    if (row.code == ErrorCode::E_SCHEMA_INVALID || *row.field != '\0') {
      CHECK(entry.error().field == row.field);
    }
  }
}

TEST_CASE("a line may have kEntrySizeMax bytes and not one more") {
  Desk desk;
  const std::string head = R"({"id":"f","timestamp":"2026-10-02T08:00:00Z","content":")";
  const std::string tail = R"(","decay_factor":1.0})";
  const std::string fitting =
      head + std::string(kEntrySizeMax - head.size() - tail.size(), 'x') + tail;
  CHECK(desk.complete(EntryType::kFact, fitting).value().line.size() == kEntrySizeMax);
  const Result<CompleteEntry> larger =
      desk.complete(EntryType::kFact,
                    head + std::string(kEntrySizeMax + 1 - head.size() - tail.size(), 'x') + tail);
  REQUIRE_FALSE(larger.has_value());
  CHECK(larger.error().code == ErrorCode::E_SIZE_LIMIT);
  // The text would do, but the line with what is filled in would not.
  const std::string short_head = R"({"content":")";
  const Result<CompleteEntry> filled =
      desk.complete(EntryType::kFact,
                    short_head + std::string(kEntrySizeMax - short_head.size() - 2, 'x') + "\"}");
  REQUIRE_FALSE(filled.has_value());
  CHECK(filled.error().code == ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("a change keeps every byte of the members that it does not name") {
  struct Row {
    const char* name;
    std::string_view before;
    std::string_view change;
    std::string_view after;
  };
  static constexpr Row kRows[] = {
      {"replaced in its place", R"({"id":"x","n":1.00,"a":"b","u":"\u00e9"})", R"({"a":"c"})",
       R"({"id":"x","n":1.00,"a":"c","u":"\u00e9","updated_at":"2026-01-11T10:00:00Z"})"},
      {"appended", R"({"id":"x"})", R"({ "new" : [ 1,
        2 ] })",
       R"({"id":"x","new":[1,2],"updated_at":"2026-01-11T10:00:00Z"})"},
      {"taken away", R"({"id":"x","a":"b","c":null})", R"({"a":null})",
       R"({"id":"x","c":null,"updated_at":"2026-01-11T10:00:00Z"})"},
      {"what isn't there can't be taken away", R"({"id":"x"})", R"({"a":null,"pinned":true})",
       R"({"id":"x","pinned":true})"},
      {"a key that is spelt otherwise stays so", R"({"id":"x","\u0061":1})", R"({"a":2})",
       R"({"id":"x","\u0061":2,"updated_at":"2026-01-11T10:00:00Z"})"},
      {"a mark changes nothing of what it says", R"({"id":"x","tags":["a"]})",
       R"({"tags":["b"],"sensitive":true})", R"({"id":"x","tags":["b"],"sensitive":true})"},
      {"its own time of change wins", R"({"id":"x","updated_at":"old"})",
       R"({"a":1,"updated_at":"mine"})", R"({"id":"x","updated_at":"mine","a":1})"},
  };
  const Timestamp now = *try_parse_rfc3339("2026-01-11T10:00:00Z");
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      JsonParser parser;
      const Result<JsonValue> change = parser.parse(row.change);
      REQUIRE(change);
      const Result<std::string> line = changed_line(row.before, *change, row.change, now);
      REQUIRE(line);
      CHECK(*line == row.after);
    }
  }
}

}  // namespace bmad_mem::complete_test
