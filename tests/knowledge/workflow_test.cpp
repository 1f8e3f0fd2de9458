#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/memory_access.hpp"

namespace bmad_mem::test::workflow_test {
namespace {

/// The types that are allowed, as letters in the order of the enum: "c d f p F e s a".
std::string letters(const std::array<bool, kEntryTypeCount>& allowed) {
  std::string text;
  for (std::size_t i = 0; i < kEntryTypeCount; ++i) {
    text += allowed[i] ? "cdfpFesa"[i] : '-';
  }
  return text;
}

}  // namespace

TEST_CASE("a workflow says which types may be read and written") {
  struct Row {
    const char* name;
    const char* text;
    const char* read;
    const char* write;
  };
  static constexpr Row kRows[] = {
      {"the specification's example",
       "workflow:\n  memory_requirements:\n"
       "    read_access: [\"conversation\", \"decisions\", \"findings\"]\n"
       "    write_access: [\"findings\", \"agent_states\"]\n",
       "cdf-----", "--f---s-"},
      {"JSON", R"({"workflow":{"name":"x","memory_requirements":{"read_access":["facts"]}}})",
       "----F---", "--------"},
      {"without the outer key", "memory_requirements:\n  write_access:\n  - event\n", "--------",
       "-----e--"},
      {"everything", "memory_requirements: {read_access: all, write_access: [all]}", "cdfpFesa",
       "cdfpFesa"},
      {"anchors", "x: &a [facts]\nmemory_requirements: {read_access: *a, write_access: *a}",
       "----F---", "----F---"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      const Result<MemoryAccess> access = parse_workflow(row.text, "w.yaml");
      REQUIRE_MESSAGE(access, access.error().to_string());
      CHECK(letters(access->read) == row.read);
      CHECK(letters(access->write) == row.write);
      CHECK(access->given_by == "w.yaml");
    }
  }
}

TEST_CASE("a workflow that can't be understood names the place") {
  struct Row {
    const char* name;
    const char* text;
    ErrorCode code;
    std::uint64_t line;
    const char* field;
  };
  static constexpr Row kRows[] = {
      {"no YAML", "a: [1\nb: 2", ErrorCode::E_INVALID_FORMAT, 2, ""},
      {"empty", "", ErrorCode::E_SCHEMA_INVALID, 0, "workflow.memory_requirements"},
      {"nothing about memory", "workflow: {name: x}", ErrorCode::E_SCHEMA_INVALID, 0,
       "workflow.memory_requirements"},
      {"no list", "memory_requirements:\n  read_access: {a: b}", ErrorCode::E_SCHEMA_INVALID, 2,
       "read_access"},
      {"no type", "memory_requirements:\n  write_access: [facts,\n   findngs]",
       ErrorCode::E_SCHEMA_INVALID, 3, "write_access"},
      {"a list in a list", "memory_requirements: {read_access: [[facts]]}",
       ErrorCode::E_SCHEMA_INVALID, 1, "read_access"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      const Error error = parse_workflow(row.text, "w.yaml").error();
      CHECK(error.code == row.code);
      CHECK(error.path == "w.yaml");
      CHECK(error.line == row.line);
      CHECK(error.field == row.field);
    }
  }
  CHECK(parse_workflow(std::string(2U << 20U, 'x'), "w").error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK(read_workflow("/nowhere/w.yaml").error().code == ErrorCode::E_STORAGE_IO);
}

TEST_CASE("wide workflows are read, and deep ones refused at once") {
  CHECK(parse_workflow(std::string(100'000, '['), "w").error().code == ErrorCode::E_SIZE_LIMIT);
  CHECK_FALSE(parse_workflow(std::string(4000, '['), "w").has_value());
  std::string wide = "memory_requirements: {read_access: [";
  for (int i = 0; i < 10'000; ++i) {
    wide += "facts, ";
  }
  CHECK(parse_workflow(wide + "facts]}", "w").has_value());
}

}  // namespace bmad_mem::test::workflow_test
