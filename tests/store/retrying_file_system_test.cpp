// retrying_file_system_test.cpp - reading is tried again, writing never.
#include <cerrno>
#include <vector>

#include <doctest/doctest.h>

#include "store/posix_file_system.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::retrying_file_system_test {
namespace {

using Delays = std::vector<std::chrono::milliseconds>;

/// A disk with one file "a" in it, whose calls can be made to fail, and a clock that is not there.
class StumblingDisk {
 public:
  StumblingDisk() { disk.write("a", "abc"); }

  MemoryFileSystem disk;
  FaultyFileSystem* faulty = new FaultyFileSystem(disk);  // Owned by `files`.
  Delays slept;
  RetryingFileSystem files{std::unique_ptr<FileSystem>(faulty),
                           [this](std::chrono::milliseconds delay) { slept.push_back(delay); }};
};

/// Makes the next `count` calls of the kind fail.
void fail_next(StumblingDisk& disk, Operation operation, std::size_t count, int error_number) {
  for (std::size_t nth = 1; nth <= count; ++nth) {
    disk.faulty->fail({.operation = operation, .nth = nth, .error_number = error_number});
  }
}

bool reads(StumblingDisk& disk, Operation operation) {
  switch (operation) {
    case Operation::kInfo:
      return disk.files.info("a").has_value();
    case Operation::kList:
      return disk.files.list("").has_value();
    default:
      return read_file(disk.files, "a", 100).value_or("") == "abc";
  }
}

}  // namespace

TEST_CASE("what only reads is tried again after 100, 500 and 2000 ms") {
  for (const Operation operation : {Operation::kOpen, Operation::kReadAt, Operation::kFileInfo,
                                    Operation::kInfo, Operation::kList}) {
    for (const int error : {EIO, EAGAIN, ESTALE}) {
      for (std::size_t failures = 0; failures <= kRetryDelays.size(); ++failures) {
        CAPTURE(operation_name(operation));
        CAPTURE(failures);
        StumblingDisk disk;
        fail_next(disk, operation, failures, error);
        CHECK(reads(disk, operation));
        CHECK(disk.slept == Delays(kRetryDelays.begin(),
                                   kRetryDelays.begin() + static_cast<std::ptrdiff_t>(failures)));
      }
    }
  }
}

TEST_CASE("a disk that does not recover is an error after three more attempts") {
  StumblingDisk disk;
  disk.faulty->fail({.operation = Operation::kOpen, .from_then_on = true});
  const Result<std::unique_ptr<File>> file = disk.files.open("a", OpenMode::kRead);
  REQUIRE_FALSE(file.has_value());
  CHECK(file.error().code == ErrorCode::E_STORAGE_IO);
  CHECK(disk.faulty->count(Operation::kOpen) == 4);
}

TEST_CASE("what will not pass is not tried again") {
  StumblingDisk disk;
  CHECK_FALSE(disk.files.open("missing", OpenMode::kRead).has_value());
  CHECK_FALSE(disk.files.info("missing").has_value());
  disk.faulty->fail({.operation = Operation::kOpen, .error_number = EMFILE});
  CHECK_FALSE(disk.files.open("a", OpenMode::kRead).has_value());
  CHECK(disk.slept.empty());
}

TEST_CASE("nothing that changes the disk is tried again") {
  StumblingDisk disk;
  const std::unique_ptr<File> file = disk.files.open("a", OpenMode::kAppend).value();
  for (const Operation operation :
       {Operation::kWrite, Operation::kWriteAt, Operation::kTruncate, Operation::kSyncData,
        Operation::kSyncAll, Operation::kMakeDirectory, Operation::kRename, Operation::kRemove,
        Operation::kRemoveDirectory, Operation::kSyncDirectory, Operation::kOpen}) {
    disk.faulty->fail({.operation = operation, .from_then_on = true});
  }
  disk.faulty->clear_log();
  CHECK_FALSE(file->write("x").has_value());
  CHECK_FALSE(file->write_at(0, "x").has_value());
  CHECK_FALSE(file->truncate(0).has_value());
  CHECK_FALSE(file->sync_data().has_value());
  CHECK_FALSE(file->sync_all().has_value());
  CHECK_FALSE(disk.files.make_directory("b").has_value());
  CHECK_FALSE(disk.files.rename("a", "b").has_value());
  CHECK_FALSE(disk.files.remove("a").has_value());
  CHECK_FALSE(disk.files.remove_directory("b").has_value());
  CHECK_FALSE(disk.files.sync_directory("").has_value());
  for (const OpenMode mode : {OpenMode::kAppend, OpenMode::kUpdate, OpenMode::kCreate}) {
    CHECK_FALSE(disk.files.open("a", mode).has_value());
  }
  CHECK(disk.faulty->log().size() == 13);
  CHECK(disk.slept.empty());
}

TEST_CASE("a file that is read through it is the file itself") {
  StumblingDisk disk;
  const std::unique_ptr<File> file = disk.files.open("a", OpenMode::kRead).value();
  CHECK(file->info().value().same_file(disk.files.info("a").value()));
  CHECK(file->descriptor() == -1);
  CHECK(disk.files.display_path("a") == disk.disk.display_path("a"));
}

}  // namespace bmad_mem::test::retrying_file_system_test
