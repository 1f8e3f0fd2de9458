// session_rewrite.cpp - has the steps that operations share which rewrite a session.
#include "session_rewrite.hpp"

#include <algorithm>
#include <cassert>

#include "base/ids.hpp"
#include "lifecycle/deletion.hpp"
#include "store/deletion_record.hpp"

namespace bmad_mem {

Result<std::vector<std::string>> rewritable_sessions(const Store& store,
                                                     std::span<const std::string> wanted) {
  BMAD_TRY_ASSIGN(std::vector<std::string> sessions, all_session_ids(store));
  for (const std::string& session_id : wanted) {
    BMAD_TRY(check_session_id(session_id));
    if (!std::ranges::binary_search(sessions, session_id)) {
      BMAD_TRY(check_session(store, session_id));
    }
  }
  return sessions;
}

Status SessionRewriter::lock(std::string_view operation) {
  assert(!root_guard_ && !session_guard_ && "it is called once");
  if (!dry_run_) {
    BMAD_TRY_ASSIGN(root_guard_, store_.lock_root(std::string(operation)));
  }
  BMAD_TRY_ASSIGN(is_live_, is_session_there(*store_.files, session_id_));
  if (dry_run_) {
    return {};
  }
  if (is_live_) {
    BMAD_TRY_ASSIGN(session_guard_, store_.session(session_id_)->writer.lock(operation));
  }
  BMAD_TRY(remove_leftovers(*store_.files, session_id_));
  return cut_torn_ends(*store_.files, session_id_);
}

Status SessionRewriter::leave_root_index() {
  assert(!dry_run_ && "a dry run changes nothing");
  if (has_left_index_) {
    return {};
  }
  has_left_index_ = true;
  return leave_index();
}

Status SessionRewriter::rewrite_logs() {
  BMAD_TRY(dry_run_ ? Status() : remove_temporaries(*store_.files, session_folder(session_id_)));
  for (const std::string& log : log_files()) {
    BMAD_TRY(rewrite_file(session_file(session_id_, log), log, /*is_log=*/true));
  }
  return {};
}

Status SessionRewriter::rewrite_file(const std::string& path, std::string_view name, bool is_log) {
  assert((dry_run_ || root_guard_) && "lock() comes first");
  Result<std::string> bytes = read_file(*store_.files, path, kRewrittenSizeMax);
  if (!bytes) {
    return is_not_found(bytes.error()) ? Status() : Status(std::move(bytes).error());
  }
  const std::uint64_t lines = change_file(name, *bytes);
  if (lines == 0) {
    return {};
  }
  log_lines_ += is_log ? lines : 0;
  files_.push_back({.path = store_.files->display_path(path), .lines = lines});
  if (dry_run_) {
    return {};
  }
  if (is_log) {
    BMAD_TRY(remove_derived_files(*store_.files, session_id_));
    BMAD_TRY(leave_root_index());
    carried_.settle();
  }
  return replace_log(*store_.files, path, *bytes);
}

Result<bool> SessionRewriter::rewrite_copies(const FileChange& change) {
  assert((dry_run_ || root_guard_) && "lock() comes first");
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store_.files, session_id_));
  BMAD_TRY_ASSIGN(SessionCopies copies, SessionCopies::read(*store_.files, session_id_, record));
  BMAD_TRY_ASSIGN(
      const std::vector<FileCount> files,
      copies.rewrite(
          *store_.files, dry_run_,
          [this](EntryType type, std::string_view line) { return changed_entry(type, line); },
          change));
  carried_.settle();
  files_.insert(files_.end(), files.begin(), files.end());
  return !files.empty();
}

}  // namespace bmad_mem
