// file_system_contract_test.cpp - what every FileSystem promises: the same cases over the one in
// memory, which tests use as a model, and over the real one.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "base/file_system.hpp"
#include "store/posix_file_system.hpp"
#include "support/memory_file_system.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::file_system_contract_test {
namespace {

using Names = std::vector<std::string>;

/// The tiny language of these tests, over a file system that a Store provides.
class Fixture {
 public:
  virtual ~Fixture() = default;
  virtual FileSystem& files() = 0;
  /// Puts something there that is neither a file nor a folder.
  virtual void make_other(const std::string& path) = 0;

  std::unique_ptr<File> open(const std::string& path, OpenMode mode) {
    return std::move(files().open(path, mode).value());
  }
  void write(const std::string& path, std::string_view bytes) {
    REQUIRE(open(path, OpenMode::kCreate)->write(bytes).value() == bytes.size());
  }
  std::string read(const std::string& path) { return read_file(files(), path, 1U << 20U).value(); }
  Names list(const std::string& path = "") { return files().list(path).value(); }
  bool exists(const std::string& path) { return files().info(path).has_value(); }
};

class MemoryStore : public Fixture {
 public:
  FileSystem& files() override { return files_; }
  void make_other(const std::string& path) override { files_.make_other(path); }

 private:
  MemoryFileSystem files_;
};

class PosixStore : public Fixture {
 public:
  PosixStore() : files_(std::move(open_posix_file_system(folder_.path()).value())) {}
  FileSystem& files() override { return *files_; }
  void make_other(const std::string& path) override {
    REQUIRE(::mkfifo(folder_.path(path).c_str(), 0600) == 0);
  }

 private:
  TemporaryDirectory folder_;
  std::unique_ptr<FileSystem> files_;
};

std::string read_all(File& file) {
  std::string bytes(file.info().value().size, '\0');
  bytes.resize(file.read_at(0, bytes).value());
  return bytes;
}

template <typename T>
int error_number(const Result<T>& result) {
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().code == ErrorCode::E_STORAGE_IO);
  CHECK_FALSE(result.error().message.empty());
  return result.error().os_error;
}

}  // namespace

TEST_CASE_TEMPLATE("a new root is empty", Store, MemoryStore, PosixStore) {
  Store store;
  CHECK(store.list().empty());
  CHECK(store.files().info("").value().kind == FileKind::kDirectory);
  CHECK(store.files().sync_directory("").has_value());
}

TEST_CASE_TEMPLATE("a missing file is reported as not found by every call", Store, MemoryStore,
                   PosixStore) {
  Store store;
  FileSystem& files = store.files();
  CHECK(is_not_found(files.open("x", OpenMode::kRead).error()));
  CHECK(is_not_found(files.open("folder/x", OpenMode::kAppend).error()));
  CHECK(is_not_found(files.info("x").error()));
  CHECK(is_not_found(files.list("x").error()));
  CHECK(is_not_found(files.rename("x", "y").error()));
  CHECK(is_not_found(files.remove("x").error()));
  CHECK(is_not_found(files.remove_directory("x").error()));
  CHECK(is_not_found(files.sync_directory("x").error()));
  CHECK(is_not_found(files.make_directory("folder/x").error()));
  CHECK(is_not_found(read_file(files, "x", 100).error()));
  CHECK(files.open("x", OpenMode::kRead).error().path == files.display_path("x"));
}

TEST_CASE_TEMPLATE("a file below a file is not found either", Store, MemoryStore, PosixStore) {
  Store store;
  store.write("x", "1");
  CHECK(is_not_found(store.files().open("x/y", OpenMode::kAppend).error()));
  CHECK(is_not_found(store.files().info("x/y").error()));
  CHECK(error_number(store.files().list("x")) == ENOTDIR);
}

TEST_CASE_TEMPLATE("appending writes at the end, whoever else wrote", Store, MemoryStore,
                   PosixStore) {
  Store store;
  const auto first = store.open("log", OpenMode::kAppend);
  const auto second = store.open("log", OpenMode::kAppend);
  CHECK(first->write("one\n").value() == 4);
  CHECK(second->write("two\n").value() == 4);
  CHECK(first->write("three\n").value() == 6);
  CHECK(first->write("").value() == 0);
  CHECK(store.read("log") == "one\ntwo\nthree\n");
  CHECK(first->sync_data().has_value());
  CHECK(second->info().value().same_file(first->info().value()));
}

TEST_CASE_TEMPLATE("updating writes from the front, and wherever it is told to", Store, MemoryStore,
                   PosixStore) {
  Store store;
  store.write("x", "abcdef");
  const auto file = store.open("x", OpenMode::kUpdate);
  CHECK(file->write("12").value() == 2);
  CHECK(file->write("3").value() == 1);
  CHECK(store.read("x") == "123def");
  CHECK(file->write_at(5, "XYZ").value() == 3);
  CHECK(store.read("x") == "123deXYZ");
  CHECK(file->write_at(10, "!").value() == 1);
  CHECK(store.read("x") == std::string("123deXYZ\0\0!", 11));
}

TEST_CASE_TEMPLATE("creating empties what was there and keeps the inode", Store, MemoryStore,
                   PosixStore) {
  Store store;
  store.write("x", "old and long");
  const FileInfo before = store.files().info("x").value();
  store.write("x", "new");
  CHECK(store.read("x") == "new");
  CHECK(store.files().info("x").value().same_file(before));
}

TEST_CASE_TEMPLATE("reading stops at the end of the file", Store, MemoryStore, PosixStore) {
  Store store;
  store.write("x", "abcdef");
  const auto file = store.open("x", OpenMode::kRead);
  std::string out(4, '.');
  CHECK(file->read_at(4, out).value() == 2);
  CHECK(out.substr(0, 2) == "ef");
  CHECK(file->read_at(6, out).value() == 0);
  CHECK(file->read_at(1000, out).value() == 0);
  CHECK(file->read_at(0, std::span<char>()).value() == 0);
}

TEST_CASE_TEMPLATE("a file opened for reading takes no writes", Store, MemoryStore, PosixStore) {
  Store store;
  store.write("x", "abc");
  const auto file = store.open("x", OpenMode::kRead);
  CHECK(error_number(file->write("d")) == EBADF);
  CHECK(error_number(file->write_at(0, "d")) == EBADF);
  CHECK(error_number(file->truncate(0)) == EINVAL);
  CHECK(store.read("x") == "abc");
}

TEST_CASE_TEMPLATE("truncating cuts, or fills up with NUL", Store, MemoryStore, PosixStore) {
  Store store;
  store.write("x", "abcdef");
  const auto file = store.open("x", OpenMode::kAppend);
  CHECK(file->truncate(2).has_value());
  CHECK(store.read("x") == "ab");
  CHECK(file->write("c").value() == 1);
  CHECK(store.read("x") == "abc");
  CHECK(file->truncate(5).has_value());
  CHECK(store.read("x") == std::string("abc\0\0", 5));
}

TEST_CASE_TEMPLATE("a file renamed onto another takes its place, and open files keep the old one",
                   Store, MemoryStore, PosixStore) {
  Store store;
  store.write("x", "old");
  store.write("x.tmp", "new");
  const auto old = store.open("x", OpenMode::kRead);
  const FileInfo fresh = store.files().info("x.tmp").value();
  CHECK(store.files().rename("x.tmp", "x").has_value());
  CHECK(store.list() == Names{"x"});
  CHECK(store.read("x") == "new");
  CHECK(read_all(*old) == "old");
  CHECK(store.files().info("x").value().same_file(fresh));
  CHECK_FALSE(old->info().value().same_file(fresh));
  CHECK(old->info().value().links == 0);
  CHECK(store.files().info("x").value().links == 1);
}

TEST_CASE_TEMPLATE("renaming replaces like with like only", Store, MemoryStore, PosixStore) {
  Store store;
  FileSystem& files = store.files();
  store.write("file", "1");
  for (const char* folder : {"empty", "full", "other"}) {
    REQUIRE(files.make_directory(folder).has_value());
  }
  store.write("full/x", "2");
  CHECK(error_number(files.rename("file", "empty")) == EISDIR);
  CHECK(error_number(files.rename("empty", "file")) == ENOTDIR);
  CHECK(error_number(files.rename("other", "full")) == ENOTEMPTY);
  CHECK(error_number(files.rename("full", "full/inside")) == EINVAL);
  CHECK(is_not_found(files.rename("file", "nowhere/file").error()));
  CHECK(files.rename("file", "file").has_value());
  CHECK(files.rename("full", "empty").has_value());
  CHECK(store.list() == Names{"empty", "file", "other"});
  CHECK(store.read("empty/x") == "2");
}

TEST_CASE_TEMPLATE("a removed file lives on for who has it open", Store, MemoryStore, PosixStore) {
  Store store;
  store.write("x", "still here");
  const auto file = store.open("x", OpenMode::kRead);
  CHECK(file->info().value().links == 1);
  CHECK(store.files().remove("x").has_value());
  CHECK(file->info().value().links == 0);
  CHECK_FALSE(store.exists("x"));
  CHECK(read_all(*file) == "still here");
  store.write("x", "another");
  CHECK_FALSE(file->info().value().same_file(store.files().info("x").value()));
}

TEST_CASE_TEMPLATE("files and folders are removed by their own calls", Store, MemoryStore,
                   PosixStore) {
  Store store;
  FileSystem& files = store.files();
  store.write("file", "1");
  REQUIRE(files.make_directory("folder").has_value());
  store.write("folder/x", "2");
  CHECK(error_number(files.remove("folder")) == EISDIR);
  CHECK(error_number(files.remove_directory("file")) == ENOTDIR);
  CHECK(error_number(files.remove_directory("folder")) == ENOTEMPTY);
  CHECK(files.remove("folder/x").has_value());
  CHECK(files.remove_directory("folder").has_value());
  CHECK(store.list() == Names{"file"});
}

TEST_CASE_TEMPLATE("a folder is made once, below one that is there", Store, MemoryStore,
                   PosixStore) {
  Store store;
  FileSystem& files = store.files();
  CHECK(files.make_directory("a").has_value());
  CHECK(files.make_directory("a/b").has_value());
  CHECK(error_number(files.make_directory("a")) == EEXIST);
  store.write("file", "");
  CHECK(error_number(files.make_directory("file")) == EEXIST);
  CHECK(error_number(files.make_directory("file/x")) == ENOTDIR);
  CHECK(files.info("a/b").value().kind == FileKind::kDirectory);
  CHECK(files.sync_directory("a").has_value());
}

TEST_CASE_TEMPLATE("a folder is listed by byte, hidden names too", Store, MemoryStore, PosixStore) {
  Store store;
  REQUIRE(store.files().make_directory("s").has_value());
  for (const char* name : {"s/b", "s/a", "s/B", "s/.lock", "s/\xC3\xA9", "s/a.tmp"}) {
    store.write(name, "");
  }
  CHECK(store.list("s") == Names{".lock", "B", "a", "a.tmp", "b", "\xC3\xA9"});
  CHECK(store.list() == Names{"s"});
}

TEST_CASE_TEMPLATE("info tells size, kind and that something changed", Store, MemoryStore,
                   PosixStore) {
  Store store;
  store.write("x", "abc");
  const FileInfo before = store.files().info("x").value();
  CHECK(before.kind == FileKind::kRegular);
  CHECK(before.size == 3);
  CHECK(before.inode != 0);
  const auto file = store.open("x", OpenMode::kAppend);
  CHECK(file->write("d").value() == 1);
  const FileInfo after = file->info().value();
  CHECK(after.size == 4);
  CHECK(after.same_file(before));
  CHECK(after.mtime_ns >= before.mtime_ns);
  store.write("y", "");
  CHECK_FALSE(store.files().info("y").value().same_file(after));
}

TEST_CASE_TEMPLATE("no path leads out of the root", Store, MemoryStore, PosixStore) {
  const std::string outside[] = {
      "..", "../x",      "/etc/passwd",          "a/../../x", "a/..",
      "/",  "../../etc", std::string("a\0b", 3), "a/../a/x",  std::string(2, '.')};
  for (const std::string& path : outside) {
    CAPTURE(path);
    Store store;
    FileSystem& files = store.files();
    REQUIRE(files.make_directory("a").has_value());
    store.write("x", "mine");
    for (const OpenMode mode :
         {OpenMode::kRead, OpenMode::kAppend, OpenMode::kUpdate, OpenMode::kCreate}) {
      CHECK_FALSE(files.open(path, mode).has_value());
    }
    CHECK_FALSE(files.info(path).has_value());
    CHECK_FALSE(files.list(path).has_value());
    CHECK_FALSE(files.make_directory(path).has_value());
    CHECK_FALSE(files.rename("x", path).has_value());
    CHECK_FALSE(files.rename(path, "y").has_value());
    CHECK_FALSE(files.remove(path).has_value());
    CHECK_FALSE(files.remove_directory(path).has_value());
    CHECK_FALSE(files.sync_directory(path).has_value());
    CHECK(store.list() == Names{"a", "x"});
  }
}

TEST_CASE_TEMPLATE("a name longer than 255 bytes is refused", Store, MemoryStore, PosixStore) {
  Store store;
  CHECK(error_number(store.files().open(std::string(256, 'x'), OpenMode::kCreate)) == ENAMETOOLONG);
  store.write(std::string(255, 'x'), "fits");
  CHECK(store.read(std::string(255, 'x')) == "fits");
}

TEST_CASE_TEMPLATE("only regular files are opened", Store, MemoryStore, PosixStore) {
  Store store;
  REQUIRE(store.files().make_directory("folder").has_value());
  store.make_other("other");
  for (const char* path : {"folder", "other", ""}) {
    for (const OpenMode mode :
         {OpenMode::kRead, OpenMode::kAppend, OpenMode::kUpdate, OpenMode::kCreate}) {
      CAPTURE(path);
      CHECK_FALSE(store.files().open(path, mode).has_value());
    }
  }
  CHECK(store.files().info("other").value().kind == FileKind::kOther);
  CHECK(store.list() == Names{"folder", "other"});
}

TEST_CASE_TEMPLATE("read_file takes the whole file or says that it is too large", Store,
                   MemoryStore, PosixStore) {
  Store store;
  store.write("x", "12345");
  CHECK(read_file(store.files(), "x", 5).value() == "12345");
  const Error error = read_file(store.files(), "x", 4).error();
  CHECK(error.code == ErrorCode::E_SIZE_LIMIT);
  CHECK(error.path == store.files().display_path("x"));
  store.write("empty", "");
  CHECK(read_file(store.files(), "empty", 0).value().empty());
}

TEST_CASE_TEMPLATE("a path is shown with the root in front", Store, MemoryStore, PosixStore) {
  Store store;
  const std::string root = store.files().display_path("");
  CHECK_FALSE(root.empty());
  CHECK(store.files().display_path("a/b") == root + "/a/b");
}

// What only the real file system has.

TEST_CASE("files are private whatever the umask says") {
  TemporaryDirectory folder;
  const auto files = std::move(open_posix_file_system(folder.path()).value());
  const mode_t old_mask = ::umask(0);
  for (const mode_t mask : {0U, 022U, 0777U}) {
    ::umask(mask);
    const std::string name = "m" + std::to_string(mask);
    CHECK(files->open(name, OpenMode::kAppend).has_value());
    CHECK(files->open(name + ".tmp", OpenMode::kCreate).has_value());
    CHECK(files->make_directory(name + ".d").has_value());
    struct stat status{};
    for (const char* suffix : {"", ".tmp", ".d"}) {
      CAPTURE(name + suffix);
      REQUIRE(::stat(folder.path(name + suffix).c_str(), &status) == 0);
      CHECK((status.st_mode & 07777) == (S_ISDIR(status.st_mode) ? 0700 : 0600));
    }
  }
  ::umask(old_mask);
}

TEST_CASE("symbolic links inside the root are refused, not followed") {
  TemporaryDirectory outside;
  outside.make_folder("folder");
  outside.write("secret", "not yours");
  outside.write("folder/x", "not yours either");
  TemporaryDirectory folder;
  folder.write("mine", "mine");
  std::filesystem::create_symlink(outside.path("secret"), folder.path("file"));
  std::filesystem::create_symlink(outside.path("folder"), folder.path("link"));
  std::filesystem::create_symlink("mine", folder.path("near"));
  const auto files = std::move(open_posix_file_system(folder.path()).value());

  for (const char* path : {"file", "link/x", "link/new", "near"}) {
    CAPTURE(path);
    for (const OpenMode mode :
         {OpenMode::kRead, OpenMode::kAppend, OpenMode::kUpdate, OpenMode::kCreate}) {
      CHECK_FALSE(files->open(path, mode).has_value());
    }
  }
  CHECK(files->info("file").value().kind == FileKind::kOther);
  CHECK(files->info("link").value().kind == FileKind::kOther);
  CHECK_FALSE(files->list("link").has_value());
  CHECK_FALSE(files->sync_directory("link").has_value());
  CHECK_FALSE(files->remove("link/x").has_value());
  CHECK_FALSE(files->rename("mine", "link/mine").has_value());
  CHECK_FALSE(files->rename("link/x", "stolen").has_value());
  CHECK_FALSE(files->make_directory("link/new").has_value());
  CHECK_FALSE(files->remove_directory("link/x").has_value());
  CHECK(outside.read("secret") == "not yours");
  CHECK(outside.read("folder/x") == "not yours either");
  CHECK(folder.read("mine") == "mine");

  CHECK(files->remove("file").has_value());  // The link itself may go.
  CHECK(outside.read("secret") == "not yours");
}

TEST_CASE("a root that isn't there is a session not found, a file is no root") {
  TemporaryDirectory folder;
  const Error missing = open_posix_file_system(folder.path("nowhere")).error();
  CHECK(missing.code == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(missing.message.find("bmad-mem init") != std::string::npos);
  CHECK(missing.path == folder.path("nowhere"));
  folder.write("file", "");
  CHECK_FALSE(open_posix_file_system(folder.path("file")).has_value());
}

TEST_CASE("the root is made with the folders above it, and may be made again") {
  TemporaryDirectory folder;
  const std::string root = folder.path("project/.bmad/memory");
  CHECK(make_root_directory(root).has_value());
  CHECK(make_root_directory(root).has_value());
  CHECK(open_posix_file_system(root).has_value());
  folder.write("file", "");
  CHECK_FALSE(make_root_directory(folder.path("file/memory")).has_value());
}

}  // namespace bmad_mem::test::file_system_contract_test
