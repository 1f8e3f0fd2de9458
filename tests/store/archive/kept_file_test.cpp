#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "every_fault.hpp"
#include "store/evicted_file.hpp"

namespace bmad_mem::test::kept_file_test {
namespace {

using Lines = std::vector<EvictedLine>;

constexpr const char* kPath = "shared/kept/s1.jsonl";

const Lines kLines = {{.type = EntryType::kFact, .line = R"({"id":"fact-1", "n": 1.00})"},
                      {.type = EntryType::kPreference, .line = R"({"id":"pref-1"})"}};

void put(MemoryFileSystem& files) {
  files.make_folders("shared/kept");
  files.write(kPath,
              "{\"type\":\"fact\",\"entry\":{\"id\":\"fact-1\", \"n\": 1.00}}\n"
              "{\"type\":\"preference\",\"entry\":{\"id\":\"pref-1\"}}\n");
}

Lines read(FileSystem& files) { return read_retained(files, "s1").value(); }

}  // namespace

TEST_CASE("what was kept of a session is read byte for byte, and goes") {
  MemoryFileSystem files;
  CHECK(read(files).empty());
  REQUIRE(remove_retained(files, "s1"));
  put(files);
  CHECK(read(files) == kLines);
  REQUIRE(remove_retained(files, "s1"));
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
  const Error error = read_retained(files, "s1").error();
  CHECK(error.code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(error.path.ends_with(kPath));
  CHECK(error.line == 2);
  CHECK(error.field == "entry");
}

TEST_CASE("the sessions that something is kept of are listed by id") {
  MemoryFileSystem files;
  CHECK(retained_session_ids(files).value().empty());
  files.make_folders("shared/kept");
  for (const char* name : {"s.jsonl", "s-1.jsonl", "s2.jsonl.tmp"}) {
    files.write(std::string("shared/kept/") + name, "");
  }
  CHECK(retained_session_ids(files).value() == std::vector<std::string>{"s", "s-1"});
}

TEST_CASE("removing that fails leaves the lines or none") {
  const auto remove = [](FileSystem& files) { return remove_retained(files, "s1"); };
  for_every_fault(put, remove, [](MemoryFileSystem& disk) {
    const Lines lines = read(disk);
    CHECK((lines == kLines || lines.empty()));
  });
}

}  // namespace bmad_mem::test::kept_file_test
