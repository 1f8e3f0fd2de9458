// log_cover_test.cpp - what a log's size and times say about what is indexed of it.
#include "search/log_cover.hpp"

#include <doctest/doctest.h>

#include "base/hash.hpp"
#include "bmad_mem/clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::log_cover_test {
namespace {

constexpr FileInfo kFile = {.device = 1, .inode = 7, .size = 100, .mtime_ns = 5'000'000'001};

LogCover cover_of(std::uint64_t bytes, bool telling = true) {
  return {.bytes = bytes, .lines = 3, .hash = 9, .file = kFile, .mtime_is_telling = telling};
}

FileInfo changed(std::uint64_t inode, std::uint64_t size, std::int64_t mtime_ns) {
  return {.device = 1, .inode = inode, .size = size, .mtime_ns = mtime_ns};
}

}  // namespace

TEST_CASE(
    "size, inode and time say nothing changed, or that the hash decides, or that all is other") {
  struct Row {
    const char* name;
    LogCover cover;
    FileInfo now;
    LogChange expected;
  };
  for (const Row& row : {
           Row{"the same", cover_of(100), kFile, LogChange::kNone},
           Row{"the same, with a torn end", cover_of(80), kFile, LogChange::kNone},
           Row{"the same, but it was written to just before", cover_of(100, false), kFile,
               LogChange::kMaybeGrown},
           Row{"touched", cover_of(100), changed(7, 100, 6), LogChange::kMaybeGrown},
           Row{"an older time", cover_of(100), changed(7, 100, 4), LogChange::kMaybeGrown},
           Row{"grown", cover_of(100), changed(7, 101, 6), LogChange::kMaybeGrown},
           Row{"grown within a tick of the clock", cover_of(100), changed(7, 101, kFile.mtime_ns),
               LogChange::kMaybeGrown},
           Row{"replaced", cover_of(100), changed(8, 100, kFile.mtime_ns), LogChange::kMaybeGrown},
           Row{"a torn end went", cover_of(80), changed(7, 80, 6), LogChange::kMaybeGrown},
           Row{"shortened", cover_of(100), changed(7, 99, kFile.mtime_ns), LogChange::kOther},
           Row{"emptied", cover_of(100), changed(7, 0, 6), LogChange::kOther},
           Row{"new", LogCover{}, kFile, LogChange::kMaybeGrown},
           Row{"new and empty", LogCover{}, changed(7, 0, 6), LogChange::kNone},
           Row{"emptied, where inodes can't be told", LogCover{.bytes = 5}, changed(7, 0, 6),
               LogChange::kOther},
       }) {
    CAPTURE(row.name);
    CHECK(compare_log(row.cover, row.now) == row.expected);
  }
}

TEST_CASE("a log that went away matters when something of it is indexed") {
  const std::optional<FileInfo> gone;
  CHECK(compare_log(cover_of(100), gone) == LogChange::kOther);
  CHECK(compare_log(cover_of(0), gone) == LogChange::kNone);
  CHECK(compare_log({}, gone) == LogChange::kNone);
}

TEST_CASE("a time is telling when the clock of the file system must have moved on since") {
  struct Row {
    const char* name;
    std::int64_t mtime_ms;
    std::int64_t now_ms;
    bool expected;
  };
  for (const Row& row :
       {Row{"long ago", 10'123, 99'000, true}, Row{"just now", 10'123, 10'123, false},
        Row{"within some ticks", 10'123, 10'173, false},
        Row{"after some ticks", 10'123, 10'174, true}, Row{"in the future", 99'123, 10'000, false},
        Row{"whole seconds, as coarse file systems count", 10'000, 11'900, false},
        Row{"whole seconds, two later", 10'000, 12'001, true}}) {
    CAPTURE(row.name);
    CHECK(mtime_is_telling({.mtime_ns = row.mtime_ms * 1'000'000},
                           Timestamp(std::chrono::milliseconds(row.now_ms))) == row.expected);
  }
}

TEST_CASE("a chain spares the hash where the stamp has the same one") {
  LogCover cover = cover_of(100);
  cover.chain = 5;
  const FileInfo grown = changed(7, 120, 6);
  CHECK(compare_log(cover, LogLook{.file = grown, .chain = 5}) == LogChange::kGrown);
  CHECK(compare_log(cover, LogLook{.file = grown, .chain = 6}) == LogChange::kMaybeGrown);
  CHECK(compare_log(cover, LogLook{.file = grown}) == LogChange::kMaybeGrown);
  CHECK(compare_log(cover, LogLook{.file = changed(7, 90, 6), .chain = 5}) == LogChange::kOther);
  CHECK(compare_log(cover, LogLook{.file = kFile, .chain = 6}) == LogChange::kNone);
  cover.chain = 0;
  CHECK(compare_log(cover, LogLook{.file = grown}) == LogChange::kMaybeGrown);
  CHECK(compare_log(LogCover{}, LogLook{.file = grown}) == LogChange::kMaybeGrown);
}

TEST_CASE("a log that looks as when its beginning was compared has a tail and needs no hash") {
  LogCover cover = cover_of(80);
  cover.has_tail = true;
  CHECK(compare_log(cover, kFile) == LogChange::kGrown);
  CHECK(compare_log(cover, changed(7, 100, 6)) == LogChange::kMaybeGrown);
  cover.mtime_is_telling = false;
  CHECK(compare_log(cover, kFile) == LogChange::kMaybeGrown);
}

TEST_CASE("where ctime is known it has to be the same") {
  LogCover cover = cover_of(100);
  cover.file.ctime_ns = 8;
  FileInfo now = kFile;
  now.ctime_ns = 8;
  CHECK(compare_log(cover, now) == LogChange::kNone);
  now.ctime_ns = 9;
  CHECK(compare_log(cover, now) == LogChange::kMaybeGrown);
  cover.file.ctime_ns = 0;
  CHECK(compare_log(cover, now) == LogChange::kNone);
}

TEST_CASE("a beginning of a log has its hash wherever chunks end, and only as whole lines") {
  MemoryFileSystem disk;
  constexpr std::size_t kChunk = 256U << 10U;
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{10}, kChunk - 1, kChunk, kChunk + 1, 3 * kChunk}) {
    CAPTURE(size);
    const std::string first = std::string(size - 1, 'a') + "\n";
    const std::string all = first + "b\n\n" + "torn";
    disk.write("log", all);
    LineHash hash;
    CHECK(*has_prefix(disk, "log", 0, hash.value()));
    hash.add(first);
    CHECK(*has_prefix(disk, "log", size, hash.value()));
    hash.add("b\n");
    CHECK(*has_prefix(disk, "log", size + 2, hash.value()));
    hash.add("\n");
    CHECK(*has_prefix(disk, "log", size + 3, hash.value()));
    CHECK_FALSE(*has_prefix(disk, "log", size + 2, hash.value()));
    CHECK_FALSE(*has_prefix(disk, "log", size + 4, hash.value()));
    CHECK_FALSE(*has_prefix(disk, "log", all.size() + 1, hash.value()));
  }
}

}  // namespace bmad_mem::test::log_cover_test
