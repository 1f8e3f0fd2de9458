// batch_test.cpp - many entries with one lock, one write, one sync: all, or those that are good.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test::batch_test {
namespace {

using Lines = std::vector<std::string>;

Result<BatchReport> add_batch(MemoryFixture& memory, const Lines& lines,
                              const BatchOptions& options = {}) {
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  return memory->add_batch("s1", EntryType::kFact, views, options);
}

std::string fact(const std::string& id, const std::string& content = "x") {
  return MemoryFixture::fact(id, content);
}

std::string joined(const Lines& lines) {
  std::string bytes;
  for (const std::string& line : lines) {
    bytes += line + "\n";
  }
  return bytes;
}

}  // namespace

TEST_CASE("a batch is written in its order, and its ids come back in it") {
  MemoryFixture memory;
  memory.session();
  const Lines lines = {fact("b"), fact("a"), fact("c")};
  const BatchReport report = add_batch(memory, lines).value();
  CHECK(report.ids == Lines{"b", "a", "c"});
  CHECK(report.skipped == 0);
  CHECK(report.rejected.empty());
  CHECK(memory.read(EntryType::kFact) == joined(lines));
}

TEST_CASE("entries of a batch that have no id get ids that sort in its order") {
  MemoryFixture memory;
  memory.session();
  const BatchReport report = add_batch(memory, Lines(100, "{\"content\":\"x\"}")).value();
  CHECK(report.ids.size() == 100);
  CHECK(std::ranges::is_sorted(report.ids));
  CHECK(std::ranges::adjacent_find(report.ids) == report.ids.end());
}

TEST_CASE("one bad line refuses the whole batch and is named") {
  MemoryFixture memory;
  memory.session();
  const auto before = memory.files();
  const Result<BatchReport> one = add_batch(memory, {fact("a"), "{\"content\":7}", fact("b")});
  CHECK(code_of(one) == ErrorCode::E_SCHEMA_INVALID);
  CHECK(one.error().line == 2);
  CHECK(one.error().field == "content");
  CHECK(one.error().message.ends_with("(nothing was written)"));
  const Result<BatchReport> three = add_batch(memory, {"[", fact("a"), "{}", "x"});
  CHECK(code_of(three) == ErrorCode::E_INVALID_FORMAT);
  CHECK(three.error().line == 1);
  CHECK(three.error().message.ends_with("(and 2 more bad lines; nothing was written)"));
  CHECK(memory.files() == before);
}

TEST_CASE("going on writes the good lines and reports each bad one") {
  MemoryFixture memory;
  memory.session();
  const BatchReport report =
      add_batch(memory, {"x", fact("a"), "{}", "", fact("b"), "[]"}, {.keep_going = true}).value();
  CHECK(report.ids == Lines{"a", "b"});
  REQUIRE(report.rejected.size() == 3);
  CHECK(report.rejected[0].line == 1);
  CHECK(report.rejected[0].error.code == ErrorCode::E_INVALID_FORMAT);
  CHECK(report.rejected[1].line == 3);
  CHECK(report.rejected[1].error.code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(report.rejected[2].line == 6);
  CHECK(memory.read(EntryType::kFact) == joined({fact("a"), fact("b")}));
}

TEST_CASE("empty lines are passed over, and a batch of nothing is nothing") {
  MemoryFixture memory;
  memory.session();
  CHECK(add_batch(memory, {"", fact("a"), "  ", "\r"}).value().ids == Lines{"a"});
  for (const Lines& lines : {Lines{}, Lines{"", " \t"}}) {
    const BatchReport report = add_batch(memory, lines).value();
    CHECK(report.ids.empty());
    CHECK(report.rejected.empty());
  }
  CHECK(memory.read(EntryType::kFact) == joined({fact("a")}));
}

TEST_CASE("a batch of lines that are all bad writes nothing, going on or not") {
  MemoryFixture memory;
  memory.session();
  const auto before = memory.files();
  const BatchReport report = add_batch(memory, {"x", "y"}, {.keep_going = true}).value();
  CHECK(report.ids.empty());
  CHECK(report.rejected.size() == 2);
  CHECK(memory.files() == before);
}

TEST_CASE("what becomes of entries that are known is the caller's choice") {
  struct Row {
    const char* name;
    KnownEntries rule;
    Lines ids;
    std::uint64_t skipped;
  };
  const Row rows[] = {
      {"append all", KnownEntries::kAppendVersion, {"a", "b", "c", "c", "d"}, 0},
      {"skip what is the same", KnownEntries::kSkipIdentical, {"b", "c", "d"}, 2},
      {"skip known ids", KnownEntries::kSkipId, {"c", "d"}, 3},
  };
  for (const Row& row : rows) {
    SUBCASE(row.name) {
      MemoryFixture memory;
      memory.session();
      memory.add_fact("a");
      memory.add_fact("b");
      memory.reopen();
      const BatchReport report =
          add_batch(memory, {fact("a"), fact("b", "newer"), fact("c"), fact("c"), fact("d")},
                    {.known = row.rule})
              .value();
      CHECK(report.ids == row.ids);
      CHECK(report.skipped == row.skipped);
      CHECK(memory->statistics("s1").value().versions() == 2 + row.ids.size());
    }
  }
}

TEST_CASE("importing the same lines again adds nothing, whichever way known entries are skipped") {
  for (const KnownEntries rule : {KnownEntries::kSkipId, KnownEntries::kSkipIdentical}) {
    MemoryFixture memory;
    memory.session();
    const Lines lines = {fact("a"), fact("b"), fact("a", "newer")};
    REQUIRE(add_batch(memory, lines, {.known = rule}).has_value());
    const std::string once = memory.read(EntryType::kFact);
    for (int i = 0; i < 2; ++i) {
      memory.reopen();
      const BatchReport again = add_batch(memory, lines, {.known = rule}).value();
      CHECK(again.ids.empty());
      CHECK(again.skipped == 3);
    }
    CHECK(memory.read(EntryType::kFact) == once);
  }
}

TEST_CASE("an id that is known in another log or session is not known in this one") {
  MemoryFixture memory;
  memory.session("s1");
  memory.session("s2");
  memory.add_fact("a", "x", "s2");
  memory.add(EntryType::kDecision, R"({"id":"a","decision":"d"})");
  CHECK(add_batch(memory, {fact("a")}, {.known = KnownEntries::kSkipId}).value().ids == Lines{"a"});
}

TEST_CASE("a damaged line does not make its id known") {
  MemoryFixture memory;
  memory.session();
  memory.write(EntryType::kFact, "{\"id\":\"a\"}\n");
  CHECK(add_batch(memory, {fact("a")}, {.known = KnownEntries::kSkipId}).value().ids == Lines{"a"});
}

TEST_CASE("a large batch is written whole") {
  MemoryFixture memory;
  memory.session();
  Lines lines;
  for (int i = 0; i < 5000; ++i) {
    lines.push_back(fact("f" + std::to_string(i), std::string(300, 'x')));
  }
  CHECK(add_batch(memory, lines).value().ids.size() == 5000);
  CHECK(memory.read(EntryType::kFact) == joined(lines));
}

}  // namespace bmad_mem::test::batch_test
