#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "store/session_archive.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::archive_manifest_test {
namespace {

constexpr const char* kPath = "archive/s1.manifest.json";

constexpr std::string_view kManifest = R"({
  "session_id": "s1", "created_at": "2026-01-11T10:00:00Z",
  "mine": {"n": 1.00},
  "metadata": {"project_name": "caf\u00e9"}
})";

Timestamp time(std::string_view text) { return parse_rfc3339(text).value(); }

const ArchiveSize kSize = {.files = 5,
                           .original_bytes = 1000,
                           .compressed_bytes = 200,
                           .newest = time("2026-02-20T08:00:00Z")};

}  // namespace

TEST_CASE("an archive's manifest is the session's with three members more") {
  MemoryFileSystem files;
  REQUIRE(write_archive_manifest(files, kManifest, kSize));
  CHECK(files.read(kPath) == R"({
  "session_id": "s1",
  "created_at": "2026-01-11T10:00:00Z",
  "mine": {
    "n": 1.00
  },
  "metadata": {
    "project_name": "caf\u00e9"
  },
  "archived_at": "2026-02-20T08:00:00Z",
  "original_size_bytes": 1000,
  "compressed_size_bytes": 200
}
)");
  const ArchiveManifest read = read_archive_manifest(files, "s1").value();
  CHECK(read.session_id == "s1");
  CHECK(read.created_at == time("2026-01-11T10:00:00Z"));
  CHECK(read.archived_at == time("2026-02-20T08:00:00Z"));
  CHECK(read.original_size_bytes == 1000);
  CHECK(read.compressed_size_bytes == 200);
  CHECK(read.text == files.read(kPath));
}

TEST_CASE("a session that is archived again gets new numbers") {
  MemoryFileSystem files;
  REQUIRE(write_archive_manifest(files, kManifest, kSize));
  const std::string first = files.read(kPath);
  REQUIRE(write_archive_manifest(
      files, first,
      {.original_bytes = 7, .compressed_bytes = 5, .newest = time("2026-03-01T08:00:00Z")}));
  const ArchiveManifest read = read_archive_manifest(files, "s1").value();
  CHECK(read.archived_at == time("2026-03-01T08:00:00Z"));
  CHECK(read.original_size_bytes == 7);
}

TEST_CASE("without an entry the time of an archive is that of its session") {
  MemoryFileSystem files;
  REQUIRE(write_archive_manifest(files, kManifest, {}));
  CHECK(read_archive_manifest(files, "s1")->archived_at == time("2026-01-11T10:00:00Z"));
}

TEST_CASE("what is no manifest is neither written nor read") {
  MemoryFileSystem files;
  CHECK(write_archive_manifest(files, "{}", kSize).error().code == ErrorCode::E_SESSION_CORRUPT);
  CHECK(read_archive_manifest(files, "s1").error().code == ErrorCode::E_SESSION_NOT_FOUND);
  REQUIRE(write_archive_manifest(files, kManifest, kSize));
  const std::string good = files.read(kPath);
  struct Row {
    std::string_view from;
    std::string_view to;
    std::string_view field;
  };
  static constexpr Row kRows[] = {
      {"\"s1\"", "\"s2\"", "session_id"},
      {"2026-01-11", "2026-13-11", "created_at"},
      {"archived_at", "archived", "archived_at"},
      {": 1000", ": -1", "original_size_bytes"},
      {": 200", ": \"200\"", "compressed_size_bytes"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.to);
    std::string bad = good;
    bad.replace(bad.find(row.from), row.from.size(), row.to);
    files.write(kPath, bad);
    const Error error = read_archive_manifest(files, "s1").error();
    CHECK(error.code == ErrorCode::E_SESSION_CORRUPT);
    CHECK(error.field == row.field);
    CHECK(error.path.ends_with(kPath));
  }
  files.write(kPath, "{\n  \"session_id\": ?\n}\n");
  const Error error = read_archive_manifest(files, "s1").error();
  CHECK(error.code == ErrorCode::E_SESSION_CORRUPT);
  CHECK(error.line == 2);
}

TEST_CASE("the manifest is durable when it is written") {
  MemoryFileSystem disk;
  FaultyFileSystem files(disk);
  REQUIRE(write_archive_manifest(files, kManifest, kSize));
  CHECK(files.count(Operation::kSyncAll) == 1);
  CHECK(files.log().back() == "sync_directory archive");
}

}  // namespace bmad_mem::test::archive_manifest_test
