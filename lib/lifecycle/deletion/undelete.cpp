// undelete.cpp - what was deleted comes back while it can.
//
//   deleted session -> its folder; deleted lines -> logs -> deleted/ without them -> audit -> index
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "deletion_steps.hpp"
#include "lifecycle/audit_log.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "search/indexing.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/return_lines.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Names the damaged lines that may be among those that were asked for; they stay where they are.
void name_damaged(const FileSystem& files, const std::string& session_id,
                  std::span<const DeletedLine> lines, std::span<const std::string> ids,
                  UndeleteReport& report) {
  for (const DeletedLine& line : lines) {
    const auto is_in_it = [&](const std::string& id) {
      return line.line.find(id) != std::string::npos;
    };
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
  std::vector<ReturningLine> returning;
  returning.reserve(lines.size());
  for (const DeletedLine& line : lines) {
    if (!line.is_damaged) {
      returning.push_back({.type = line.type, .line = line.line});
    }
  }
  BMAD_TRY_ASSIGN(ReturnOutcome outcome,
                  bring_back_lines(store, session_id, guard, returning, ids));
  std::ranges::move(outcome.in_use_ids, std::back_inserter(report.left_behind));
  name_damaged(files, session_id, lines, ids, report);
  std::vector<DeletedLine> left;
  std::size_t good = 0;
  for (DeletedLine& line : lines) {
    if (line.is_damaged || !outcome.is_back[good++]) {
      left.push_back(line);
    }
  }
  const std::uint64_t count = lines.size() - left.size();
  if (count == 0) {
    return {};
  }
  report.lines += count;
  BMAD_TRY(replace_deleted(files, session_id, left));
  BMAD_TRY(drop_finished_deletions(files, session_id, left));
  return append_audit(store, {.session_id = session_id,
                              .action = "undelete",
                              .count = count,
                              .ids = std::vector<std::string>(ids.begin(), ids.end()),
                              .detail = {}});
}

/// Restores an archived session of which lines were deleted that are to come back: with `ids`, of
/// these entries; else any.
Status unpack_for_undelete(Store& store, const std::string& session_id,
                           const std::vector<std::string>& ids) {
  const Status there = check_session(store, session_id);
  if (there || there.error().code != ErrorCode::E_SESSION_ARCHIVED) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> lines, read_deleted(*store.files, session_id));
  JsonParser parser;
  const bool has_some = std::ranges::any_of(lines, [&](const DeletedLine& line) {
    const Result<JsonValue> value = parser.parse(line.line);
    return !line.is_damaged && value && (ids.empty() || is_among(ids, entry_id(*value)));
  });
  if (!has_some) {
    return {};
  }
  const Result<Session> restored = restore_session(store, session_id);
  return restored ? Status() : Status(restored.error());
}

}  // namespace

Result<UndeleteReport> undelete(Store& store, const UndeleteCriteria& criteria) {
  UndeleteReport report;
  BMAD_TRY_ASSIGN(const std::vector<std::string> all, sessions_with_deletions(*store.files));
  const auto is_wanted = [&](const std::string& id) {
    return std::ranges::find(criteria.sessions, id) != criteria.sessions.end();
  };
  for (const std::string& session_id : criteria.sessions) {
    BMAD_TRY(check_session_id(session_id));
  }
  for (const std::string& session_id : all) {
    if (is_wanted(session_id)) {
      BMAD_TRY(bring_back_session(store, session_id, report));
    }
    if (criteria.ids.empty() && !is_wanted(session_id)) {
      continue;
    }
    BMAD_TRY(unpack_for_undelete(
        store, session_id, is_wanted(session_id) ? std::vector<std::string>() : criteria.ids));
    if (!check_session(store, session_id)) {
      continue;
    }
    {
      const std::shared_ptr<OpenSession> session = store.session(session_id);
      BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("undelete"));
      const std::span<const std::string> ids =
          is_wanted(session_id) ? std::span<const std::string>() : criteria.ids;
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

}  // namespace bmad_mem
