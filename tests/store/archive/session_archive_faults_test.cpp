// session_archive_faults_test.cpp - archiving and restoring on a disk that fails at any call.
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "every_fault.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem::test::session_archive_faults_test {
namespace {

const std::vector<ArchivedFile> kOld = {{.name = "manifest.json", .bytes = "{}"},
                                        {.name = "facts.jsonl", .bytes = "old\n"}};

void put_session(MemoryFileSystem& disk) {
  disk.make_folders("sessions/s1/artifacts");
  disk.write("sessions/s1/manifest.json", "{}");
  disk.write("sessions/s1/facts.jsonl", "new\n");
  disk.write("sessions/s1/artifacts/a.md", "# A");
}

void put_both(MemoryFileSystem& disk) {
  put_session(disk);
  REQUIRE(rewrite_session_archive(disk, "s1", kOld));
}

void check_source(MemoryFileSystem& disk) {
  CHECK(disk.read("sessions/s1/manifest.json") == "{}");
  CHECK(disk.read("sessions/s1/facts.jsonl") == "new\n");
  CHECK(disk.read("sessions/s1/artifacts/a.md") == "# A");
}

/// The bytes of facts.jsonl in the archive; nothing without an archive.
std::optional<std::string> archived_facts(MemoryFileSystem& disk) {
  if (!disk.info("archive/s1.tar.gz")) {
    return std::nullopt;
  }
  return read_session_archive(disk, "s1").value()[1].bytes;
}

Status archive(FileSystem& files) {
  BMAD_TRY(write_session_archive(files, "s1"));
  return {};
}

}  // namespace

TEST_CASE("archiving that fails leaves the session, and no archive or a whole one") {
  const std::size_t failures = for_every_fault(put_session, archive, [](MemoryFileSystem& disk) {
    check_source(disk);
    CHECK(archived_facts(disk).value_or("new\n") == "new\n");
  });
  CHECK(failures > 20);
}

TEST_CASE("archiving again that fails leaves the old archive or the new one") {
  const std::size_t failures = for_every_fault(put_both, archive, [](MemoryFileSystem& disk) {
    check_source(disk);
    const std::optional<std::string> facts = archived_facts(disk);
    CHECK((facts == "old\n" || facts == "new\n"));
  });
  CHECK(failures > 20);
}

TEST_CASE("restoring that fails leaves no session or a whole one, and the archive") {
  const std::vector<ArchivedFile> members = {{.name = "manifest.json", .bytes = "{}"},
                                             {.name = "facts.jsonl", .bytes = "new\n"},
                                             {.name = "artifacts/a.md", .bytes = "# A"}};
  const auto prepare = [&](MemoryFileSystem& disk) {
    REQUIRE(rewrite_session_archive(disk, "s1", members));
    disk.make_folders("sessions/.s1.tmp/artifacts");
    disk.write("sessions/.s1.tmp/artifacts/old.md", "left by a crash");
  };
  const auto restore = [](FileSystem& files) -> Status {
    BMAD_TRY_ASSIGN(const std::vector<ArchivedFile> read, read_session_archive(files, "s1"));
    const Status unpacked = unpack_session_archive(files, "s1", read);
    // The last sync may fail after the session got its name; then it is whole and stays.
    const bool is_there = !unpacked && unpacked.error().code == ErrorCode::E_CONCURRENT_MOD;
    return is_there ? Status() : unpacked;
  };
  const std::size_t failures = for_every_fault(prepare, restore, [&](MemoryFileSystem& disk) {
    CHECK(read_session_archive(disk, "s1").value() == members);
    if (disk.info("sessions/s1")) {
      check_source(disk);
    }
  });
  CHECK(failures > 20);
}

TEST_CASE("an archive that reads back wrong never gets its name") {
  // Reads of the temporary file see other bytes than were written.
  class ForgetfulFileSystem final : public FileSystem {
   public:
    explicit ForgetfulFileSystem(MemoryFileSystem& below) : below_(below) {}
    Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
      if (mode == OpenMode::kRead && path.ends_with(".tar.gz.tmp")) {
        REQUIRE(rewrite_session_archive(below_, "s2", {{{.name = "manifest.json"}}}));
        return below_.open("archive/s2.tar.gz", mode);
      }
      return below_.open(path, mode);
    }
    Result<FileInfo> info(const std::string& path) override { return below_.info(path); }
    Result<std::vector<std::string>> list(const std::string& path) override {
      return below_.list(path);
    }
    Status make_directory(const std::string& path) override { return below_.make_directory(path); }
    Status rename(const std::string& from, const std::string& to) override {
      return below_.rename(from, to);
    }
    Status remove(const std::string& path) override { return below_.remove(path); }
    Status remove_directory(const std::string& path) override {
      return below_.remove_directory(path);
    }
    Status sync_directory(const std::string& path) override { return below_.sync_directory(path); }
    [[nodiscard]] std::string display_path(const std::string& path) const override {
      return below_.display_path(path);
    }

   private:
    MemoryFileSystem& below_;
  };
  MemoryFileSystem disk;
  put_both(disk);
  ForgetfulFileSystem files(disk);
  CHECK(write_session_archive(files, "s1").error().code == ErrorCode::E_STORAGE_CORRUPT);
  CHECK(archived_facts(disk) == "old\n");
  CHECK(!disk.info("archive/s1.tar.gz.tmp"));
}

TEST_CASE("an archive's manifest that fails to be written is the old one or the new one") {
  const std::string text = R"({"session_id":"s1","created_at":"2026-01-11T10:00:00Z"})";
  const auto prepare = [&](MemoryFileSystem& disk) {
    REQUIRE(write_archive_manifest(disk, text, {.original_bytes = 1}));
  };
  const auto act = [&](FileSystem& files) {
    return write_archive_manifest(files, text, {.original_bytes = 2});
  };
  for_every_fault(prepare, act, [](MemoryFileSystem& disk) {
    const std::uint64_t size = read_archive_manifest(disk, "s1").value().original_size_bytes;
    CHECK((size == 1 || size == 2));
  });
}

}  // namespace bmad_mem::test::session_archive_faults_test
