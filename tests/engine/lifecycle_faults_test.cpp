// lifecycle_faults_test.cpp - the life cycle over a disk that fails or is full: an error or a
// success, and never an entry less.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "engine/memory_fixture.hpp"
#include "engine/store.hpp"
#include "lifecycle/evicted_file.hpp"
#include "lifecycle/session_archive.hpp"
#include "privacy/deleted_entries.hpp"
#include "privacy/deletion_record.hpp"
#include "storage/layout.hpp"
#include "support/faulty_file_system.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test {
namespace {

constexpr int kEntries = 6;

/// A session of six facts over a disk in memory whose calls can be made to fail.
class LifecycleStore {
 public:
  LifecycleStore() {
    disk.make_folders(kSessionsFolder);
    auto faulty = std::make_unique<FaultyFileSystem>(disk);
    files = faulty.get();
    store.files = std::move(faulty);
    store.lock_timeout = std::chrono::milliseconds(1000);
    store.config.privacy.deleted_retention_days = 30;
    REQUIRE(create_session(store, {.session_id = "s1"}).has_value());
    for (int i = 1; i <= kEntries; ++i) {
      lines.push_back(MemoryFixture::fact(fmt::format("f{}", i), fmt::format("text-{}", i)));
      const std::string_view line = lines.back();
      REQUIRE(add_lines(store, "s1", EntryType::kFact, {&line, 1}, {}).has_value());
    }
  }

  /// How often `line` is in the log.
  std::ptrdiff_t in_log(const std::string& line) {
    const std::string path = session_file("s1", "facts.jsonl");
    const std::string log = disk.info(path) ? disk.read(path) : "";
    std::ptrdiff_t count = 0;
    for (std::size_t at = log.find(line + "\n"); at != std::string::npos;
         at = log.find(line + "\n", at + 1)) {
      ++count;
    }
    return count;
  }

  /// Whether `line` can be had from somewhere: in the log, among the evicted or deleted ones, or in
  /// the folder or archive of the session.
  bool is_somewhere(const std::string& line) {
    const auto is_it = [&](const auto& each) { return each.line == line; };
    return in_log(line) > 0 || std::ranges::any_of(read_evicted(disk, "s1").value(), is_it) ||
           std::ranges::any_of(read_deleted(disk, "s1").value(), is_it) || is_packed(line);
  }

  /// The files of the disk that hold `text`.
  std::vector<std::string> files_with(const std::string& text, const std::string& folder = "") {
    std::vector<std::string> found;
    const std::vector<std::string> names = disk.list(folder).value();
    for (const std::string& name : names) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      if (disk.info(path).value().kind == FileKind::kDirectory) {
        std::ranges::move(files_with(text, path), std::back_inserter(found));
      } else if (disk.read(path).find(text) != std::string::npos) {
        found.push_back(path);
      }
    }
    return found;
  }

  MemoryFileSystem disk;
  FaultyFileSystem* files = nullptr;
  ManualClock clock;
  Store store{clock};
  std::vector<std::string> lines;

 private:
  bool is_packed(const std::string& line) {
    const Result<std::vector<ArchivedFile>> archived = read_session_archive(disk, "s1");
    if (archived && std::ranges::any_of(*archived, [&](const ArchivedFile& file) {
          return file.bytes.find(line) != std::string::npos;
        })) {
      return true;
    }
    const DeletionRecord record = load_deletion_record(disk, "s1").value();
    for (const Deletion& deletion : record.deletions) {
      const std::string path = deleted_session_folder("s1", deletion.deletion_id) + "/facts.jsonl";
      if (disk.info(path) && disk.read(path).find(line) != std::string::npos) {
        return true;
      }
    }
    return false;
  }
};

const std::vector<std::string>& some_ids() {
  static const std::vector<std::string> ids = {"f2", "f4"};
  return ids;
}

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(result.error());
}

// What can be done with a session, one after the other way round.
Status compact(Store& store) {
  return status_of(compact_session(store, "s1", {.keep_share = 0.5}));
}
Status restore_evicted(Store& store) { return status_of(restore_evicted_entries(store, "s1", {})); }
Status archive(Store& store) { return status_of(archive_session(store, "s1")); }
Status restore(Store& store) { return status_of(restore_session(store, "s1")); }
Status delete_whole(Store& store) { return status_of(delete_session(store, "s1", {})); }
Status undelete_all(Store& store) { return status_of(undelete(store, {.sessions = {"s1"}})); }
Status delete_some(Store& store) {
  return status_of(delete_entries(store, {.ids = some_ids()}, {}));
}
Status purge_some(Store& store) {
  return status_of(delete_entries(store, {.ids = some_ids()}, {.purge = true}));
}
Status age(Store& store) { return status_of(age_sessions(store, {}, std::nullopt, true)); }
Status nothing(Store& /*store*/) { return {}; }

struct Work {
  const char* name;
  Status (*prepare)(Store&);
  Status (*run)(Store&);
  Status (*way_back)(Store&);
};

constexpr Work kWorks[] = {
    {"compact", nothing, compact, restore_evicted},
    {"restore evicted", compact, restore_evicted, nothing},
    {"archive", nothing, archive, restore},
    {"restore", archive, restore, nothing},
    {"delete a session", nothing, delete_whole, undelete_all},
    {"delete an archived session", archive, delete_whole, undelete_all},
    {"undelete a session", delete_whole, undelete_all, nothing},
    {"delete entries", nothing, delete_some, undelete_all},
    {"undelete entries", delete_some, undelete_all, nothing},
};

/// The calls that `work` makes when nothing fails.
std::vector<std::string> calls_of(const Work& work) {
  LifecycleStore reference;
  REQUIRE(work.prepare(reference.store).has_value());
  reference.files->clear_log();
  REQUIRE(work.run(reference.store).has_value());
  return reference.files->log();
}

/// A full disk: nothing grows, and nothing new is made.
void fill(FaultyFileSystem& files) {
  files.fail({.operation = Operation::kWrite, .error_number = ENOSPC, .from_then_on = true});
}

}  // namespace

TEST_CASE("whichever call fails, every entry is somewhere, and in its log once in the end") {
  for (const Work& work : kWorks) {
    const std::string name = work.name;
    CAPTURE(name);
    const std::vector<std::string> calls = calls_of(work);
    CHECK(calls.size() > 10);
    for (std::size_t nth = 0; nth < calls.size(); ++nth) {
      CAPTURE(calls[nth]);
      LifecycleStore store;
      REQUIRE(work.prepare(store.store).has_value());
      store.files->fail(fault_at(calls, nth));
      static_cast<void>(work.run(store.store));
      store.files->heal();
      for (const std::string& line : store.lines) {
        CHECK(store.is_somewhere(line));
      }
      static_cast<void>(work.run(store.store));  // It may be done, and then says so.
      const Status back = work.way_back(store.store);
      CHECK(back.has_value());
      for (const std::string& line : store.lines) {
        CHECK(store.in_log(line) == 1);
      }
      CHECK(verify_store(store.store, {}, {}).value().findings.empty());
    }
  }
}

TEST_CASE("whichever call fails while entries are aged, each is in its log once") {
  const std::vector<std::string> calls = calls_of({"decay", nothing, age, nothing});
  for (std::size_t nth = 0; nth < calls.size(); ++nth) {
    CAPTURE(calls[nth]);
    LifecycleStore store;
    store.files->fail(fault_at(calls, nth));
    static_cast<void>(age(store.store));
    store.files->heal();
    REQUIRE(age(store.store).has_value());
    CHECK(read_entries(store.store, {}, {}, true).value().size() == kEntries);
    CHECK(verify_store(store.store, {}, {}).value().findings.empty());
  }
}

TEST_CASE("whichever call fails during a purge, the next one leaves nothing, and the rest stays") {
  for (const auto prepare : {nothing, compact, delete_some}) {
    const std::vector<std::string> calls = calls_of({"purge", prepare, purge_some, nothing});
    for (std::size_t nth = 0; nth < calls.size(); ++nth) {
      CAPTURE(calls[nth]);
      LifecycleStore store;
      REQUIRE(prepare(store.store).has_value());
      store.files->fail(fault_at(calls, nth));
      static_cast<void>(purge_some(store.store));
      store.files->heal();
      REQUIRE(purge_deleted(store.store, store.clock.now()).has_value());
      REQUIRE(purge_some(store.store).has_value());
      for (const std::string& id : some_ids()) {
        const std::string& line = store.lines[static_cast<std::size_t>(id[1] - '1')];
        CHECK_FALSE(store.is_somewhere(line));
        CHECK(store.files_with("text-" + id.substr(1)).empty());
      }
      CHECK(store.is_somewhere(store.lines[0]));
      CHECK(store.is_somewhere(store.lines[4]));
      CHECK(verify_store(store.store, {}, {}).value().findings.empty());
    }
  }
}

TEST_CASE("a purge takes away what killed operations began to write") {
  LifecycleStore store;
  REQUIRE(delete_some(store.store).has_value());
  REQUIRE(undelete(store.store, {.ids = some_ids()}).has_value());
  const std::string torn = deleted_entries_path("s1");
  const std::vector<std::string> left = {torn,
                                         "deleted/s1/entries.jsonl.tmp",
                                         "archive/s1.tar.gz.tmp",
                                         "archive/s1.evicted.jsonl.gz.tmp",
                                         "shared/kept/s1.jsonl.tmp",
                                         "sessions/.s1.tmp/facts.jsonl"};
  for (const char* folder : {"archive", "shared/kept", "sessions/.s1.tmp", "deleted/s1"}) {
    store.disk.make_folders(folder);
  }
  for (const std::string& path : left) {
    store.disk.write(path, store.lines[1]);  // Torn: without a newline.
  }
  REQUIRE(purge_some(store.store).has_value());
  CHECK(store.files_with("text-2").empty());
}

TEST_CASE("on a full disk what makes a copy fails and changes nothing") {
  for (const Work& work : kWorks) {
    const std::string name = work.name;
    CAPTURE(name);
    LifecycleStore store;
    REQUIRE(work.prepare(store.store).has_value());
    std::vector<std::ptrdiff_t> before;
    for (const std::string& line : store.lines) {
      before.push_back(store.in_log(line));
    }
    fill(*store.files);
    const Status done = work.run(store.store);
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().code == ErrorCode::E_STORAGE_FULL);
    for (std::size_t i = 0; i < store.lines.size(); ++i) {
      CAPTURE(store.lines[i]);
      if (std::string_view(work.name) != "undelete a session") {  // Its folder is back by then.
        CHECK(store.in_log(store.lines[i]) == before[i]);
      }
      CHECK(store.is_somewhere(store.lines[i]));
    }
    store.files->heal();
    static_cast<void>(work.run(store.store));
    CHECK(work.way_back(store.store).has_value());
    for (const std::string& line : store.lines) {
      CHECK(store.in_log(line) == 1);
    }
  }
}

TEST_CASE("a full disk keeps nobody from purging: lines become blanks in their place") {
  LifecycleStore store;
  fill(*store.files);
  const Status purged = purge_some(store.store);
  REQUIRE(purged.has_value());
  CHECK(store.files_with("text-2").empty());
  CHECK(store.files_with("text-4").empty());
  CHECK(store.in_log(store.lines[0]) == 1);
  CHECK(store.in_log(store.lines[5]) == 1);
  store.files->heal();
  CHECK(verify_store(store.store, {}, {}).value().findings.empty());
  CHECK(read_entries(store.store, {}, {}, true).value().size() == kEntries - 2);
}

}  // namespace bmad_mem::test
