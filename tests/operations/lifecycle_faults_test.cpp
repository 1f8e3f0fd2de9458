// lifecycle_faults_test.cpp - the life cycle over a disk that fails or is full: an error or a
// success, and never an entry less.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "search/reads.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/lifecycle_store.hpp"

namespace bmad_mem::test::lifecycle_faults_test {
namespace {

Status age(Store& store) {
  const Result<std::vector<DecayReport>> aged = age_sessions(store, {}, std::nullopt, true);
  return aged ? Status() : Status(aged.error());
}

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

/// What a disk answers that fails, is full, or gives this user no more.
constexpr int kDiskErrors[] = {EIO, ENOSPC, EDQUOT};

/// A full disk: nothing grows, and nothing new is made.
void fill(FaultyFileSystem& files) {
  files.fail({.operation = Operation::kWrite, .error_number = ENOSPC, .from_then_on = true});
}

/// All that can happen to `work` when one call fails.
void check_one_failure(const Work& work, const Fault& fault) {
  LifecycleStore store;
  REQUIRE(work.prepare(store.store).has_value());
  store.files->fail(fault);
  static_cast<void>(work.run(store.store));
  store.files->heal();
  for (const std::string& line : store.lines) {
    CHECK(store.is_somewhere(line));
  }
  static_cast<void>(work.run(store.store));  // It may be done, and then says so.
  CHECK(work.way_back(store.store).has_value());
  for (const std::string& line : store.lines) {
    CHECK(store.in_log(line) == 1);
  }
  CHECK(verify_store(store.store, {}, {}).value().findings.empty());
}

}  // namespace

TEST_CASE("whichever call fails, every entry is somewhere, and in its log once in the end") {
  for (const Work& work : kWorks) {
    const std::string name = work.name;
    CAPTURE(name);
    const std::vector<std::string> calls = calls_of(work);
    CHECK(calls.size() > 10);
    for (const int error : kDiskErrors) {
      for (std::size_t nth = 0; nth < calls.size(); ++nth) {
        CAPTURE(calls[nth]);
        CAPTURE(error);
        check_one_failure(work, fault_at(calls, nth, error));
      }
    }
  }
}

TEST_CASE("a folder that the system can't rename, as one of an image, is copied and removed") {
  struct Row {
    Work work;
    const char* folder;
  };
  static constexpr Row kRows[] = {
      {{"archive", nothing, archive, restore}, ".s1.tmp"},
      {{"delete", nothing, delete_whole, undelete_all}, "deleted/s1/del-"},
      {{"undelete", delete_whole, undelete_all, nothing}, "deleted/s1/del-"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.work.name);
    LifecycleStore store;
    REQUIRE(row.work.prepare(store.store).has_value());
    store.files->fail(
        {.operation = Operation::kRename, .error_number = EXDEV, .path_part = row.folder});
    CHECK(row.work.run(store.store).has_value());
    store.files->heal();
    const bool is_live = std::string_view(row.work.name) == "undelete";
    CHECK(store.disk.info("sessions/s1").has_value() == is_live);
    CHECK(row.work.way_back(store.store).has_value());
    for (const std::string& line : store.lines) {
      CHECK(store.in_log(line) == 1);
    }
    CHECK(store.files_with("text-1").size() == 1);
    CHECK(verify_store(store.store, {}, {}).value().findings.empty());
  }
}

TEST_CASE("a folder that can be neither renamed nor copied leaves the session as it was") {
  for (const auto work : {archive, delete_whole}) {
    LifecycleStore store;
    const std::vector<std::string> before = store.files_with("text-1");
    store.files->fail(
        {.operation = Operation::kRename, .error_number = EACCES, .path_part = ".s1.tmp"});
    store.files->fail(
        {.operation = Operation::kRename, .error_number = EXDEV, .path_part = "deleted/s1/del-"});
    store.files->fail(
        {.operation = Operation::kOpen, .error_number = EIO, .path_part = "deleted/s1/.del-"});
    CHECK_FALSE(work(store.store).has_value());
    store.files->heal();
    CHECK(store.files_with("text-1") == before);
    CHECK(list_deletions(store.store).value().empty());
    CHECK(list_archived(store.store).value().empty());
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
    CHECK(read_entries(store.store, {}, {}, true).value().size() == kLifecycleEntries);
    CHECK(verify_store(store.store, {}, {}).value().findings.empty());
  }
}

TEST_CASE("whichever call fails during a purge, the next one leaves nothing, and the rest stays") {
  for (const auto prepare : {nothing, compact, delete_some}) {
    const std::vector<std::string> calls = calls_of({"purge", prepare, purge_some, nothing});
    for (std::size_t i = 0; i < calls.size() * std::size(kDiskErrors); ++i) {
      const std::size_t nth = i % calls.size();
      CAPTURE(calls[nth]);
      CAPTURE(kDiskErrors[i / calls.size()]);
      LifecycleStore store;
      REQUIRE(prepare(store.store).has_value());
      store.files->fail(fault_at(calls, nth, kDiskErrors[i / calls.size()]));
      static_cast<void>(purge_some(store.store));
      store.files->heal();
      REQUIRE(purge_deleted(store.store, {.now = store.clock.now()}).has_value());
      REQUIRE(purge_some(store.store).has_value());
      for (std::size_t at = 0; at < store.lines.size(); ++at) {
        const std::string number = std::to_string(at + 1);
        const bool was_purged = std::ranges::find(some_ids(), "f" + number) != some_ids().end();
        CHECK(store.is_somewhere(store.lines[at]) != was_purged);
        CHECK(
            (!was_purged || store.files_with("text-" + number).empty()));  // Others may be packed.
      }
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

TEST_CASE(
    "a deletion that is refused for want of room has deleted nothing, wherever the room ended") {
  int refused = 0;
  for (std::size_t nth = 1; nth < 20; ++nth) {
    CAPTURE(nth);
    LifecycleStore store;
    store.files->fail(
        {.operation = Operation::kWrite, .nth = nth, .error_number = ENOSPC, .from_then_on = true});
    if (!delete_some(store.store)) {
      ++refused;
      for (const std::string& line : store.lines) {
        CHECK(store.in_log(line) == 1);
      }
    }
  }
  CHECK(refused > 2);
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
  CHECK(read_entries(store.store, {}, {}, true).value().size() == kLifecycleEntries - 2);
}

TEST_CASE("an archived session is purged on a disk that is full until its archive has gone") {
  LifecycleStore store;
  REQUIRE(archive(store.store).has_value());
  const DeletionReport planned =
      delete_session(store.store, "s1", {.dry_run = true, .purge = true}).value();
  CHECK(planned.entries == kLifecycleEntries);
  fill(*store.files);
  store.files->meanwhile({.operation = Operation::kRemove, .path_part = "s1.tar.gz"},
                         [&] { store.files->heal(); });
  const Result<DeletionReport> purged = delete_session(store.store, "s1", {.purge = true});
  REQUIRE(purged.has_value());
  CHECK(purged->entries == kLifecycleEntries);
  CHECK(purged->sessions_gone == std::vector<std::string>{"s1"});
  CHECK(store.files_with("text-").empty());
  CHECK(store.store.packed.empty());
  const DeletionRecord record = load_deletion_record(store.disk, "s1").value();
  CHECK(record.purged_ids.size() == kLifecycleEntries);
  CHECK(record.deletions.empty());
}

TEST_CASE("whichever call fails while an archived session is purged, the next one leaves nothing") {
  const auto purge = [](Store& store) -> Status {
    BMAD_TRY(delete_session(store, "s1", {.purge = true}));
    return {};
  };
  const std::vector<std::string> calls = calls_of({"purge", archive, purge, nothing});
  for (std::size_t nth = 0; nth < calls.size(); ++nth) {
    CAPTURE(calls[nth]);
    LifecycleStore store;
    REQUIRE(archive(store.store).has_value());
    store.files->fail(fault_at(calls, nth));
    const Status done = purge(store.store);
    store.files->heal();
    CHECK((done.has_value() || purge(store.store).has_value()));
    CHECK(store.files_with("text-").empty());
    CHECK(load_deletion_record(store.disk, "s1").value().purged_ids.size() == kLifecycleEntries);
  }
}

}  // namespace bmad_mem::test::lifecycle_faults_test
