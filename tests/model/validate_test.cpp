// The table of fixtures/entries is checked in entry_fixtures_test.cpp; here are the sentences, and
// what can't stand in a file.
#include <string>

#include <doctest/doctest.h>

#include "entry_text.hpp"
#include "model/entry.hpp"
#include "model/field.hpp"

namespace bmad_mem::validate_test {
namespace {

FieldProblem problem_of(EntryType type, const std::string& text) {
  const EntryText entry(text);
  return check_entry(type, entry.value()).value_or(FieldProblem{});
}

/// A decision whose members, besides the required ones, are `more`.
std::string decision_with(const std::string& more) {
  return R"({"id":"dec-1","timestamp":"2026-01-11T10:10:00Z","decision":"Use PostgreSQL",)" + more +
         "}";
}

}  // namespace

TEST_CASE("a problem says what is allowed and what was probably meant") {
  struct Row {
    const char* more;
    const char* field;
    const char* message;
  };
  static constexpr Row kRows[] = {
      {R"("impact":"hgih")", "impact",
       R"("hgih" is not one of low, medium, high, critical; did you mean "high"?)"},
      {R"("impact":"enormous")", "impact",
       R"("enormous" is not one of low, medium, high, critical)"},
      {R"("impact":3)", "impact",
       "must be one of the strings low, medium, high, critical, but is 3"},
      {R"("tags":["a",7])", "tags[1]", "must be a string, but is a number"},
      {R"("tags":"database")", "tags", "must be an array of strings, but is a string"},
      {R"("rationale":null)", "rationale",
       "must be a string, not null; to say nothing, leave it out"},
      {R"("alternatives_considered":[{"option":"MySQL"},{"option":[]}])",
       "alternatives_considered[1].option", "must be a string, but is an array"},
      {R"("alternatives_considered":["MySQL"])", "alternatives_considered[0]",
       "must be an object, but is a string"},
      {R"("references":["msg-1"])", "references",
       R"(must be an object of arrays of strings, such as {"decisions":["dec-001"]}, but is an array)"},
      {R"("references":{"findings":["finding-1",2]})", "references.findings[1]",
       "must be a string, but is a number"},
      {R"("references":{"findings":"finding-1"})", "references.findings",
       "must be an array of strings, but is a string"},
      {R"("decay_factor":80)", "decay_factor", "must be a number from 0 to 2, but is 80"},
      {R"("source":{"trust":1.5})", "source.trust", "must be a number from 0 to 1, but is 1.5"},
      {R"("source":{"kind":"users"})", "source.kind",
       R"("users" is not one of user, assistant, tool, web, import; did you mean "user"?)"},
      {R"("access_count":-1)", "access_count", "must be a whole number, 0 or more, but is -1"},
      {R"("pinned":"yes")", "pinned", "must be true or false, but is a string"},
      {R"("updated_at":"yesterday")", "updated_at",
       R"("yesterday" is not a time; write it as RFC 3339, such as "2026-01-11T10:05:23Z")"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.more);
    const FieldProblem problem = problem_of(EntryType::kDecision, decision_with(row.more));
    CHECK(problem.field == row.field);
    CHECK(problem.message == row.message);
  }
}

TEST_CASE("a missing field comes with an example and with the word that may be its misspelling") {
  const FieldProblem problem = problem_of(
      EntryType::kDecision, R"({"id":"d","timestamp":"2026-01-11T10:10:00Z","desicion":"x"})");
  CHECK(problem.field == "decision");
  CHECK(problem.message ==
        "an entry of type decision needs this field, for example \"decision\":\"Use PostgreSQL for "
        "the primary database\"; is \"desicion\" a misspelling of it?");
  // A known field is none, however near.
  CHECK(problem_of(EntryType::kFact, R"({"id":"f","timestamp":"2026-01-11T10:10:00Z"})")
            .message.ends_with("every night\""));
}

TEST_CASE("a required field that is null can't be left out") {
  CHECK(problem_of(EntryType::kDecision, R"({"decision":null})").message ==
        "must be a string, not null");
  CHECK(problem_of(EntryType::kPreference, R"({"value":null})").message ==
        "must be a value, not null");
}

TEST_CASE("an entry is an object") {
  for (const char* text : {"[]", "\"text\"", "7", "true", "null"}) {
    CAPTURE(text);
    const FieldProblem problem = problem_of(EntryType::kFact, text);
    CHECK(problem.field.empty());
    CHECK(problem.message.starts_with("must be an object"));
  }
  CHECK(check_entry(EntryType::kFact, JsonValue()).has_value());
}

TEST_CASE("every required field is missed, in every type") {
  for (const EntryType type : kEntryTypes) {
    const ObjectShape& shape = entry_shape(type);
    for (std::size_t left_out = 0; left_out <= shape.fields.size(); ++left_out) {
      std::string text = "{";
      std::string expected;
      for (std::size_t i = 0; i < shape.fields.size(); ++i) {
        const Field& field = shape.fields[i];
        if (field.need == FieldNeed::kRequired && i == left_out) {
          expected = field.name;
        } else if (field.need == FieldNeed::kRequired) {
          text += text.size() > 1 ? "," : "";
          text += '"' + std::string(field.name) + "\":" + std::string(field.example);
        }
      }
      CAPTURE(text);
      CHECK(problem_of(type, text + "}").field == expected);
    }
  }
}

TEST_CASE("null and the wrong kind are refused in every field of every type") {
  for (const EntryType type : kEntryTypes) {
    for (const Field& field : entry_shape(type).fields) {
      CAPTURE(field.name);
      CHECK(problem_of(type, "{\"" + std::string(field.name) + "\":null}").field == field.name);
      if (field.kind == FieldKind::kAnything) {
        continue;
      }
      // No field but one of any kind takes both a negative number and a nested array.
      for (const char* wrong : {"-1", "[[]]"}) {
        const FieldProblem problem =
            problem_of(type, "{\"" + std::string(field.name) + "\":" + wrong + "}");
        CHECK(problem.field.starts_with(field.name));
      }
    }
  }
}

TEST_CASE("unknown fields of any kind are allowed") {
  for (const char* value :
       {"null", "7", "1e300", "\"\"", "[null,[{}]]", "{\"id\":null}", "false"}) {
    CAPTURE(value);
    const EntryText entry(decision_with("\"mine\":" + std::string(value)));
    CHECK_FALSE(check_entry(EntryType::kDecision, entry.value()).has_value());
  }
}

}  // namespace bmad_mem::validate_test
