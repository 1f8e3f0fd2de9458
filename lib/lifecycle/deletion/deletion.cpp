// deletion.cpp - entries leave the logs; undelete.cpp brings them back.
//
//   scan -> lock -> scan again if a log changed -> deleted/{id}/entries.jsonl, durable ->
//   deletion-record.json, durable -> audit -> logs one after another -> unlock -> index
//
// Killed anywhere, a line is in its log or under deleted/, or in both: then it still counts, and
// the same deletion can be made again.
#include "lifecycle/deletion.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "deletion_steps.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/summary_file.hpp"
#include "lifecycle/log_lines.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/session_copies.hpp"
#include "model/entry.hpp"
#include "search/archive_reader.hpp"
#include "search/indexing.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Of a text, any version that holds it; else the last version decides.
Verdicts verdicts_of(const DeletionCriteria& criteria, EncryptedWords* encrypted) {
  const auto goes = [matcher = EntryMatcher(criteria, encrypted)](EntryType type, JsonValue entry,
                                                                  std::string_view text) {
    return matcher.matches(type, entry, text);
  };
  return Verdicts(goes, !criteria.match.empty());
}

Error is_the_users(const std::string& id) {
  return field_error(ErrorCode::E_ACCESS_DENIED, "id",
                     fmt::format("{} is a statement of the user, and only the user deletes it: ask "
                                 "for `bmad-mem delete {}` in a terminal",
                                 id, id));
}

/// The same where no index knows what goes: all of it is read.
Status check_may_delete_from(const Store& store, const std::string& session_id,
                             const DeletionCriteria& criteria) {
  EncryptedWords encrypted(store, session_id);
  const bool is_here = check_session(store, session_id).has_value();
  const Result<std::shared_ptr<FileSystem>> archive =
      is_here ? std::shared_ptr<FileSystem>() : archive_files(store, session_id);
  if (!archive) {
    return {};  // Nothing of it will be deleted.
  }
  FileSystem& files = *archive == nullptr ? *store.files : **archive;
  Result<std::vector<LogLine>> found = find_doomed_lines(files, session_id, criteria, &encrypted);
  if (!found) {
    return {};
  }
  std::erase_if(*found, [](const LogLine& line) { return !is_statement(line.type); });
  BMAD_TRY_ASSIGN(const std::vector<std::string> texts, read_lines(files, session_id, *found));
  assert(texts.size() == found->size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (is_authored_here(store.origins->origin_of(session_id, texts[i]))) {
      return is_the_users((*found)[i].id);
    }
  }
  return {};
}

/// Copies `lines` under deleted/. The caller holds the session's lock.
Result<Deletion> keep_lines(Store& store, const std::string& session_id,
                            const std::vector<LogLine>& lines) {
  BMAD_TRY_ASSIGN(std::vector<std::string> texts, read_lines(*store.files, session_id, lines));
  assert(texts.size() == lines.size());
  std::vector<DeletedLine> deleted;
  deleted.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    deleted.push_back({.type = lines[i].type, .line = std::move(texts[i])});
  }
  return keep_deleted(store, session_id, std::move(deleted));
}

/// Goes on without a session that can't be read; `unreadable` is the first.
Status leave_unlooked(const Store& store, const std::string& session_id, const Error& error,
                      std::optional<Error>& unreadable) {
  BMAD_TRY(store.leave_out(session_id, error));
  if (!unreadable) {
    unreadable = error;
  }
  return {};
}

/// Whether ids were asked for, and all are among what was removed.
bool has_removed_all(const DeletionCriteria& criteria, const DeletionReport& report) {
  return !criteria.ids.empty() && std::ranges::all_of(criteria.ids, [&](const std::string& id) {
    return std::ranges::find(report.removed, id, &RemovedEntry::id) != report.removed.end();
  });
}

/// Adds `evicted` to `report`; entries that have lines in `gone` are in it.
void describe_evicted(const std::string& session_id, const Leaving& evicted,
                      const std::vector<LogLine>& gone, const std::string& reason,
                      DeletionReport& report) {
  std::set<std::pair<EntryType, std::string_view>> ids;
  for (const LogLine& line : gone) {
    ids.emplace(line.type, line.id);
  }
  JsonParser parser;
  assert(evicted.ids.size() == evicted.lines.size());
  for (std::size_t i = 0; i < evicted.ids.size(); ++i) {
    const LogLine& line = evicted.ids[i];
    report.removed.push_back(
        removed_entry(session_id, line, reason, evicted.lines[i].line, parser));
    report.entries += ids.emplace(line.type, line.id).second ? 1 : 0;
  }
}

/// Deletes what answers to `criteria` in one session, which may be archived, or describes it. Most
/// sessions hold nothing of it: they are neither locked nor unpacked.
/// Errors: one that is_not_found() when the session was moved meanwhile; nothing is done then.
Status delete_in_session(Store& store, const std::string& session_id,
                         const DeletionCriteria& criteria, const DeleteOptions& options,
                         DeletionReport& report, std::optional<Error>& unreadable) {
  const bool was_named = !criteria.sessions.empty();
  std::shared_ptr<FileSystem> archive;
  if (Status there = check_session(store, session_id); !there) {
    if (there.error().code != ErrorCode::E_SESSION_ARCHIVED) {
      return was_named ? there
                       : leave_unlooked(store, session_id, std::move(there).error(), unreadable);
    }
    BMAD_TRY_ASSIGN(archive, archive_files(store, session_id));
  }
  FileSystem& files = archive == nullptr ? *store.files : *archive;
  EncryptedWords encrypted(store, session_id);
  const auto look = [&] { return find_doomed_lines(files, session_id, criteria, &encrypted); };
  Result<FoundLines> looked = find_unlocked(files, session_id, look);
  if (!looked) {
    return was_named || archive != nullptr
               ? Status(std::move(looked).error())
               : leave_unlooked(store, session_id, std::move(looked).error(), unreadable);
  }
  FoundLines found = *std::move(looked);
  if (archive == nullptr) {
    BMAD_TRY(check_still_there(store, session_id));
  }
  BMAD_TRY_ASSIGN(const bool has_evicted, is_there(*store.files, evicted_path(session_id)));
  Leaving evicted;
  if (has_evicted && (options.dry_run || found.lines.empty())) {
    BMAD_TRY_ASSIGN(evicted, delete_evicted(store, session_id, verdicts_of(criteria, &encrypted),
                                            found.lines, {}, {}, true));
  }
  if (options.dry_run) {
    BMAD_TRY(describe_doomed(files, session_id, found.lines, "would be deleted", true, report));
    describe_evicted(session_id, evicted, found.lines, "would be deleted, evicted", report);
    return {};
  }
  if (found.lines.empty() && evicted.lines.empty()) {
    return {};
  }
  if (archive != nullptr) {
    const Result<Session> restored = restore_session(store, session_id);
    if (!restored && !check_session(store, session_id)) {
      return restored.error();
    }  // Otherwise somebody else, such as a writer, has brought it back in the meantime.
    found.logs = {};  // They were those of the archive.
  }
  const auto find = [&] {
    return find_doomed_lines(*store.files, session_id, criteria, &encrypted);
  };
  const std::vector<LogLine> gone = found.lines;
  BMAD_TRY_ASSIGN(const std::string deletion_id,
                  delete_softly(store, session_id, std::move(found), find, criteria_kinds(criteria),
                                report, options.audit_session));
  if (has_evicted) {
    BMAD_TRY_ASSIGN(evicted, delete_evicted(store, session_id, verdicts_of(criteria, &encrypted),
                                            gone, criteria_kinds(criteria), deletion_id));
    describe_evicted(session_id, evicted, gone, "deleted, evicted", report);
    if (evicted.expires_at) {
      report.expires_at = evicted.expires_at;
      refresh_index(store, session_id);
    }
  }
  return {};
}

/// Those that `criteria` name, or all; archived ones too.
Result<std::vector<std::string>> sessions_to_look_at(const Store& store,
                                                     const DeletionCriteria& criteria) {
  for (const std::string& id : criteria.sessions) {
    if (Status there = check_session(store, id);
        !there && there.error().code != ErrorCode::E_SESSION_ARCHIVED) {
      return there.error();  // Before anything is deleted.
    }
  }
  if (!criteria.sessions.empty()) {
    return criteria.sessions;
  }
  BMAD_TRY_ASSIGN(PresentSessions present, present_sessions(store));
  std::ranges::move(present.packed, std::back_inserter(present.live));
  return std::move(present.live);
}

}  // namespace

Result<std::vector<LogLine>> find_doomed_lines(FileSystem& files, const std::string& session_id,
                                               const DeletionCriteria& criteria,
                                               EncryptedWords* encrypted) {
  Verdicts verdicts = verdicts_of(criteria, encrypted);
  return look_into_logs(files, session_folder(session_id), verdicts, criteria.ids);
}

Status check_may_delete(const Store& store, const DeletionCriteria& criteria) {
  if (store.origins->provenance() == nullptr ||
      ActingAs::current(store.writes_as) != Origin::kAgent) {
    return {};
  }
  if (!criteria.ids.empty() && !store.encryption->is_on()) {  // The indexes know where they are.
    const Result<std::vector<Entry>> found =
        find_entries(store, criteria.ids, criteria.sessions, /*all_versions=*/true);
    for (const Entry& entry : found ? *found : std::vector<Entry>()) {
      if (is_withheld_from_agent(store, entry)) {
        return is_the_users(entry.id);
      }
    }
    return {};
  }
  std::vector<std::string> sessions = criteria.sessions;
  if (sessions.empty()) {
    BMAD_TRY_ASSIGN(sessions, all_session_ids(store));
  }
  for (const std::string& session_id : sessions) {
    BMAD_TRY(check_may_delete_from(store, session_id, criteria));
  }
  return {};
}

Deletion new_deletion(Store& store, const std::string& session_id, bool whole_session,
                      std::uint64_t entries) {
  const Timestamp now = store.clock.now();
  return {.session_id = session_id,
          .deletion_id = store.ids.entry_id("del-"),
          .deleted_at = now,
          .expires_at = now + std::chrono::days(store.config.privacy.deleted_retention_days),
          .agent_id = store.agent_id,
          .whole_session = whole_session,
          .entries = entries};
}

Status describe_doomed(FileSystem& files, const std::string& session_id,
                       const std::vector<LogLine>& lines, std::string_view reason,
                       bool with_headlines, DeletionReport& report) {
  std::vector<std::string> texts(lines.size());
  if (with_headlines) {
    BMAD_TRY_ASSIGN(texts, read_lines(files, session_id, lines));
  }
  JsonParser parser;
  assert(texts.size() == lines.size());
  std::set<std::pair<EntryType, std::string_view>> ids;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    report.removed.push_back(
        removed_entry(session_id, lines[i], std::string(reason), texts[i], parser));
    ids.emplace(lines[i].type, lines[i].id);
  }
  report.entries += ids.size();
  return {};
}

Result<Deletion> keep_deleted(Store& store, const std::string& session_id,
                              std::vector<DeletedLine> lines, const std::string& deletion_id) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> there, read_deleted(files, session_id));
  std::set<std::pair<EntryType, std::string_view>> known;
  for (const DeletedLine& line : there) {  // Without a deletion they go with the next purge.
    if (!line.is_damaged && std::ranges::find(record.deletions, line.deletion_id,
                                              &Deletion::deletion_id) != record.deletions.end()) {
      known.emplace(line.type, line.line);
    }
  }
  std::erase_if(lines, [&](const DeletedLine& line) {
    return known.contains({line.type, std::string_view(line.line)});
  });
  const auto begun = std::ranges::find(record.deletions, deletion_id, &Deletion::deletion_id);
  const bool goes_on = begun != record.deletions.end();
  Deletion deletion = goes_on ? *begun : new_deletion(store, session_id, false, 0);
  if (lines.empty()) {
    return deletion;
  }
  deletion.entries += lines.size();
  for (DeletedLine& line : lines) {
    line.deletion_id = deletion.deletion_id;
    line.deleted_at = deletion.deleted_at;
  }
  BMAD_TRY(append_deleted(files, session_id, lines));
  (goes_on ? *begun : record.deletions.emplace_back()) = deletion;
  BMAD_TRY(save_deletion_record(files, record));
  return deletion;
}

Result<FoundLines> find_unlocked(FileSystem& files, const std::string& session_id,
                                 const FindLines& find) {
  FoundLines found;
  BMAD_TRY_ASSIGN(found.logs, look_at_logs(files, session_id));
  BMAD_TRY_ASSIGN(found.lines, find());
  return found;
}

Result<std::string> delete_softly(Store& store, const std::string& session_id, FoundLines found,
                                  const FindLines& find, std::string detail, DeletionReport& report,
                                  const std::string& audit_session, const UnderLock& first) {
  bool has_dropped_summary = false;
  std::string deletion_id;
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "delete"));
    BMAD_TRY_ASSIGN(const bool holds, still_holds(*store.files, session_id, found.logs));
    if (!holds) {
      BMAD_TRY_ASSIGN(found.lines, find());
    }
    const std::vector<LogLine>& lines = found.lines;
    if (lines.empty()) {
      return std::string();
    }
    BMAD_TRY(first ? first(guard) : Status());
    BMAD_TRY(describe_doomed(*store.files, session_id, lines, "deleted", false, report));
    BMAD_TRY_ASSIGN(has_dropped_summary, found.keeps_summary
                                             ? Result<bool>(false)
                                             : drop_rule_summary(*store.files, session_id));
    BMAD_TRY_ASSIGN(const Deletion deletion, keep_lines(store, session_id, lines));
    report.expires_at = deletion.expires_at;
    deletion_id = deletion.deletion_id;
    // The record comes before the step that can't be refused for want of room: what isn't
    // recorded isn't done.
    if (!audit_session.empty() && audit_session != session_id) {
      detail += fmt::format(", from session {}", session_id);
    }
    BMAD_TRY(audit_lines(store, audit_session.empty() ? session_id : audit_session, "delete", lines,
                         std::move(detail)));
    BMAD_TRY(take_out_lines(*store.files, session_id, lines, FullDisk::kBlanks));
  }
  refresh_index(store, session_id);
  if (has_dropped_summary) {
    renew_rule_summary(store, session_id);
  }
  return deletion_id;
}

Status delete_lines(Store& store, const std::string& session_id, const FindLines& find,
                    const std::string& detail) {
  const ViewsDropped views(store);
  BMAD_TRY(views.status());
  BMAD_TRY_ASSIGN(FoundLines found, find_unlocked(*store.files, session_id, find));
  DeletionReport report;
  BMAD_TRY(delete_softly(store, session_id, std::move(found), find, detail, report));
  return {};
}

Status audit_lines(Store& store, const std::string& session_id, std::string_view action,
                   const std::vector<LogLine>& lines, std::string detail) {
  if (!store.config.privacy.audit_deletions) {
    return {};
  }
  std::vector<std::string> ids = mapped(lines, &LogLine::id);
  add_ids(ids, {});  // Each once.
  return append_audit(store, {.session_id = session_id,
                              .action = std::string(action),
                              .count = lines.size(),
                              .ids = std::move(ids),
                              .detail = std::move(detail)});
}

Status replace_deleted_lines(FileSystem& files, const std::string& session_id,
                             const std::vector<DeletedLine>& left) {
  BMAD_TRY(replace_deleted(files, session_id, left));
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  if (record.deletions.empty()) {
    return {};
  }
  for (Deletion& deletion : record.deletions) {
    if (!deletion.whole_session) {
      deletion.entries = static_cast<std::uint64_t>(std::ranges::count_if(
          left, [&](const DeletedLine& line) { return line.is_of(deletion.deletion_id); }));
    }
  }
  std::erase_if(record.deletions, [](const Deletion& deletion) {
    return !deletion.whole_session && deletion.entries == 0;
  });
  return save_deletion_record(files, record);
}

Result<DeletionReport> delete_entries(Store& store, const DeletionCriteria& criteria,
                                      const DeleteOptions& options) {
  if (criteria.is_empty()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message =
                     "no entries selected; give ids, types, tags, agents, a "
                     "time or a text, or delete the session as a whole"};
  }
  const ViewsDropped views(store, !options.dry_run);
  BMAD_TRY(views.status());
  BMAD_TRY(check_may_delete(store, criteria));
  if (options.purge) {
    return purge_entries(store, criteria, options);
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, sessions_to_look_at(store, criteria));
  DeletionReport report;
  std::optional<Error> unreadable;
  std::uint64_t looked_at = 0;
  for (const std::string& session_id : sessions) {
    if (options.on_progress) {
      options.on_progress(looked_at++, sessions.size());
    }
    const Status done = choose_steadily(store, [&] {
      return delete_in_session(store, session_id, criteria, options, report, unreadable);
    });
    const bool was_named = !criteria.sessions.empty();
    if (!done && (was_named || done.error().code != ErrorCode::E_SESSION_NOT_FOUND)) {
      return done.error();
    }  // What nobody named may be deleted meanwhile.
  }
  if (unreadable && !has_removed_all(criteria, report)) {
    unreadable->message +=
        fmt::format("; from the other sessions {} entries were deleted", report.entries);
    return *std::move(unreadable);
  }
  return report;
}

}  // namespace bmad_mem
