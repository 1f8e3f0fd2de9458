#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "bmad_mem/trust.hpp"
#include "support/temporary_directory.hpp"

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
      {"a key twice", "memory_requirements:\n  read_access: [facts]\n  read_access: all",
       ErrorCode::E_INVALID_FORMAT, 3, ""},
      {"a key twice in JSON",
       R"({"workflow":{"memory_requirements":{"read_access":"all","read_access":["findings"]}}})",
       ErrorCode::E_INVALID_FORMAT, 1, ""},
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
  const auto refuses = [](const std::string& text) {
    const auto begin = std::chrono::steady_clock::now();
    const Error error = parse_workflow(text, "w.yaml").error();
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(100));
    return error.code == ErrorCode::E_SIZE_LIMIT && error.path == "w.yaml";
  };
  const auto times = [](std::size_t count, std::string_view piece) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += piece;
    }
    return text;
  };
  const std::string start = "memory_requirements:\n  read_access: ";
  CHECK(refuses(start + std::string(100'000, '[')));
  CHECK(refuses(start + std::string(33, '[')));
  CHECK(refuses(start + times(100'000, "{a: ")));
  CHECK(refuses(times(200'000, "- ")));
  CHECK(refuses(times(200'000, "? ")));
  std::string staircase;
  for (std::size_t i = 0; i < 1000; ++i) {
    staircase += std::string(i, ' ') + "a:\n";
  }
  CHECK(refuses(staircase));
  CHECK(refuses("x: &a [facts]\ny: [" + times(20'000, "*a, ") + "]\n"));
  CHECK(refuses(times(1000, "- &abc x\n")));
  CHECK(refuses(times(20'000, "%TAG !a! tag:a\n") + "---\na: b\n"));
  CHECK(
      refuses("a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
              "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"));
  CHECK(parse_workflow(start + times(29, "[") + times(29, "]"), "w").error().code ==
        ErrorCode::E_SCHEMA_INVALID);
  std::string wide = "memory_requirements: {read_access: [";
  for (int i = 0; i < 10'000; ++i) {
    wide += "facts, ";
  }
  CHECK(parse_workflow(wide + "facts]}", "w").has_value());
}

TEST_CASE("a workflow that is no file is not waited for") {
  const TemporaryDirectory folder;
  const std::string path = folder.path() + "/w.yaml";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(read_workflow(path).error().code == ErrorCode::E_STORAGE_IO);
  CHECK(read_workflow("/dev/zero").error().code == ErrorCode::E_STORAGE_IO);
  CHECK(read_workflow(folder.path()).error().code == ErrorCode::E_STORAGE_IO);
  const std::string sparse = folder.path() + "/sparse.yaml";
  folder.write("sparse.yaml", "");
  std::filesystem::resize_file(sparse, std::uintmax_t{1} << 40U);
  const Error error = read_workflow(sparse).error();
  CHECK(error.code == ErrorCode::E_SIZE_LIMIT);
  CHECK(error.path == sparse);
  CHECK(error.message.contains("1099511627776"));
}

}  // namespace bmad_mem::test::workflow_test
