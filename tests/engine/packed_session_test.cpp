// packed_session_test.cpp - what is unpacked of archives: nobody waits for it, and it does not stay
// for ever.
#include <algorithm>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "engine/lifecycle_store.hpp"
#include "storage/layout.hpp"

namespace bmad_mem::test::packed_session_test {
namespace {

const EntryFilter kAll{.limit = 0};

/// Makes `count` sessions more and archives all.
void archive_sessions(LifecycleStore& store, int count) {
  REQUIRE(archive(store.store).has_value());
  for (int i = 0; i < count; ++i) {
    const std::string id = fmt::format("more-{}", i);
    REQUIRE(create_session(store.store, {.session_id = id}).has_value());
    REQUIRE(archive_session(store.store, id).has_value());
  }
}

}  // namespace

TEST_CASE("an archived session that has artifacts is read like any other") {
  LifecycleStore store;
  const std::string artifacts = session_file("s1", kArtifactsName);
  store.disk.make_folders(artifacts);
  store.disk.write(artifacts + "/a1.md", "a document\n");
  REQUIRE(archive(store.store).has_value());
  CHECK(list_entries(store.store, kAll).value().size() == kLifecycleEntries);
}

TEST_CASE("while an archive is unpacked, other questions are asked") {
  LifecycleStore store;
  REQUIRE(archive(store.store).has_value());
  bool is_free = false;
  store.files->meanwhile({.operation = Operation::kReadAt, .path_part = "s1.tar.gz"}, [&] {
    is_free = std::async(std::launch::async, [&] {
                const std::unique_lock lock(store.store.indexes_mutex, std::try_to_lock);
                return lock.owns_lock();
              }).get();
  });
  CHECK(list_entries(store.store, kAll).value().size() == kLifecycleEntries);
  CHECK(is_free);
}

TEST_CASE("nothing is unpacked that holds no hit") {
  LifecycleStore store;
  archive_sessions(store, 3);
  const std::unique_ptr<Store> other = store.another_process();
  auto* const files = static_cast<FaultyFileSystem*>(other->files.get());
  const auto reads_archives = [&] {
    return std::ranges::any_of(files->log(), [](const std::string& call) {
      return call.starts_with("open") && call.find(".tar.gz") != std::string::npos;
    });
  };
  CHECK(answer_query(*other, {.text = "nowhere"}).value().hits.empty());
  CHECK(find_entries(*other, std::vector<std::string>{"f9"}, {}, false).value().empty());
  CHECK_FALSE(reads_archives());
  CHECK(answer_query(*other, {.text = "text"}).value().hits.size() == kLifecycleEntries);
}

TEST_CASE("an archive is unpacked once, as long as there is room for it") {
  LifecycleStore store;
  archive_sessions(store, 3);
  REQUIRE(list_entries(store.store, kAll).has_value());
  CHECK(store.store.packed.size() == 4);
  store.files->clear_log();
  REQUIRE(list_entries(store.store, kAll).has_value());
  CHECK(store.files->count(Operation::kOpen) == 0);

  store.store.archives_size_max = 0;
  store.store.packed.clear();
  REQUIRE(list_entries(store.store, kAll).has_value());
  store.files->clear_log();
  CHECK(list_entries(store.store, kAll).value().size() == kLifecycleEntries);
  CHECK(store.files->count(Operation::kOpen) > 0);
}

TEST_CASE("of a session that is no archive any more nothing stays unpacked") {
  for (const auto goes : {restore, delete_whole}) {
    LifecycleStore store;
    REQUIRE(archive(store.store).has_value());
    REQUIRE(list_entries(store.store, kAll).has_value());
    CHECK(store.store.packed.size() == 1);
    REQUIRE(goes(store.store).has_value());
    CHECK(store.store.packed.empty());
  }
}

}  // namespace bmad_mem::test::packed_session_test
