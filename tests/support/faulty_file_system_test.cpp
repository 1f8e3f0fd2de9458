#include "support/faulty_file_system.hpp"

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/memory_file_system.hpp"

namespace bmad_mem::test::faulty_file_system_test {
namespace {

using Log = std::vector<std::string>;

struct Fixture {
  MemoryFileSystem disk;
  FaultyFileSystem files{disk};

  std::unique_ptr<File> open(const std::string& path, OpenMode mode = OpenMode::kAppend) {
    return std::move(files.open(path, mode).value());
  }
};

}  // namespace

TEST_CASE("without a fault everything passes through and is logged") {
  Fixture store;
  CHECK(store.files.make_directory("d").has_value());
  {
    const auto file = store.open("d/x", OpenMode::kUpdate);
    CHECK(file->write("abc").value() == 3);
    CHECK(file->write_at(1, "Z").value() == 1);
    CHECK(file->truncate(2).has_value());
    CHECK(file->sync_data().has_value());
    CHECK(file->sync_all().has_value());
    CHECK(file->info().value().size == 2);
    std::string out(2, '.');
    CHECK(file->read_at(0, out).value() == 2);
    CHECK(file->descriptor() == -1);
  }
  CHECK(store.files.info("d/x").value().size == 2);
  CHECK(store.files.list("d").value() == Log{"x"});
  CHECK(store.files.rename("d/x", "d/y").has_value());
  CHECK(store.files.sync_directory("d").has_value());
  CHECK(store.files.remove("d/y").has_value());
  CHECK(store.files.remove_directory("d").has_value());
  CHECK(store.files.log() == Log{"make_directory d", "open d/x update", "write d/x 3",
                                 "write_at d/x 1 1", "truncate d/x 2", "sync_data d/x",
                                 "sync_all d/x", "file_info d/x", "read_at d/x 0", "info d/x",
                                 "list d", "rename d/x d/y", "sync_directory d", "remove d/y",
                                 "remove_directory d"});
  CHECK(store.files.count(Operation::kWrite) == 1);
  CHECK(store.files.count(Operation::kRemove) == 1);
  store.files.clear_log();
  CHECK(store.files.log().empty());
  CHECK(store.files.count(Operation::kWrite) == 0);
  CHECK(store.files.display_path("a") == store.disk.display_path("a"));
}

TEST_CASE("the Nth call fails, once, and leaves the file as it was") {
  Fixture store;
  store.files.fail({.operation = Operation::kWrite, .nth = 2, .error_number = ENOSPC});
  const auto file = store.open("x");
  CHECK(file->write("a").has_value());
  const Error error = file->write("b").error();
  CHECK(error.os_error == ENOSPC);
  CHECK(error.code == ErrorCode::E_STORAGE_FULL);
  CHECK(file->write("c").has_value());
  CHECK(store.disk.read("x") == "ac");
  CHECK(store.files.count(Operation::kWrite) == 3);
}

TEST_CASE("from then on means every call until it is healed") {
  Fixture store;
  store.files.fail(
      {.operation = Operation::kSyncData, .nth = 2, .error_number = EIO, .from_then_on = true});
  const auto file = store.open("x");
  CHECK(file->sync_data().has_value());
  CHECK(file->sync_data().error().os_error == EIO);
  CHECK(file->sync_data().error().os_error == EIO);
  CHECK(file->sync_all().has_value());  // Another kind of call.
  store.files.heal();
  CHECK(file->sync_data().has_value());
}

TEST_CASE("a fault can mean one path only") {
  Fixture store;
  store.files.fail({.operation = Operation::kOpen, .from_then_on = true, .path_part = "decisions"});
  CHECK(store.files.open("conversation", OpenMode::kAppend).has_value());
  CHECK_FALSE(store.files.open("decisions.tmp", OpenMode::kCreate).has_value());
  CHECK(store.disk.list("").value() == Log{"conversation"});
  store.files.fail({.operation = Operation::kRename, .path_part = "target"});
  CHECK_FALSE(store.files.rename("conversation", "target").has_value());
  CHECK(store.files.rename("conversation", "target").has_value());
}

TEST_CASE("a shortened write writes that much and says so") {
  Fixture store;
  store.files.shorten({.operation = Operation::kWrite, .nth = 1}, 3);
  const auto file = store.open("x");
  CHECK(file->write("abcdef").value() == 3);
  CHECK(file->write("def").value() == 3);
  CHECK(store.disk.read("x") == "abcdef");
  store.files.shorten({.operation = Operation::kWriteAt}, 0);
  CHECK(store.open("x", OpenMode::kUpdate)->write_at(0, "Z").value() == 0);
  CHECK(store.disk.read("x") == "abcdef");
}

TEST_CASE("something can happen just before a call") {
  Fixture store;
  store.disk.write("x", "abc");
  store.files.meanwhile({.operation = Operation::kInfo, .nth = 2}, [&] {
    store.disk.write("y", "new");
    store.files.heal();
  });
  CHECK(store.files.info("y").error().os_error == ENOENT);
  CHECK(store.files.info("y").has_value());
}

TEST_CASE("a call of a log is found again in the next run") {
  const Log calls = {"open x read", "read_at x 0", "open y read", "sync_data y"};
  const Fault fault = fault_at(calls, 2, EMFILE);
  CHECK(fault.operation == Operation::kOpen);
  CHECK(fault.nth == 2);
  CHECK(fault.error_number == EMFILE);
}

TEST_CASE("every kind of call can fail") {
  Fixture store;
  store.disk.write("x", "abc");
  store.disk.make_folders("d");
  const auto file = store.open("x", OpenMode::kUpdate);
  for (int i = 0; i <= static_cast<int>(Operation::kSyncDirectory); ++i) {
    store.files.fail({.operation = static_cast<Operation>(i), .error_number = EIO});
  }
  std::string out(1, '.');
  CHECK_FALSE(store.files.open("x", OpenMode::kRead).has_value());
  CHECK_FALSE(file->read_at(0, out).has_value());
  CHECK_FALSE(file->write("1").has_value());
  CHECK_FALSE(file->write_at(0, "1").has_value());
  CHECK_FALSE(file->truncate(0).has_value());
  CHECK_FALSE(file->sync_data().has_value());
  CHECK_FALSE(file->sync_all().has_value());
  CHECK_FALSE(file->info().has_value());
  CHECK_FALSE(store.files.info("x").has_value());
  CHECK_FALSE(store.files.list("").has_value());
  CHECK_FALSE(store.files.make_directory("e").has_value());
  CHECK_FALSE(store.files.rename("x", "y").has_value());
  CHECK_FALSE(store.files.remove("x").has_value());
  CHECK_FALSE(store.files.remove_directory("d").has_value());
  CHECK_FALSE(store.files.sync_directory("d").has_value());
  CHECK(store.disk.read("x") == "abc");
  CHECK(store.disk.list("").value() == Log{"d", "x"});
}

}  // namespace bmad_mem::test::faulty_file_system_test
