#include "storage/mapped_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "storage/atomic_file.hpp"
#include "storage/posix_file_system.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::mapped_file_test {
namespace {

struct PosixStore {
  TemporaryDirectory folder;
  std::unique_ptr<FileSystem> owned = std::move(open_posix_file_system(folder.path()).value());
  FileSystem& files = *owned;
};

struct MemoryStore {
  MemoryFileSystem files;
};

std::size_t open_descriptor_count() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE_TEMPLATE("a mapped file shows the file's bytes", Store, PosixStore, MemoryStore) {
  Store store;
  std::string bytes(3 * 4096 + 17, 'x');
  bytes.replace(5000, 3, std::string_view("\0\n\xFF", 3));
  for (const std::string& content : {bytes, std::string("x"), std::string(4096, 'y')}) {
    REQUIRE(replace_file(store.files, "index.json", content).has_value());
    const MappedFile file = std::move(MappedFile::map(store.files, "index.json").value());
    CHECK(file.bytes() == content);
    CHECK(file.info().size == content.size());
    CHECK(file.info().same_file(store.files.info("index.json").value()));
  }
}

TEST_CASE_TEMPLATE("an empty file maps to nothing", Store, PosixStore, MemoryStore) {
  Store store;
  REQUIRE(replace_file(store.files, "index.json", "").has_value());
  const MappedFile file = std::move(MappedFile::map(store.files, "index.json").value());
  CHECK(file.bytes().empty());
  CHECK(file.info().inode != 0);
}

TEST_CASE_TEMPLATE("a missing file is not found, a folder is refused", Store, PosixStore,
                   MemoryStore) {
  Store store;
  CHECK(is_not_found(MappedFile::map(store.files, "index.json").error()));
  REQUIRE(store.files.make_directory("folder").has_value());
  CHECK(MappedFile::map(store.files, "folder").error().code == ErrorCode::E_STORAGE_IO);
}

TEST_CASE_TEMPLATE("a mapping keeps the file it was made of when that is replaced or removed",
                   Store, PosixStore, MemoryStore) {
  Store store;
  REQUIRE(replace_file(store.files, "index.json", "the old one").has_value());
  const MappedFile old = std::move(MappedFile::map(store.files, "index.json").value());
  REQUIRE(replace_file(store.files, "index.json", "new").has_value());
  CHECK(old.bytes() == "the old one");
  CHECK_FALSE(old.info().same_file(store.files.info("index.json").value()));
  REQUIRE(store.files.remove("index.json").has_value());
  CHECK(old.bytes() == "the old one");
}

TEST_CASE_TEMPLATE("views stay valid when the mapping is moved", Store, PosixStore, MemoryStore) {
  Store store;
  REQUIRE(replace_file(store.files, "a", "first").has_value());
  REQUIRE(replace_file(store.files, "b", "second").has_value());
  MappedFile file = std::move(MappedFile::map(store.files, "a").value());
  const std::string_view view = file.bytes();
  MappedFile moved = std::move(file);
  CHECK(view == "first");
  CHECK(moved.bytes().data() == view.data());
  moved = std::move(MappedFile::map(store.files, "b").value());
  CHECK(moved.bytes() == "second");
}

TEST_CASE("a mapping holds no descriptor") {
  PosixStore store;
  REQUIRE(replace_file(store.files, "index.json", "bytes").has_value());
  const std::size_t before = open_descriptor_count();
  const MappedFile file = std::move(MappedFile::map(store.files, "index.json").value());
  CHECK(open_descriptor_count() == before);
}

TEST_CASE("a file system that fails passes its error on") {
  MemoryFileSystem disk;
  disk.write("index.json", "bytes");
  for (const Operation operation : {Operation::kOpen, Operation::kFileInfo, Operation::kReadAt}) {
    FaultyFileSystem files(disk);
    files.fail({.operation = operation, .error_number = EIO});
    CAPTURE(operation_name(operation));
    CHECK(MappedFile::map(files, "index.json").error().os_error == EIO);
    CHECK(MappedFile::map(files, "index.json").value().bytes() == "bytes");
  }
}

}  // namespace bmad_mem::test::mapped_file_test
