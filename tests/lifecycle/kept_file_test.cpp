#include "lifecycle/kept_file.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "every_fault.hpp"

namespace bmad_mem::test::kept_file_test {
namespace {

using Lines = std::vector<KeptLine>;

constexpr const char* kPath = "shared/kept/s1.jsonl";

const Lines kLines = {{.type = EntryType::kFact, .line = R"({"id":"fact-1", "n": 1.00})"},
                      {.type = EntryType::kPreference, .line = R"({"id":"pref-1"})"}};

Lines read(FileSystem& files) { return read_kept(files, "s1").value(); }

}  // namespace

TEST_CASE("what is kept of a session comes back byte for byte") {
  MemoryFileSystem files;
  CHECK(read(files).empty());
  REQUIRE(write_kept(files, "s1", kLines));
  CHECK(files.read(kPath) ==
        "{\"type\":\"fact\",\"entry\":{\"id\":\"fact-1\", \"n\": 1.00}}\n"
        "{\"type\":\"preference\",\"entry\":{\"id\":\"pref-1\"}}\n");
  CHECK(read(files) == kLines);
  REQUIRE(write_kept(files, "s1", {{kLines[1]}}));
  CHECK(read(files) == Lines{kLines[1]});
}

TEST_CASE("the file goes when nothing is kept") {
  MemoryFileSystem files;
  REQUIRE(write_kept(files, "s1", {}));
  REQUIRE(remove_kept(files, "s1"));
  REQUIRE(write_kept(files, "s1", kLines));
  REQUIRE(remove_kept(files, "s1"));
  CHECK(!files.info(kPath));
  REQUIRE(write_kept(files, "s1", kLines));
  REQUIRE(write_kept(files, "s1", {}));
  CHECK(!files.info(kPath));
}

TEST_CASE("a person may edit what is kept") {
  MemoryFileSystem files;
  files.make_folders("shared/kept");
  files.write(kPath,
              "{ \"type\": \"fact\",  \"entry\":{\"id\":\"fact-1\"} , \"why\": \"mine\" }\r\n\n"
              "{\"type\":\"preference\",\"entry\":{\"id\":\"pref-1\"}}");
  CHECK(read(files) == Lines{{.type = EntryType::kFact, .line = "{\"id\":\"fact-1\"} "},
                             {.type = EntryType::kPreference, .line = "{\"id\":\"pref-1\"}"}});
  files.write(kPath, "\n{\"type\":\"fact\"}\n");
  const Error error = read_kept(files, "s1").error();
  CHECK(error.code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(error.path.ends_with(kPath));
  CHECK(error.line == 2);
  CHECK(error.field == "entry");
}

TEST_CASE("the sessions that something is kept of are listed by id") {
  MemoryFileSystem files;
  CHECK(kept_session_ids(files).value().empty());
  for (const char* id : {"s", "s-1"}) {
    REQUIRE(write_kept(files, id, kLines));
  }
  files.write("shared/kept/s2.jsonl.tmp", "");
  CHECK(kept_session_ids(files).value() == std::vector<std::string>{"s", "s-1"});
}

TEST_CASE("keeping that fails leaves the old lines or the new ones") {
  const auto prepare = [](MemoryFileSystem& disk) { REQUIRE(write_kept(disk, "s1", kLines)); };
  const auto write = [](FileSystem& files) { return write_kept(files, "s1", {{kLines[1]}}); };
  const std::size_t failures = for_every_fault(prepare, write, [](MemoryFileSystem& disk) {
    const Lines lines = read(disk);
    CHECK((lines == kLines || lines == Lines{kLines[1]}));
  });
  CHECK(failures > 5);
  const auto remove = [](FileSystem& files) { return remove_kept(files, "s1"); };
  for_every_fault(prepare, remove, [](MemoryFileSystem& disk) {
    const Lines lines = read(disk);
    CHECK((lines == kLines || lines.empty()));
  });
}

}  // namespace bmad_mem::test::kept_file_test
