// session_deletion.cpp - whole sessions go under deleted/, come back, and go for good.
//
//   delete    lock root, session -> deletion-record.json, durable -> rename the folder
//   undelete  lock root -> rename it back -> deletion-record.json
//   purge     lock root -> the folder gets a name that is no session's -> remove it
#include <algorithm>

#include <fmt/format.h>

#include "deletion.hpp"
#include "lifecycle/evicted_file.hpp"
#include "lifecycle/session_archive.hpp"
#include "lifecycle/session_folder.hpp"
#include "privacy/audit_log.hpp"
#include "privacy/deletion_record.hpp"
#include "return_lines.hpp"
#include "storage/layout.hpp"
#include "storage/remove_tree.hpp"
#include "store.hpp"

namespace bmad_mem {
namespace {

Result<FileLock::Guard> lock_root(Store& store, FileLock& lock, std::string_view operation) {
  return lock.acquire(
      {.operation = operation, .agent_id = store.agent_id, .timeout = store.lock_timeout});
}

/// All ids that a session's logs hold.
Result<std::vector<std::string>> ids_of_session(FileSystem& files, const std::string& session_id) {
  std::vector<std::string> ids;
  for (const EntryType type : kEntryTypes) {
    BMAD_TRY_ASSIGN(const std::set<std::string> of_type, ids_in_log(files, session_id, type));
    ids.insert(ids.end(), of_type.begin(), of_type.end());
  }
  return ids;
}

Deletion new_deletion(Store& store, const std::string& session_id, std::uint64_t entries) {
  const Timestamp now = store.clock.now();
  return {.session_id = session_id,
          .deletion_id = store.ids.entry_id("del-"),
          .deleted_at = now,
          .expires_at = now + std::chrono::days(store.config.privacy.deleted_retention_days),
          .agent_id = store.agent_id,
          .whole_session = true,
          .entries = entries};
}

/// Moves the session's folder under deleted/. The caller holds the root's lock and the session's.
Status move_session(Store& store, const std::string& session_id, DeletionReport& report) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, ids_of_session(files, session_id));
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  const Deletion deletion = new_deletion(store, session_id, ids.size());
  record.deletions.push_back(deletion);
  BMAD_TRY(append_audit(files, {.at = deletion.deleted_at,
                                .session_id = session_id,
                                .agent_id = store.agent_id,
                                .action = "delete",
                                .count = ids.size(),
                                .detail = "the whole session"}));
  BMAD_TRY(save_deletion_record(files, record));
  BMAD_TRY(files.rename(session_folder(session_id),
                        deleted_session_folder(session_id, deletion.deletion_id)));
  BMAD_TRY(files.sync_directory(deleted_folder(session_id)));
  BMAD_TRY(files.sync_directory(kSessionsFolder));
  report.entries += ids.size();
  report.expires_at = deletion.expires_at;
  report.sessions_gone.push_back(session_id);
  return {};
}

/// Removes everything there is of a session but the record of what was purged. The caller holds the
/// root's lock and, for a live session, the session's.
Status destroy_session(Store& store, const std::string& session_id, DeletionReport& report) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  const bool is_live = files.info(session_folder(session_id)).has_value();
  std::uint64_t count = 0;
  if (is_live) {
    BMAD_TRY_ASSIGN(std::vector<std::string> ids, ids_of_session(files, session_id));
    count = ids.size();
    add_ids(record.purged_ids, std::move(ids));
  }
  for (const Deletion& deletion : record.deletions) {
    BMAD_TRY(remove_tree(files, deleted_session_folder(session_id, deletion.deletion_id)));
  }
  BMAD_TRY(replace_deleted(files, session_id, {}));
  record.deletions.clear();
  BMAD_TRY(save_deletion_record(files, record));
  if (is_live) {
    const std::string doomed = unfinished_session_folder(session_id);
    BMAD_TRY(remove_tree(files, doomed));
    BMAD_TRY(files.rename(session_folder(session_id), doomed));
    BMAD_TRY(files.sync_directory(kSessionsFolder));
    BMAD_TRY(remove_tree(files, doomed));
  }
  BMAD_TRY(remove_archive(files, session_id));
  BMAD_TRY(replace_evicted(files, session_id, {}));
  BMAD_TRY(make_deleted_folder(files, session_id));
  BMAD_TRY(append_audit(files, {.at = store.clock.now(),
                                .session_id = session_id,
                                .agent_id = store.agent_id,
                                .action = "purge",
                                .count = count,
                                .detail = "the whole session"}));
  report.entries += count;
  report.sessions_gone.push_back(session_id);
  return {};
}

/// Puts an archived session back first: what is deleted is a folder.
Status unpack_if_archived(Store& store, const std::string& session_id) {
  if (store.files->info(session_folder(session_id)) || !is_archived(store, session_id)) {
    return {};
  }
  const Result<Session> restored = restore_session(store, session_id);
  return restored ? Status() : Status(restored.error());
}

}  // namespace

Result<DeletionReport> delete_session(Store& store, const std::string& session_id,
                                      const DeleteOptions& options) {
  BMAD_TRY(check_session_id(session_id));
  FileSystem& files = *store.files;
  DeletionReport report;
  const bool is_known = options.purge && files.info(deletion_record_path(session_id)).has_value();
  if (!is_known && !is_archived(store, session_id)) {
    BMAD_TRY(check_session(store, session_id));
  }
  if (options.dry_run) {
    if (files.info(session_folder(session_id))) {
      BMAD_TRY_ASSIGN(const std::vector<std::string> ids, ids_of_session(files, session_id));
      report.entries = ids.size();
    }
    report.sessions_gone.push_back(session_id);
    return report;
  }
  BMAD_TRY(unpack_if_archived(store, session_id));
  {
    FileLock lock = store.root_lock();
    BMAD_TRY_ASSIGN(const FileLock::Guard root_guard, lock_root(store, lock, "delete"));
    std::optional<FileLock::Guard> guard;
    if (files.info(session_folder(session_id))) {
      BMAD_TRY_ASSIGN(guard, store.session(session_id).writer.lock("delete"));
    }
    BMAD_TRY(options.purge ? destroy_session(store, session_id, report)
                           : move_session(store, session_id, report));
  }
  store.forget_session(session_id);
  return report;
}

Status bring_back_session(Store& store, const std::string& session_id, UndeleteReport& report) {
  FileSystem& files = *store.files;
  FileLock lock = store.root_lock();
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, lock_root(store, lock, "undelete"));
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  const auto last = std::find_if(record.deletions.rbegin(), record.deletions.rend(),
                                 [](const Deletion& deletion) { return deletion.whole_session; });
  if (last == record.deletions.rend()) {
    return {};
  }
  const std::string folder = deleted_session_folder(session_id, last->deletion_id);
  if (files.info(folder)) {
    if (files.info(session_folder(session_id))) {
      return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                   .message = fmt::format("there is a new session {}; delete or rename it before "
                                          "the old one can come back",
                                          session_id),
                   .path = files.display_path(session_folder(session_id))};
    }
    BMAD_TRY(files.rename(folder, session_folder(session_id)));
    BMAD_TRY(files.sync_directory(kSessionsFolder));
    BMAD_TRY(files.sync_directory(deleted_folder(session_id)));
    BMAD_TRY(append_audit(files, {.at = store.clock.now(),
                                  .session_id = session_id,
                                  .agent_id = store.agent_id,
                                  .action = "undelete",
                                  .count = last->entries,
                                  .detail = "the whole session"}));
    report.sessions.push_back(session_id);
  }
  record.deletions.erase(std::next(last).base());
  return save_deletion_record(files, record);
}

namespace {

/// Removes for good what of one session was deleted and has expired.
Status purge_expired(Store& store, const std::string& session_id, Timestamp now,
                     DeletionReport& report) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  const auto is_due = [&](const Deletion& each) { return each.expires_at <= now; };
  if (std::ranges::none_of(record.deletions, is_due)) {
    return {};
  }
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> lines, read_deleted(files, session_id));
  std::vector<DeletedLine> left;
  std::vector<std::string> gone;
  JsonParser parser;
  for (DeletedLine& line : lines) {
    const auto deletion =
        std::ranges::find(record.deletions, line.deletion_id, &Deletion::deletion_id);
    if (deletion != record.deletions.end() && !is_due(*deletion)) {
      left.push_back(std::move(line));
    } else if (const Result<JsonValue> value = parser.parse(line.line); value) {
      gone.emplace_back((*value)["id"].string());
    }
  }
  for (const Deletion& deletion : record.deletions) {
    if (deletion.whole_session && is_due(deletion)) {
      BMAD_TRY(remove_tree(files, deleted_session_folder(session_id, deletion.deletion_id)));
      report.sessions_gone.push_back(session_id);
    }
  }
  const std::uint64_t count = lines.size() - left.size();
  BMAD_TRY(replace_deleted(files, session_id, left));
  std::erase_if(record.deletions, is_due);
  add_ids(record.purged_ids, gone);
  BMAD_TRY(save_deletion_record(files, record));
  report.entries += count;
  if (count > 0) {
    report.elsewhere.push_back(
        {.path = files.display_path(deleted_entries_path(session_id)), .lines = count});
  }
  return append_audit(files, {.at = store.clock.now(),
                              .session_id = session_id,
                              .agent_id = store.agent_id,
                              .action = "purge",
                              .count = count,
                              .ids = std::move(gone),
                              .detail = "what was deleted"});
}

}  // namespace

Result<DeletionReport> purge_deleted(Store& store, Timestamp now) {
  DeletionReport report;
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, sessions_with_deletions(*store.files));
  for (const std::string& session_id : sessions) {
    BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store.files, session_id));
    if (!record.purging.empty()) {  // A purge that was killed: go on with it.
      const DeletionCriteria criteria{.ids = record.purging, .sessions = {session_id}};
      BMAD_TRY_ASSIGN(const DeletionReport finished,
                      purge_entries(store, criteria, {.purge = true}));
      report.entries += finished.entries;
      std::ranges::copy(finished.elsewhere, std::back_inserter(report.elsewhere));
    }
    FileLock lock = store.root_lock();
    BMAD_TRY_ASSIGN(const FileLock::Guard root_guard, lock_root(store, lock, "purge"));
    std::optional<FileLock::Guard> guard;
    if (store.files->info(session_folder(session_id))) {
      BMAD_TRY_ASSIGN(guard, store.session(session_id).writer.lock("purge"));
    }
    BMAD_TRY(purge_expired(store, session_id, now, report));
  }
  return report;
}

}  // namespace bmad_mem
