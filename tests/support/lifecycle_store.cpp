#include "support/lifecycle_store.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "operations/rooms.hpp"
#include "store/deletion_record.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/session_archive.hpp"
#include "store/sessions.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test {
namespace {

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status() : Status(result.error());
}

/// Makes `store` one over `disk`; the file system between them is returned.
FaultyFileSystem* put_on(MemoryFileSystem& disk, Store& store, std::chrono::milliseconds timeout) {
  auto faulty = std::make_unique<FaultyFileSystem>(disk);
  FaultyFileSystem* files = faulty.get();
  store.files = std::move(faulty);
  store.lock_timeout = timeout;
  store.config.privacy.deleted_retention_days = 30;
  return files;
}

}  // namespace

LifecycleStore::LifecycleStore() {
  disk.make_folders(kSessionsFolder);
  files = put_on(disk, store, std::chrono::milliseconds(1000));
  REQUIRE(create_session(store, {.session_id = "s1"}).has_value());
  for (int i = 1; i <= kLifecycleEntries; ++i) {
    lines.push_back(MemoryFixture::fact(fmt::format("f{}", i), fmt::format("text-{}", i)));
    const std::string_view line = lines.back();
    REQUIRE(add_lines(store, "s1", EntryType::kFact, {&line, 1}, {}).has_value());
  }
}

std::unique_ptr<Store> LifecycleStore::another_process() {
  auto other = std::make_unique<Store>(clock, all_rooms());
  put_on(disk, *other, std::chrono::milliseconds(0));
  return other;
}

std::ptrdiff_t LifecycleStore::in_log(const std::string& line) {
  const std::string path = session_file("s1", "facts.jsonl");
  const std::string log = disk.info(path) ? disk.read(path) : "";
  std::ptrdiff_t count = 0;
  for (std::size_t at = log.find(line + "\n"); at != std::string::npos;
       at = log.find(line + "\n", at + 1)) {
    ++count;
  }
  return count;
}

bool LifecycleStore::is_somewhere(const std::string& line) {
  const auto is_it = [&](const auto& each) { return each.line == line; };
  return in_log(line) > 0 || std::ranges::any_of(read_evicted(disk, "s1").value(), is_it) ||
         std::ranges::any_of(read_deleted(disk, "s1").value(), is_it) || is_packed(line);
}

std::vector<std::string> LifecycleStore::files_with(const std::string& text,
                                                    const std::string& folder) {
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

bool LifecycleStore::is_packed(const std::string& line) {
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

const std::vector<std::string>& some_ids() {
  static const std::vector<std::string> ids = {"f2", "f4"};
  return ids;
}

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
Status nothing(Store& /*store*/) { return {}; }

}  // namespace bmad_mem::test
