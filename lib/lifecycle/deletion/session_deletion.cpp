// session_deletion.cpp - whole sessions go under deleted/, and for good; undelete.cpp brings them
// back.
//
//   delete    lock root, session -> deletion-record.json, durable -> rename the folder
//   purge     lock root, session -> deletion-record.json: a deletion that ends now, durable ->
//             rename the folder, or remove the archive -> the record goes through what has expired,
//             as every purge does
//
// A purge that was killed after the rename is finished by the next one; before it, the session is
// there as it was. The same holds for the removal.
#include <algorithm>
#include <cassert>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "deletion_steps.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "search/archive_reader.hpp"
#include "search/reads.hpp"
#include "search/root_index.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/session_archive.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// All ids that the logs in `folder` hold, sorted, each once.
Result<std::vector<std::string>> ids_in_folder(FileSystem& files, const std::string& folder) {
  std::vector<std::string> ids;
  const auto take = [&](const ScannedEntry& entry) { ids.emplace_back(entry_id(entry.value)); };
  BMAD_TRY(scan_logs(files, folder, {.on_entry = take, .on_encrypted = take}));
  add_ids(ids, {});
  return ids;
}

/// The same of a session, which may be archived or gone.
Result<std::vector<std::string>> ids_of_session(const Store& store, const std::string& session_id) {
  std::shared_ptr<FileSystem> archive;
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(*store.files, session_id));
  BMAD_TRY_ASSIGN(const bool has_archive, is_there(*store.files, archive_path(session_id)));
  if (!is_live && has_archive) {
    BMAD_TRY_ASSIGN(archive, archive_files(store, session_id));
  }
  return ids_in_folder(archive == nullptr ? *store.files : *archive, session_folder(session_id));
}

/// Moves the session's folder under deleted/. The caller holds the root's lock and the session's.
Status move_session(Store& store, const std::string& session_id, const std::string& reason,
                    DeletionReport& report) {
  FileSystem& files = *store.files;
  // The folder counts; an archive beside it is what a killed restore left, and must not take its
  // place.
  BMAD_TRY(remove_archive(files, session_id));
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids,
                  ids_in_folder(files, session_folder(session_id)));
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  const Deletion deletion = new_deletion(store, session_id, true, ids.size());
  record.deletions.push_back(deletion);
  BMAD_TRY(append_audit(
      files, {.at = deletion.deleted_at,
              .session_id = session_id,
              .agent_id = store.agent_id,
              .action = "delete",
              .count = ids.size(),
              .detail = reason.empty() ? "the whole session" : "the whole session, " + reason}));
  BMAD_TRY(save_deletion_record(files, record));
  const std::string deleted = deleted_session_folder(session_id, deletion.deletion_id);
  if (Status moved = rename_folder(files, session_folder(session_id), deleted); !moved) {
    if (!files.info(deleted)) {
      record.deletions.pop_back();  // It was not deleted.
      static_cast<void>(save_deletion_record(files, record));
    }
    return moved;
  }
  report.entries += ids.size();
  report.expires_at = deletion.expires_at;
  report.sessions_gone.push_back(session_id);
  return {};
}

/// Removes `ids` that are among the sorted `living`.
void drop_living(std::vector<std::string>& ids, const std::vector<std::string>& living) {
  assert(std::ranges::is_sorted(living));
  std::erase_if(ids, [&](const std::string& id) { return std::ranges::binary_search(living, id); });
}

/// Removes a deletion's folder, for each that is due; the ids in it are noted before, durable, but
/// for those of a session that was begun again.
Status remove_due_folders(FileSystem& files, DeletionRecord& record, const PurgeTime& time,
                          const std::vector<std::string>& living,
                          std::vector<std::string>& sessions_gone) {
  for (const Deletion& deletion : record.deletions) {
    if (deletion.whole_session && time.ends(deletion)) {
      BMAD_TRY_ASSIGN(
          std::vector<std::string> ids,
          ids_in_folder(files, deleted_session_folder(record.session_id, deletion.deletion_id)));
      drop_living(ids, living);
      if (!ids.empty()) {
        add_ids(record.purged_ids, std::move(ids));
        BMAD_TRY(save_deletion_record(files, record));
      }
      BMAD_TRY(remove_deleted_folder(files, record.session_id, deletion.deletion_id));
      add_ids(sessions_gone, {record.session_id});
    }
  }
  return {};
}

/// Whether nothing is left of the session that could be worked with or brought back at `time`.
Result<bool> is_gone(FileSystem& files, const DeletionRecord& record, const PurgeTime& time) {
  const bool had_session = std::ranges::any_of(record.deletions, &Deletion::whole_session);
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(files, record.session_id));
  BMAD_TRY_ASSIGN(const bool has_archive, is_there(files, archive_path(record.session_id)));
  return had_session && !is_live && !has_archive &&
         std::ranges::all_of(record.deletions, [&](const Deletion& deletion) {
           return !deletion.whole_session || time.ends(deletion);
         });
}

/// The ids of entries that the session has, evicted ones too.
Result<std::vector<std::string>> living_ids(const Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(std::vector<std::string> ids, ids_of_session(store, session_id));
  BMAD_TRY_ASSIGN(const std::vector<EvictedLine> evicted, read_evicted(*store.files, session_id));
  JsonParser parser;
  for (const EvictedLine& line : evicted) {
    ids.push_back(entry_id_in(parser, line.line));
  }
  add_ids(ids, {});
  return ids;
}

/// Removes for good what of one session was deleted and has ended at `time`, and what was
/// compacted away of a session that goes with it. Returns the ids of the lines; none when nothing
/// was due. The caller holds the root's lock and, for a live session, the session's.
Result<std::optional<std::vector<std::string>>> remove_expired(Store& store, DeletionRecord record,
                                                               const PurgeTime& time,
                                                               DeletionReport& report) {
  FileSystem& files = *store.files;
  const std::string session_id = record.session_id;
  BMAD_TRY(remove_leftovers(files, session_id));
  BMAD_TRY_ASSIGN(const bool all, is_gone(files, record, time));
  const auto is_due = [&](const Deletion& each) { return all || time.ends(each); };
  if (std::ranges::none_of(record.deletions, is_due)) {
    return std::optional<std::vector<std::string>>();
  }
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> lines, read_deleted(files, session_id));
  std::vector<DeletedLine> left;
  std::vector<std::string> gone;
  JsonParser parser;
  for (DeletedLine& line : lines) {
    const auto deletion = std::ranges::find_if(
        record.deletions, [&](const Deletion& each) { return line.is_of(each.deletion_id); });
    const bool is_known = deletion != record.deletions.end();
    // Nobody knows when a damaged line without a deletion is due, until all goes.
    if ((is_known && !is_due(*deletion)) || (!is_known && line.is_damaged && !all)) {
      left.push_back(std::move(line));
    } else if (const Result<JsonValue> value = parser.parse(line.line);
               value && deletion != record.deletions.end()) {
      // Without a deletion it is the beginning of one that was killed: the entry is in its log.
      gone.emplace_back((*value)["id"].string());
    }
  }
  std::vector<std::string> living;
  if (!all) {
    // A merge or a hub may have kept another version, which somebody wrote while this was deleted.
    BMAD_TRY_ASSIGN(living, living_ids(store, session_id));
    drop_living(gone, living);
  }
  BMAD_TRY(store.root_index->remove({&session_id, 1}));
  BMAD_TRY(remove_due_folders(files, record, time, living, report.sessions_gone));
  BMAD_TRY(replace_deleted(files, session_id, left));
  if (all) {
    BMAD_TRY(remove_archive(files, session_id));
    BMAD_TRY(replace_evicted(files, session_id, {}));
  }
  std::erase_if(record.deletions, is_due);
  add_ids(record.purged_ids, gone);
  BMAD_TRY(save_deletion_record(files, record));
  BMAD_TRY(make_deleted_folder(files, session_id));
  assert(left.size() <= lines.size());
  const std::uint64_t count = lines.size() - left.size();
  report.entries += count;
  add_count(report.elsewhere, files, deleted_entries_path(session_id), count);
  return std::optional(std::move(gone));
}

/// Moves the session's folder to where remove_expired() finds it, or removes the archive, and never
/// unpacks it on the disk, which may be full. Returns how many entries it had.
Result<std::uint64_t> doom_session(Store& store, const std::string& session_id, bool is_live,
                                   DeletionRecord& record) {
  FileSystem& files = *store.files;
  BMAD_TRY(is_live ? remove_archive(files, session_id) : Status());  // The folder counts.
  BMAD_TRY_ASSIGN(std::vector<std::string> ids, ids_of_session(store, session_id));
  const std::uint64_t count = ids.size();
  add_ids(record.purged_ids, std::move(ids));
  Deletion& deletion =
      record.deletions.emplace_back(new_deletion(store, session_id, /*whole_session=*/true, count));
  deletion.expires_at = deletion.deleted_at;
  // A full disk has room for the record when the archive has gone.
  const Status noted = save_deletion_record(files, record);
  if (!noted && (is_live || noted.error().code != ErrorCode::E_STORAGE_FULL)) {
    return noted.error();
  }
  BMAD_TRY(is_live ? rename_folder(files, session_folder(session_id),
                                   deleted_session_folder(session_id, deletion.deletion_id))
                   : remove_archive(files, session_id));
  return count;
}

/// Removes everything there is of a session but the record of what was purged. The caller holds the
/// root's lock and, for a live session, the session's.
Status destroy_session(Store& store, const std::string& session_id, DeletionReport& report) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(files, session_id));
  BMAD_TRY_ASSIGN(const bool has_archive, is_there(files, archive_path(session_id)));
  // What was deleted before under the same id goes, too.
  std::vector<std::string> before;
  for (const Deletion& deletion : record.deletions) {
    if (deletion.whole_session) {
      BMAD_TRY_ASSIGN(
          std::vector<std::string> ids,
          ids_in_folder(files, deleted_session_folder(session_id, deletion.deletion_id)));
      add_ids(before, std::move(ids));
    }
  }
  std::uint64_t count = 0;
  if (is_live || has_archive) {
    BMAD_TRY_ASSIGN(count, doom_session(store, session_id, is_live, record));
  }
  count += static_cast<std::uint64_t>(std::ranges::count_if(
      before, [&](const std::string& id) { return !is_among(record.purged_ids, id); }));
  // Not before the folder has gone: until then a crash leaves everything as it was.
  for (Deletion& deletion : record.deletions) {
    deletion.expires_at = std::min(deletion.expires_at, deletion.deleted_at);
  }
  BMAD_TRY(save_deletion_record(files, record));
  DeletionReport rest;
  BMAD_TRY(remove_expired(store, record, {.now = Timestamp::max()}, rest));
  BMAD_TRY(replace_evicted(files, session_id, {}));
  BMAD_TRY(make_deleted_folder(files, session_id));
  BMAD_TRY(append_audit(store, {.session_id = session_id,
                                .action = "purge",
                                .count = count,
                                .detail = "the whole session"}));
  report.entries += count;
  report.sessions_gone.push_back(session_id);
  return {};
}

/// Puts an archived session back first: what is deleted, and may come back, is a folder. So is what
/// the archive of a session holds that is a folder, too.
Status unpack_if_archived(Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const bool has_archive, is_there(*store.files, archive_path(session_id)));
  if (!has_archive) {
    return {};
  }
  const Result<Session> restored = restore_session(store, session_id);
  const bool is_back = restored || restored.error().code == ErrorCode::E_CONCURRENT_MOD;
  return is_back ? Status() : Status(restored.error());
}

Status purge_expired(Store& store, const std::string& session_id, const PurgeTime& time,
                     DeletionReport& report) {
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(*store.files, session_id));
  const std::uint64_t before = report.entries;
  BMAD_TRY_ASSIGN(std::optional<std::vector<std::string>> ids,
                  remove_expired(store, std::move(record), time, report));
  if (!ids) {
    return {};
  }
  return append_audit(store, {.session_id = session_id,
                              .action = "purge",
                              .count = report.entries - before,
                              .ids = std::move(*ids),
                              .detail = "what was deleted"});
}

/// Removes for good what an artifact has beside its line, of those that were deleted and have
/// ended: the document, in the session's folder or in its archive. One whose id is in use stays.
Status purge_documents(Store& store, const DeletionRecord& record, const PurgeTime& time,
                       DeletionReport& report) {
  const auto is_due = [&](const Deletion& each) { return !each.whole_session && time.ends(each); };
  if (std::ranges::none_of(record.deletions, is_due)) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> lines,
                  read_deleted(*store.files, record.session_id));
  std::vector<std::string> ids;
  JsonParser parser;
  for (const DeletedLine& line : lines) {
    const Result<JsonValue> value = parser.parse(line.line);
    if (!line.is_damaged && line.type == EntryType::kArtifact && value &&
        std::ranges::any_of(record.deletions, [&](const Deletion& each) {
          return is_due(each) && line.is_of(each.deletion_id);
        })) {
      ids.emplace_back(entry_id(*value));
    }
  }
  if (ids.empty()) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> in_use, find_entries(store, ids, {}, false));
  for (const Entry& entry : in_use) {
    if (entry.session_id == record.session_id) {
      std::erase(ids, entry.id);
    }
  }
  if (ids.empty()) {
    return {};
  }
  const DeletionCriteria criteria{.ids = std::move(ids), .sessions = {record.session_id}};
  BMAD_TRY_ASSIGN(const DeletionReport purged,
                  purge_entries(store, criteria, {.purge = true}, "what was deleted"));
  for (const FileCount& file : purged.elsewhere) {
    report.entries += file.lines;
    report.elsewhere.push_back(file);
  }
  return {};
}

}  // namespace

Result<DeletionReport> delete_session(Store& store, const std::string& session_id,
                                      const DeleteOptions& options) {
  BMAD_TRY(check_session_id(session_id));
  BMAD_TRY(check_may_delete(
      store, {.sessions = {session_id}, .types = {EntryType::kFact, EntryType::kPreference}}));
  FileSystem& files = *store.files;
  DeletionReport report;
  const bool is_known = options.purge && files.info(deletion_record_path(session_id)).has_value();
  if (!is_known && !is_archived(store, session_id)) {
    BMAD_TRY(check_session(store, session_id));
  }
  if (options.dry_run) {
    BMAD_TRY_ASSIGN(const std::vector<std::string> ids, ids_of_session(store, session_id));
    report.entries = ids.size();
    report.sessions_gone.push_back(session_id);
    return report;
  }
  const ViewsDropped views(store);
  BMAD_TRY(views.status());
  if (!options.purge) {
    BMAD_TRY(unpack_if_archived(store, session_id));
  }
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard root_guard, store.lock_root("delete"));
    std::optional<FileLock::Guard> guard;
    if (files.info(session_folder(session_id))) {
      BMAD_TRY_ASSIGN(guard, store.lock_session(session_id, "delete"));
    }
    BMAD_TRY(options.purge ? destroy_session(store, session_id, report)
                           : move_session(store, session_id, options.reason, report));
  }
  store.forget_session(session_id);
  if (options.purge) {
    const auto goes = [&](std::string_view session, auto&&...) { return session == session_id; };
    BMAD_TRY(drop_waiting(store, goes, /*dry_run=*/false));
  }
  return report;
}

Result<bool> delete_whole_session(Store& store, const std::string& session_id,
                                  const std::string& reason,
                                  const std::function<Result<bool>()>& goes) {
  FileSystem& files = *store.files;
  const ViewsDropped views(store);
  BMAD_TRY(views.status());
  bool is_gone = false;
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard root_guard, store.lock_root("delete"));
    BMAD_TRY_ASSIGN(const bool is_live, is_session_there(files, session_id));
    if (!is_live && !is_archived(store, session_id)) {
      return false;
    }
    if (!is_live) {
      BMAD_TRY_ASSIGN(const std::vector<ArchivedFile> members,
                      read_session_archive(files, session_id));
      BMAD_TRY(remove_unfinished_sessions(store));
      BMAD_TRY(clear_remains(store, session_id));
      BMAD_TRY(unpack_session_archive(files, session_id, members));
    }
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "delete"));
    BMAD_TRY_ASSIGN(is_gone, goes());  // Somebody may have written to it by now.
    DeletionReport report;
    BMAD_TRY(is_gone   ? move_session(store, session_id, reason, report)
             : is_live ? Status()
                       : remove_archive(files, session_id));
  }
  store.forget_session(session_id);
  return is_gone;
}

bool PurgeTime::ends(const Deletion& deletion) const {
  const auto length = deletion.expires_at - deletion.deleted_at;
  if (now == Timestamp::max() || length.count() <= 0) {
    return true;  // Or one that was purged, and was killed then.
  }
  if (graces == nullptr) {
    return deletion.expires_at <= now;
  }
  const auto since = graces->find(deletion.deletion_id);
  return since != graces->end() && since->second + length <= now;
}

Result<DeletionReport> purge_deleted(Store& store, const PurgeTime& time) {
  DeletionReport report;
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, sessions_with_deletions(*store.files));
  for (const std::string& session_id : sessions) {
    BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store.files, session_id));
    if (!record.purging.empty()) {  // A purge that was killed: go on with it.
      const ViewsDropped views(store);
      const DeletionCriteria criteria{.ids = record.purging, .sessions = {session_id}};
      BMAD_TRY_ASSIGN(const DeletionReport finished,
                      purge_entries(store, criteria, {.purge = true}));
      report.entries += finished.entries;
      std::ranges::copy(finished.elsewhere, std::back_inserter(report.elsewhere));
    }
    BMAD_TRY(purge_documents(store, record, time, report));
    BMAD_TRY_ASSIGN(const FileLock::Guard root_guard, store.lock_root("purge"));
    std::optional<FileLock::Guard> guard;
    if (store.files->info(session_folder(session_id))) {
      BMAD_TRY_ASSIGN(guard, store.lock_session(session_id, "purge"));
    }
    BMAD_TRY(purge_expired(store, session_id, time, report));
  }
  // With a session that went for good goes what waits for it. One that is on another branch is not
  // among these.
  std::vector<std::string> gone = report.sessions_gone;
  std::erase_if(gone, [&](const std::string& id) {
    return store.files->info(session_folder(id)).has_value();  // Begun anew.
  });
  if (!gone.empty()) {
    const auto is_of_gone = [&](std::string_view id, auto&&...) { return is_among(gone, id); };
    BMAD_TRY(drop_waiting(store, is_of_gone, /*dry_run=*/false));
  }
  return report;
}

}  // namespace bmad_mem
