// undelete.cpp - what was deleted comes back while it can.
//
//   deleted session -> its folder; deleted lines -> logs -> deleted/ without them -> audit -> index
#include <algorithm>
#include <cassert>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "deletion_steps.hpp"
#include "knowledge/summary_file.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "search/indexing.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/return_lines.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Names the damaged lines that may be among those that were asked for; they stay where they are.
void name_damaged(const FileSystem& files, const std::string& session_id,
                  std::span<const DeletedLine> lines, std::span<const std::string> ids,
                  UndeleteReport& report) {
  for (const DeletedLine& line : lines) {
    const auto is_in_it = [&](const std::string& id) { return line.line.contains(id); };
    if (line.is_damaged && (ids.empty() || std::ranges::any_of(ids, is_in_it))) {
      report.damaged.push_back({.code = ErrorCode::E_STORAGE_CORRUPT,
                                .message = "is no deleted line and stays where it is; correct it "
                                           "by hand, then bring it back again",
                                .path = files.display_path(deleted_entries_path(session_id)),
                                .line = line.number});
    }
  }
}

/// Puts lines of deletions back. The caller holds the session's lock, `guard`.
Status bring_back_deleted(Store& store, const std::string& session_id, const FileLock::Guard& guard,
                          std::span<const std::string> ids, UndeleteReport& report) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> lines, read_deleted(files, session_id));
  if (lines.empty()) {
    return {};
  }
  std::ranges::stable_sort(lines, {}, [](const DeletedLine& line) {  // The newest version last.
    return std::pair(line.deleted_at, !line.was_evicted);
  });
  const std::vector<ReturningLine> returning = mapped_if(
      lines, [](const DeletedLine& line) { return !line.is_damaged; },
      [](const DeletedLine& line) { return ReturningLine{.type = line.type, .line = line.line}; });
  BMAD_TRY_ASSIGN(const EntryIds evicted, evicted_ids(store, session_id));  // These are newer.
  BMAD_TRY_ASSIGN(ReturnOutcome outcome,
                  bring_back_lines(store, session_id, guard, returning, ids, evicted));
  assert(outcome.is_back.size() == returning.size());
  std::ranges::move(outcome.in_use_ids, std::back_inserter(report.left_behind));
  name_damaged(files, session_id, lines, ids, report);
  std::vector<DeletedLine> left;
  std::size_t good = 0;
  for (DeletedLine& line : lines) {
    if (line.is_damaged || !outcome.is_back[good++]) {
      left.push_back(line);
    }
  }
  assert(good == returning.size());
  const std::uint64_t count = lines.size() - left.size();
  if (count == 0) {
    return {};
  }
  report.lines += count;
  BMAD_TRY(replace_deleted_lines(files, session_id, left));
  return append_audit(store, {.session_id = session_id,
                              .action = "undelete",
                              .count = count,
                              .ids = std::vector<std::string>(ids.begin(), ids.end())});
}

/// The ids of the entries of which lines are deleted, damaged ones left out.
Result<std::vector<std::string>> deleted_ids(FileSystem& files, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> lines, read_deleted(files, session_id));
  std::vector<std::string> ids;
  JsonParser parser;
  for (const DeletedLine& line : lines) {
    const Result<JsonValue> value = parser.parse(line.line);
    if (!line.is_damaged && value) {
      ids.emplace_back(entry_id(*value));
    }
  }
  return ids;
}

/// Restores an archived session of which lines were deleted that are to come back: with `ids`, of
/// these entries; else any.
Status unpack_for_undelete(Store& store, const std::string& session_id,
                           const std::vector<std::string>& ids) {
  const Status there = check_session(store, session_id);
  if (there || there.error().code != ErrorCode::E_SESSION_ARCHIVED) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> deleted, deleted_ids(*store.files, session_id));
  if (std::ranges::any_of(
          deleted, [&](const std::string& id) { return ids.empty() || is_among(ids, id); })) {
    BMAD_TRY(restore_session(store, session_id));
  }
  return {};
}

/// `ids`, those that were given by their beginning completed from what is deleted in `sessions`.
Result<std::vector<std::string>> whole_deleted_ids(FileSystem& files,
                                                   std::span<const std::string> sessions,
                                                   std::vector<std::string> ids) {
  std::vector<std::string> deleted;
  for (const std::string& session_id : ids.empty() ? std::span<const std::string>() : sessions) {
    BMAD_TRY_ASSIGN(std::vector<std::string> of_session, deleted_ids(files, session_id));
    std::ranges::move(of_session, std::back_inserter(deleted));
  }
  for (std::string& id : ids) {
    BMAD_TRY_ASSIGN(id, whole_name(id, deleted, "deleted entries", "id"));
  }
  return ids;
}

/// Adds the audit log in `folder` to that of the session.
Status keep_audit(FileSystem& files, const std::string& session_id, const std::string& folder) {
  BMAD_TRY_ASSIGN(const std::string text,
                  read_if_there(files, folder + "/" + kAuditName, kAuditSizeMax));
  for (const AuditRecord& record : parse_audit(text, session_id)) {
    BMAD_TRY(append_audit(files, record));
  }
  return {};
}

/// Moves the file `name` of a deleted session into the one that has its id now. False when that one
/// has such a file.
Result<bool> take_along(FileSystem& files, const std::string& session_id, const std::string& folder,
                        const std::string& name) {
  const std::string from = folder + "/" + name;
  const std::string to = session_file(session_id, name);
  BMAD_TRY_ASSIGN(const bool is_old, is_there(files, from));
  BMAD_TRY_ASSIGN(const bool is_new, is_there(files, to));
  if (!is_old || is_new) {
    return !is_old;
  }
  BMAD_TRY(ensure_folder(files, parent_folder(to)));
  BMAD_TRY(files.rename(from, to));
  BMAD_TRY(files.sync_directory(parent_folder(to)));
  return true;
}

/// Puts what the logs in `folder`, a deleted session's, hold into the session that has its id now,
/// with its documents, summary and quarantine. False when something had to stay where it is. The
/// caller holds the root's lock.
Result<bool> join_session(Store& store, const std::string& session_id, const std::string& folder,
                          UndeleteReport& report) {
  FileSystem& files = *store.files;
  std::deque<std::string> texts;  // That `returning` points into.
  std::vector<ReturningLine> returning;
  std::vector<std::string> others = {kSummaryName, kQuarantineName};
  bool is_whole = true;
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    const auto take = [&](const ScannedEntry& entry) {
      returning.push_back({.type = type, .line = texts.emplace_back(entry.text)});
      if (type == EntryType::kArtifact) {
        others.push_back(artifact_path(session_id, entry_id(entry.value))
                             .substr(session_folder(session_id).size() + 1));
      }
    };
    BMAD_TRY_ASSIGN(const LogScan scan,
                    scan_log(files, fmt::format("{}/{}", folder, entry_type_info(type).log_file),
                             type, parser, {.on_entry = take}));
    is_whole = is_whole && scan.damaged == 0 && scan.torn_size == 0;
  }
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "undelete"));
  BMAD_TRY(drop_rule_summary(files, session_id));  // The older one may be somebody's own.
  for (const std::string& name : others) {
    BMAD_TRY_ASSIGN(const bool is_taken, take_along(files, session_id, folder, name));
    is_whole = is_whole && is_taken;
  }
  BMAD_TRY_ASSIGN(ReturnOutcome outcome, bring_back_lines(store, session_id, guard, returning, {}));
  is_whole = is_whole && outcome.in_use_ids.empty();
  std::ranges::move(outcome.in_use_ids, std::back_inserter(report.left_behind));
  const auto count = static_cast<std::uint64_t>(std::ranges::count(outcome.is_back, true));
  report.lines += count;
  BMAD_TRY(append_audit(store, {.session_id = session_id,
                                .action = "undelete",
                                .count = count,
                                .detail = "the whole session, into the new one"}));
  return is_whole;
}

/// Brings back session `session_id` if it was deleted as a whole. Where there is a new one of that
/// id, such as of a client that went on, it takes the old entries.
Status bring_back_session(Store& store, const std::string& session_id, UndeleteReport& report) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("undelete"));
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  const auto last = std::find_if(record.deletions.rbegin(), record.deletions.rend(),
                                 [](const Deletion& deletion) { return deletion.whole_session; });
  if (last == record.deletions.rend()) {
    return {};
  }
  const std::string folder = deleted_session_folder(session_id, last->deletion_id);
  BMAD_TRY_ASSIGN(const bool has_folder, is_there(files, folder));
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(files, session_id));
  if (has_folder && is_live) {
    BMAD_TRY_ASSIGN(const bool is_whole, join_session(store, session_id, folder, report));
    if (!is_whole) {
      return {};
    }
    BMAD_TRY(keep_audit(files, session_id, folder));
    BMAD_TRY(remove_deleted_folder(files, session_id, last->deletion_id));
  } else if (has_folder) {
    BMAD_TRY(clear_remains(store, session_id));
    // A purge or a redaction of what was deleted is no change by hand: the next write hashes it.
    BMAD_TRY(remove_durably(files, fmt::format("{}/{}", folder, kLineHashesName)));
    BMAD_TRY(rename_folder(files, folder, session_folder(session_id)));
    BMAD_TRY(append_audit(store, {.session_id = session_id,
                                  .action = "undelete",
                                  .count = last->entries,
                                  .detail = "the whole session"}));
  }
  if (has_folder) {
    report.sessions.push_back(session_id);
  }
  record.deletions.erase(std::next(last).base());
  return save_deletion_record(files, record);
}

}  // namespace

Result<UndeleteReport> undelete(Store& store, const UndeleteCriteria& criteria) {
  UndeleteReport report;
  BMAD_TRY_ASSIGN(const std::vector<std::string> all, sessions_with_deletions(*store.files));
  for (const std::string& session_id : criteria.sessions) {
    BMAD_TRY(check_session_id(session_id));
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> wanted_ids,
                  whole_deleted_ids(*store.files, all, criteria.ids));
  for (const std::string& session_id : all) {
    const bool is_wanted = is_among(criteria.sessions, session_id);
    if (is_wanted) {
      BMAD_TRY(bring_back_session(store, session_id, report));
    } else if (criteria.ids.empty()) {
      continue;
    }
    const std::vector<std::string> ids = is_wanted ? std::vector<std::string>() : wanted_ids;
    BMAD_TRY(unpack_for_undelete(store, session_id, ids));
    if (!check_session(store, session_id)) {
      continue;
    }
    {
      BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "undelete"));
      BMAD_TRY(bring_back_deleted(store, session_id, guard, ids, report));
    }
    refresh_index(store, session_id);
  }
  return report;
}

Result<std::vector<Deletion>> list_deletions(const Store& store) {
  std::vector<Deletion> deletions;
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, sessions_with_deletions(*store.files));
  for (const std::string& session_id : sessions) {
    BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(*store.files, session_id));
    std::ranges::move(record.deletions, std::back_inserter(deletions));
  }
  std::ranges::stable_sort(deletions, {}, &Deletion::deleted_at);
  return deletions;
}

Result<std::vector<Entry>> deleted_entries(const Store& store, const std::string& session_id) {
  BMAD_TRY(check_session_id(session_id));
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> lines, read_all_deleted(*store.files, session_id));
  std::vector<Entry> entries;
  JsonParser parser;
  for (DeletedLine& line : lines) {
    const Result<JsonValue> value = parser.parse(line.line);
    if (!value) {
      continue;
    }
    Entry entry{.session_id = session_id, .type = line.type, .id = std::string(entry_id(*value))};
    if (is_encrypted(*value)) {
      const Result<std::string> opened = store.encryption->open(session_id, line.type, *value);
      line.line = opened.value_or("");
    }
    entry.json = std::move(line.line);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace bmad_mem
