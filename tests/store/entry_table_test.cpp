// entry_table_test.cpp - the last line with an id is the entry; the lines before are its versions.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::entry_table_test {
namespace {

std::string fact(const std::string& id, const std::string& content) {
  return R"({"id":")" + id + R"(","timestamp":"2026-01-11T10:00:00Z","agent_id":"a1","content":")" +
         content + R"(","tags":["t1","t2"],"pinned":true})";
}

constexpr std::string_view kDecision =
    R"({"id":"f1","timestamp":"2026-01-12T10:00:00.5Z","made_by":"architect","decision":"d"})";

/// One session with some entries.
struct Session {
  Session() {
    files.make_folders(session_folder("s1"));
    write(EntryType::kFact, fact("f1", "one") + "\n" + fact("f2", "x") + "\nbroken\n" +
                                fact("f1", "two") + "\n" + fact("f1", "three") + "\n" +
                                fact("f3", "torn"));
    write(EntryType::kDecision, std::string(kDecision) + "\n");
  }
  void write(EntryType type, std::string_view bytes) {
    files.write(session_file("s1", entry_type_info(type).log_file), bytes);
  }
  std::vector<TableEntry> load(Versions versions = Versions::kLatest,
                               std::vector<EntryType> types = {}) {
    return load_entries(files, "s1", types, versions).value();
  }
  MemoryFileSystem files;
};

}  // namespace

TEST_CASE("the latest version of each entry is there, in the place of the first") {
  Session session;
  const std::vector<TableEntry> entries = session.load();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].type == EntryType::kDecision);
  CHECK(entries[1].id == "f1");
  CHECK(entries[1].text == fact("f1", "three"));
  CHECK(entries[1].line == 5);
  CHECK(entries[1].versions == 3);
  CHECK(entries[2].id == "f2");
  CHECK(entries[2].versions == 1);
}

TEST_CASE("the fields that filters look at are taken from the entry") {
  Session session;
  const std::vector<TableEntry> entries = session.load();
  CHECK(entries[0].who == "architect");
  CHECK(entries[0].timestamp == Timestamp(std::chrono::milliseconds(1'768'212'000'500)));
  CHECK(entries[0].tags.empty());
  CHECK_FALSE(entries[0].pinned);
  CHECK(entries[1].who == "a1");
  CHECK(entries[1].tags == std::vector<std::string>{"t1", "t2"});
  CHECK(entries[1].pinned);
}

TEST_CASE("all versions come in the order of the log, counted") {
  Session session;
  const std::vector<TableEntry> entries = session.load(Versions::kAll, {EntryType::kFact});
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].text == fact("f1", "one"));
  CHECK(entries[0].versions == 1);
  CHECK(entries[1].id == "f2");
  CHECK(entries[2].text == fact("f1", "two"));
  CHECK(entries[2].versions == 2);
  CHECK(entries[3].text == fact("f1", "three"));
  CHECK(entries[3].versions == 3);
}

TEST_CASE("the same id in two logs is two entries") {
  Session session;
  const std::vector<TableEntry> entries =
      session.load(Versions::kLatest, {EntryType::kFact, EntryType::kDecision});
  CHECK(entries[0].id == "f1");
  CHECK(entries[0].type == EntryType::kFact);
  CHECK(entries[2].id == "f1");
  CHECK(entries[2].type == EntryType::kDecision);
}

TEST_CASE("a session without logs, or that isn't there, has no entries") {
  MemoryFileSystem files;
  CHECK(load_entries(files, "s1", {}).value().empty());
  files.make_folders(session_folder("s1"));
  CHECK(load_entries(files, "s1", {}).value().empty());
}

TEST_CASE("a log that cannot be read is an error, not a session without it") {
  Session session;
  FaultyFileSystem files(session.files);
  files.fail({.operation = Operation::kReadAt, .path_part = "facts"});
  CHECK_FALSE(load_entries(files, "s1", {}).has_value());
}

}  // namespace bmad_mem::test::entry_table_test
