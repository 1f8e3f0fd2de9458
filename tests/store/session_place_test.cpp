#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "store/layout.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::session_place_test {

TEST_CASE("a folder with ignored files alone is no session, whatever their names") {
  MemoryFileSystem disk;
  disk.make_folders("sessions/s1");
  CHECK(is_remains(disk, "s1").value());
  for (const char* name : {".lock", ".lock.json", ".lock.index", ".lock.summary-log.jsonl",
                           ".lock.seal.json", "index.json", "access.jsonl", "manifest.json.tmp"}) {
    disk.write(session_file("s1", name), "x");
  }
  CHECK(is_remains(disk, "s1").value());
  CHECK_FALSE(is_session_there(disk, "s1").value());
  disk.make_folders("sessions/s1/artifacts");
  CHECK(is_remains(disk, "s1").value());
  disk.write("sessions/s1/artifacts/art-1.md.tmp", "x");
  CHECK(is_remains(disk, "s1").value());
}

TEST_CASE("a folder with anything that git keeps is a session, perhaps a damaged one") {
  for (const char* name :
       {"manifest.json", "facts.jsonl", "conversation.jsonl", "summary.md", "audit.jsonl",
        "quarantine.jsonl", "notes.txt", "artifacts", "artifacts/art-1.md"}) {
    CAPTURE(name);
    MemoryFileSystem disk;
    disk.make_folders("sessions/s1/artifacts");
    if (std::string(name) == "artifacts") {
      REQUIRE(disk.remove_directory("sessions/s1/artifacts").has_value());
    }
    disk.write(std::string("sessions/s1/") + name, "");
    CHECK_FALSE(is_remains(disk, "s1").value());
    CHECK(is_session_there(disk, "s1").value());
  }
}

TEST_CASE("where no folder is, there are no remains") {
  MemoryFileSystem disk;
  disk.make_folders(kSessionsFolder);
  CHECK_FALSE(is_remains(disk, "s1").value());
  CHECK_FALSE(is_session_there(disk, "s1").value());
  disk.write("sessions/s1", "a file");
  CHECK_FALSE(is_remains(disk, "s1").value());
  CHECK(is_session_there(disk, "s1").value());
}

}  // namespace bmad_mem::test::session_place_test
