// atomic_file_test.cpp - a file that is replaced holds the old bytes or the new ones.
#include "store/atomic_file.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::atomic_file_test {
namespace {

struct Desk {
  Desk() { disk.make_folders("s"); }
  MemoryFileSystem disk;
  FaultyFileSystem files{disk};
};

}  // namespace

TEST_CASE("a file is replaced in four steps, each durable before the next") {
  Desk desk;
  desk.disk.write("s/x", "old");
  REQUIRE(replace_file(desk.files, "s/x", "new").has_value());
  CHECK(desk.disk.read("s/x") == "new");
  const std::vector<std::string> expected = {"open s/x.tmp create", "write s/x.tmp 3",
                                             "sync_all s/x.tmp", "rename s/x.tmp s/x",
                                             "sync_directory s"};
  CHECK(desk.files.log() == expected);
}

TEST_CASE("a replacement that fails leaves the old bytes and nothing beside them") {
  for (const Operation operation :
       {Operation::kOpen, Operation::kWrite, Operation::kSyncAll, Operation::kRename}) {
    for (const int error : {EIO, ENOSPC, EDQUOT, EMFILE}) {
      CAPTURE(operation_name(operation));
      CAPTURE(error);
      Desk desk;
      desk.disk.write("s/x", "old");
      desk.files.fail({.operation = operation, .error_number = error});
      const Status replaced = replace_file(desk.files, "s/x", "new");
      REQUIRE_FALSE(replaced.has_value());
      CHECK(replaced.error().os_error == error);
      CHECK(desk.disk.read("s/x") == "old");
      CHECK(desk.disk.list("s").value() == std::vector<std::string>{"x"});
      desk.files.heal();
      CHECK(replace_file(desk.files, "s/x", "new").has_value());
      CHECK(desk.disk.read("s/x") == "new");
    }
  }
}

TEST_CASE("when the folder cannot be made durable, the error is told though the bytes are new") {
  Desk desk;
  desk.disk.write("s/x", "old");
  desk.files.fail({.operation = Operation::kSyncDirectory});
  CHECK_FALSE(replace_file(desk.files, "s/x", "new").has_value());
  CHECK(desk.disk.read("s/x") == "new");
}

TEST_CASE("what a crash left under the temporary name is overwritten") {
  Desk desk;
  desk.disk.write("s/x.tmp", "a longer text from before");
  CHECK(replace_file(desk.files, "s/x", "new").has_value());
  CHECK(desk.disk.read("s/x") == "new");
  CHECK(desk.disk.list("s").value() == std::vector<std::string>{"x"});
}

TEST_CASE("a file that was open keeps its bytes when it is replaced") {
  Desk desk;
  desk.disk.write("s/x", "old");
  const auto old = std::move(desk.files.open("s/x", OpenMode::kRead).value());
  REQUIRE(replace_file(desk.files, "s/x", "newer").has_value());
  std::string bytes(8, '.');
  bytes.resize(old->read_at(0, bytes).value());
  CHECK(bytes == "old");
  CHECK_FALSE(old->info().value().same_file(desk.files.info("s/x").value()));
}

TEST_CASE("a filler that fails is no replacement") {
  Desk desk;
  desk.disk.write("s/x", "old");
  const Status replaced = replace_file_with(desk.files, "s/x", [](File& file) -> Status {
    BMAD_TRY(write_all(file, "half of it"));
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "the source could not be read"};
  });
  REQUIRE_FALSE(replaced.has_value());
  CHECK(replaced.error().message == "the source could not be read");
  CHECK(desk.disk.read("s/x") == "old");
  CHECK(desk.disk.list("s").value() == std::vector<std::string>{"x"});
}

TEST_CASE("write_all goes on after a short write and gives up after an empty one") {
  Desk desk;
  desk.files.shorten({.operation = Operation::kWrite, .from_then_on = true}, 2);
  const auto file = std::move(desk.files.open("s/x", OpenMode::kAppend).value());
  CHECK(write_all(*file, "abcdefg").has_value());
  CHECK(desk.disk.read("s/x") == "abcdefg");
  CHECK(write_all(*file, "").has_value());
  desk.files.heal();
  desk.files.shorten({.operation = Operation::kWrite}, 0);
  const Status written = write_all(*file, "h");
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().code == ErrorCode::E_STORAGE_FULL);
}

TEST_CASE("names beside and above a file") {
  CHECK(temporary_path("sessions/x/manifest.json") == "sessions/x/manifest.json.tmp");
  CHECK(parent_folder("sessions/x/manifest.json") == "sessions/x");
  CHECK(parent_folder("config.json").empty());
}

}  // namespace bmad_mem::test::atomic_file_test
