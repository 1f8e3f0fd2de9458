// packed_session_test.cpp - what is unpacked of archives: nobody waits for it, and it does not stay
// for ever.
#include <algorithm>
#include <cerrno>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lifecycle/maintenance.hpp"
#include "search/archive_reader.hpp"
#include "search/reads.hpp"
#include "store/gzip.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "support/lifecycle_store.hpp"
#include "support/memory_fixture.hpp"

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

constexpr std::uint64_t kMember = 64U << 10U;
constexpr int kManyFacts = 1500;

std::string long_fact(int number, const std::string& text = "heron") {
  return MemoryFixture::fact(fmt::format("g{}", number),
                             fmt::format("{} {} {}", text, number, std::string(800, 'x')));
}

/// Adds facts of more than 1 MB, two versions of the first, and archives.
void archive_large(LifecycleStore& store) {
  std::vector<std::string> lines;
  for (int i = 0; i < kManyFacts; ++i) {
    lines.push_back(long_fact(i));
  }
  lines.push_back(long_fact(0, "egret"));
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  REQUIRE(add_lines(store.store, "s1", EntryType::kFact, views, {}).has_value());
  REQUIRE(archive(store.store).has_value());
}

/// Makes the archive of s1 one of a single stream, as version 0.1 wrote it.
void make_one_piece(MemoryFileSystem& disk) {
  const std::string path = archive_path("s1");
  const std::string tar = gunzip(disk.read(path), 1U << 30U).value();
  disk.write(path, gzip(tar).value());
}

/// By id: in which order they are found is nobody's business.
std::vector<Entry> get(const Store& store, const std::vector<std::string>& ids) {
  std::vector<Entry> found = find_entries(store, ids, {}, false).value();
  std::ranges::sort(found, {}, &Entry::id);
  return found;
}

}  // namespace

TEST_CASE("an entry costs the members of the archive that hold its line") {
  LifecycleStore store;
  archive_large(store);
  const std::unique_ptr<Store> other = store.another_process();
  const std::vector<Entry> found = get(*other, {"g700"});
  REQUIRE(found.size() == 1);
  CHECK(found[0].json == long_fact(700));
  CHECK(found[0].archived);
  CHECK(found[0].line == kLifecycleEntries + 701);
  CHECK(other->unpacked.size() <= 3 * kMember);
  CHECK(answer_query(*other, {.text = "800"}).value().hits.size() == 1);
  CHECK(other->unpacked.size() <= 4 * kMember);
}

TEST_CASE("an entry of an archive is what it was in the session") {
  LifecycleStore store;
  archive_large(store);
  const std::vector<std::string> ids = {"g9", "f3", "g0", "g9", "nobody"};
  const std::vector<Entry> archived = get(store.store, ids);
  REQUIRE(restore(store.store).has_value());
  const std::vector<Entry> live = get(store.store, ids);
  REQUIRE(archived.size() == 3);
  REQUIRE(live.size() == 3);
  for (std::size_t i = 0; i < live.size(); ++i) {
    CHECK(archived[i].json == live[i].json);
    CHECK(archived[i].line == live[i].line);
    CHECK(archived[i].versions == live[i].versions);
    CHECK(archived[i].headline == live[i].headline);
    CHECK(archived[i].archived);
  }
  CHECK(std::ranges::find(live, "g0", &Entry::id)->versions == 2);
}

TEST_CASE("an archive of one stream answers as one of members") {
  LifecycleStore store;
  archive_large(store);
  const std::size_t entries = list_entries(store.store, kAll).value().size();
  make_one_piece(store.disk);
  for (const bool has_index : {true, false}) {
    CAPTURE(has_index);
    if (!has_index) {
      REQUIRE(store.disk.remove(archive_index_path("s1")));
    }
    const std::unique_ptr<Store> other = store.another_process();
    CHECK(get(*other, {"g700"}).at(0).json == long_fact(700));
    CHECK(answer_query(*other, {.text = "egret"}).value().hits.size() == 1);
    CHECK(list_entries(*other, kAll).value().size() == entries);
    CHECK(other->problems().empty());
  }
  REQUIRE(restore(store.store).has_value());
  REQUIRE(archive(store.store).has_value());
  CHECK(get(store.store, {"g700"}).size() == 1);
  CHECK(store.store.unpacked.size() <= 3 * kMember);
}

TEST_CASE("a damaged member is named, and hides no other until it is read") {
  LifecycleStore store;
  archive_large(store);
  std::string packed = store.disk.read(archive_path("s1"));
  const std::size_t hit = packed.size() * 3 / 4;
  packed[hit] = static_cast<char>(packed[hit] ^ 1);
  store.disk.write(archive_path("s1"), packed);
  // The file is another one, so its index is made anew: that reads all.
  const std::unique_ptr<Store> other = store.another_process();
  CHECK(get(*other, {"g1"}).empty());
  REQUIRE(other->problems().size() == 1);
  CHECK(other->problems()[0].message.find("in the gzip member that starts at byte") !=
        std::string::npos);
  CHECK(other->problems()[0].path.ends_with("s1.tar.gz"));
}

TEST_CASE("an archive whose disk fails in the middle is left out, and named") {
  LifecycleStore store;
  archive_large(store);
  REQUIRE(create_session(store.store, {.session_id = "s2"}).has_value());
  const std::string fact = MemoryFixture::fact("live");
  const std::string_view line = fact;
  REQUIRE(add_lines(store.store, "s2", EntryType::kFact, {&line, 1}, {}).has_value());
  for (const Operation operation : {Operation::kOpen, Operation::kReadAt}) {
    const std::unique_ptr<Store> other = store.another_process();
    CHECK(get(*other, {"g1"}).size() == 1);  // Its members are known from now on.
    static_cast<FaultyFileSystem*>(other->files.get())
        ->fail({.operation = operation,
                .error_number = EACCES,
                .from_then_on = true,
                .path_part = "s1.tar.gz"});
    CHECK(list_entries(*other, kAll).value().size() == 1);
    REQUIRE(other->problems().size() == 1);
    CHECK(other->problems()[0].path.ends_with("s1.tar.gz"));
  }
}

TEST_CASE("what stays unpacked has a bound, and all is read within it") {
  LifecycleStore store;
  archive_large(store);
  const std::unique_ptr<Store> other = store.another_process();
  other->archives_size_max = 4 * kMember;
  CHECK(list_entries(*other, kAll).value().size() == kLifecycleEntries + kManyFacts);
  CHECK(other->unpacked.size() <= 4 * kMember);
  other->archives_size_max = 0;
  CHECK(get(*other, {"g3", "g900"}).size() == 2);
  CHECK(other->unpacked.size() <= kMember);  // The latest one.
}

TEST_CASE("an open log of an archive that is another one by now says so") {
  LifecycleStore store;
  archive_large(store);
  const ArchiveReaderPtr packed = archive_reader(store.store, "s1").value();
  const std::shared_ptr<FileSystem> files = packed->files().value();
  const std::unique_ptr<File> log =
      files->open(session_file("s1", "facts.jsonl"), OpenMode::kRead).value();
  std::string text(100, '\0');
  CHECK(log->read_at(0, text).value() == 100);
  const std::uint64_t size = log->info()->size;
  CHECK(log->read_at(size - 1, text).value() == 1);
  CHECK(log->read_at(size, text).value() == 0);
  CHECK(log->read_at(size + 1, text).value() == 0);
  CHECK_FALSE(log->write("x"));
  REQUIRE(purge_some(store.store).has_value());
  CHECK(is_not_found(log->read_at(size / 2, text).error()));
  CHECK(store.store.problems().empty());
}

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
  CHECK(list_entries(store.store, kAll).value().size() == kLifecycleEntries);
}

TEST_CASE("of a session that is no archive any more nothing stays unpacked") {
  for (const auto goes : {restore, delete_whole}) {
    LifecycleStore store;
    REQUIRE(archive(store.store).has_value());
    REQUIRE(list_entries(store.store, kAll).has_value());
    CHECK(store.store.packed.size() == 1);
    REQUIRE(goes(store.store).has_value());
    CHECK(store.store.packed.empty());
    CHECK(store.store.unpacked.size() == 0);
  }
}

}  // namespace bmad_mem::test::packed_session_test
