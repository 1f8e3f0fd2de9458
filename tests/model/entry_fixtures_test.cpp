// The table of valid and invalid entries in fixtures/entries. tests/schemas/check_schemas.py holds
// the JSON Schemas to the same files: a line on which the two disagree fails one of the tests.
#include <string>

#include <doctest/doctest.h>

#include "base/object_text.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/entry_type.hpp"
#include "entry_text.hpp"
#include "jsonl_file.hpp"
#include "model/entry.hpp"

namespace bmad_mem::entry_fixtures_test {
namespace {

std::string fixture_path(const char* verdict, EntryType type) {
  return std::string("fixtures/entries/") + verdict + "/" + std::string(entry_type_name(type)) +
         ".jsonl";
}

}  // namespace

TEST_CASE("every entry of fixtures/entries/valid is valid") {
  std::size_t count = 0;
  for (const EntryType type : kEntryTypes) {
    for (const std::string& line : repository_lines(fixture_path("valid", type))) {
      CAPTURE(line);
      const std::optional<FieldProblem> problem = check_entry(type, EntryText(line).value());
      CHECK_MESSAGE(!problem.has_value(),
                    (problem ? problem->field + ": " + problem->message : ""));
      ++count;
    }
  }
  CHECK(count >= 30);
}

TEST_CASE("every entry of fixtures/entries/invalid is refused, for the field beside it") {
  std::size_t count = 0;
  for (const EntryType type : kEntryTypes) {
    for (const std::string& line : repository_lines(fixture_path("invalid", type))) {
      CAPTURE(line);
      const EntryText wrapper(line);
      const std::optional<FieldProblem> problem = check_entry(type, wrapper.value()["entry"]);
      REQUIRE(problem.has_value());
      CHECK(problem->field == wrapper.value()["expect_field"].string());
      CHECK_FALSE(problem->message.empty());
      ++count;
    }
  }
  CHECK(count >= 60);
}

TEST_CASE("whatever stands in a member, a problem names that member and every accessor copes") {
  static constexpr const char* kValues[] = {"null",
                                            "true",
                                            "-1",
                                            "0",
                                            "1e300",
                                            "18446744073709551615",
                                            R"("")",
                                            R"("a b")",
                                            "[]",
                                            "[null]",
                                            R"([[],"x"])",
                                            "[{}]",
                                            "{}",
                                            R"({"x":null})",
                                            R"({"x":["y"]})",
                                            R"({"kind":1,"topic":2,"references":{}})"};
  for (const EntryType type : kEntryTypes) {
    for (const std::string& line : repository_lines(fixture_path("valid", type))) {
      const EntryText original(line);
      for (const JsonMember& member : original.value().members()) {
        for (const char* value : kValues) {
          ObjectText object(original.value(), line);
          object.set(member.key, value);
          const std::string changed = object.to_line();
          CAPTURE(changed);
          const EntryText entry(changed);
          const FieldProblem problem =
              check_entry(type, entry.value()).value_or(FieldProblem{.field = {}, .message = {}});
          CHECK((problem.message.empty() || problem.field.starts_with(member.key)));
          std::string text;
          entry_searchable_text(type, entry.value(), text);
          CHECK(entry_headline(type, entry.value(), 40).size() <= 160);
          const EntryHead head = entry_head(type, entry.value());
          CHECK(head.who == entry_who(type, entry.value()));
          CHECK(entry_references(entry.value()).size() <= 16);
          CHECK(importance_of(type, head.severe, head.approved) <= 1.0);
        }
      }
    }
  }
}

TEST_CASE("an entry that is valid as one type is not by that alone valid as another") {
  const EntryText decision(repository_lines(fixture_path("valid", EntryType::kDecision)).front());
  for (const EntryType type : kEntryTypes) {
    CAPTURE(entry_type_name(type));
    CHECK(check_entry(type, decision.value()).has_value() == (type != EntryType::kDecision));
  }
}

}  // namespace bmad_mem::entry_fixtures_test
