#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "store/store_watch.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::folder_watch_test {
namespace {

using std::chrono::milliseconds;
using Names = std::vector<std::string>;

constexpr milliseconds kLong(10'000);
constexpr milliseconds kNow(0);

}  // namespace

TEST_CASE("a folder in which a file changes is told, once, and others are not") {
  const TemporaryDirectory folder;
  folder.make_folder("a");
  folder.make_folder("b");
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  REQUIRE(watch.add("a").value());
  REQUIRE(watch.add("b").value());
  CHECK(watch.wait(kNow).value().changed.empty());
  folder.write("a/x", "1");
  folder.write("a/y", "2");
  CHECK(watch.wait(kLong).value().changed == Names{"a"});
  folder.write("c", "no one watches the root");
  CHECK(watch.wait(kNow).value().changed.empty());
}

TEST_CASE("the stamp that follows each append wakes nobody") {
  const TemporaryDirectory folder;
  folder.make_folder("a");
  folder.write("a/.lock", "");
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  REQUIRE(watch.add("a").value());
  folder.write("a/.lock", "stamp");
  CHECK(watch.wait(milliseconds(5)).value().changed.empty());
  folder.write("a/.lock", "stamp");
  folder.write("a/x", "1");
  folder.write("a/.lock", "stamp");
  CHECK(watch.wait(kLong).value().changed == Names{"a"});
  CHECK(watch.wait(kNow).value().changed.empty());
}

TEST_CASE("what is put in a file's place by renaming is a change") {
  const TemporaryDirectory folder;
  folder.make_folder("a");
  folder.write("x.tmp", "new");
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  REQUIRE(watch.add("a").value());
  std::filesystem::rename(folder.path("x.tmp"), folder.path("a/x"));
  CHECK(watch.wait(kLong).value().changed == Names{"a"});
}

TEST_CASE("a folder that goes is told, and can be watched again when it is back") {
  const TemporaryDirectory folder;
  folder.make_folder("a");
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  REQUIRE(watch.add("a").value());
  SUBCASE("removed") { std::filesystem::remove(folder.path("a")); }
  SUBCASE("moved away") { std::filesystem::rename(folder.path("a"), folder.path("b")); }
  CHECK(watch.wait(kLong).value().gone == Names{"a"});
  CHECK_FALSE(watch.add("a").value());
  folder.make_folder("a");
  REQUIRE(watch.add("a").value());
  folder.write("a/x", "1");
  CHECK(watch.wait(kLong).value().changed == Names{"a"});
}

TEST_CASE("a folder that is removed while a file of it is open is told by the one above it") {
  const TemporaryDirectory folder;
  folder.make_folder("a/b");
  folder.write("a/b/x", "1");
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  REQUIRE(watch.add("a").value());
  REQUIRE(watch.add("a/b").value());
  const std::ifstream reader(folder.path("a/b/x"));
  std::filesystem::remove_all(folder.path("a/b"));
  folder.make_folder("a/b");
  CHECK(watch.wait(kLong).value().gone == Names{"a/b"});
  REQUIRE(watch.add("a/b").value());
  folder.write("a/b/x", "1");
  CHECK(watch.wait(kLong).value().changed == Names{"a/b"});
}

TEST_CASE("a folder may be called as a file that wakes nobody") {
  const TemporaryDirectory folder;
  folder.make_folder("a");
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  REQUIRE(watch.add("a").value());
  folder.write("a/index.json", "derived");
  CHECK(watch.wait(milliseconds(5)).value().changed.empty());
  folder.make_folder("a/access.jsonl");
  CHECK(watch.wait(kLong).value().changed == Names{"a"});
}

TEST_CASE("a link or a file is no folder to watch, but the root may be a link") {
  const TemporaryDirectory folder;
  folder.make_folder("a");
  folder.write("file", "");
  std::filesystem::create_symlink(folder.path("a"), folder.path("link"));
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  CHECK_FALSE(watch.add("link").value());
  CHECK_FALSE(watch.add("file").value());
  FolderWatch linked = FolderWatch::open(folder.path("link")).value();
  CHECK(linked.add("").value());
}

TEST_CASE("a stop ends a wait, whichever came first, and every wait after it") {
  const TemporaryDirectory folder;
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  std::thread stopper([&] { watch.stop(); });
  CHECK(watch.wait(kLong).value().changed.empty());
  stopper.join();
  CHECK(watch.is_stopped());
  CHECK(watch.wait(kLong).has_value());
}

}  // namespace bmad_mem::test::folder_watch_test
