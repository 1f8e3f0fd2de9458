#include "store.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "redaction.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {

Store::Store(const Clock& used_clock) : clock(used_clock), ids(used_clock) {}

Store::~Store() {
  if (files != nullptr) {
    accesses.write(*files);
  }
}

void Store::note_access(const std::string& session_id, const std::string& id) const {
  if (notes_accesses && config.performance.record_access) {
    accesses.note(session_id, id, clock.now());
  }
}

OpenSession& Store::session(const std::string& session_id) {
  const std::lock_guard guard(sessions_mutex);
  std::unique_ptr<OpenSession>& slot = sessions[session_id];
  if (slot == nullptr) {
    slot = std::make_unique<OpenSession>(
        *files, clock,
        SessionWriterOptions{.session_id = session_id,
                             .log_files = log_files(),
                             .size_max = config.max_session_size_bytes(),
                             .lock_timeout = lock_timeout,
                             .agent_id = agent_id});
  }
  return *slot;
}

void Store::forget_session(const std::string& session_id) {
  const std::lock_guard guard(indexes_mutex);
  indexes.erase(session_id);
  packed.erase(archive_path(session_id));
  packed.erase(kept_path(session_id));
  packed.erase(evicted_path(session_id));
}

void Store::note_damage(const std::string& path, const FileInfo& file, const Error& error) const {
  if (is_damaged(path, file)) {
    return;  // Known.
  }
  Damage damage{.file = file, .at = std::chrono::steady_clock::now(), .error = error};
  if (damage.error.path.empty()) {
    damage.error.path = files->display_path(path);
  }
  damage.error.message +=
      "; what it holds is left out, so bring the file back from git or from a backup";
  const std::lock_guard guard(damaged_mutex);
  damaged.insert_or_assign(path, damage);
  ++damages;
  if (on_problem) {
    on_problem(damage.error);
  }
}

bool Store::is_damaged(const std::string& path, const FileInfo& file) const {
  constexpr std::chrono::seconds kMayHavePassed(5);
  const std::lock_guard guard(damaged_mutex);
  const auto found = damaged.find(path);
  if (found == damaged.end()) {
    return false;
  }
  const Damage& known = found->second;
  const bool is_lasting = known.error.code == ErrorCode::E_STORAGE_CORRUPT ||
                          known.error.code == ErrorCode::E_SIZE_LIMIT;
  return known.file.same_file(file) && known.file.size == file.size &&
         known.file.mtime_ns == file.mtime_ns &&
         (is_lasting || std::chrono::steady_clock::now() - known.at < kMayHavePassed);
}

std::vector<Error> Store::problems() const {
  std::map<std::string, Damage, std::less<>> known;
  {
    const std::lock_guard guard(damaged_mutex);
    known = damaged;
  }
  std::vector<Error> errors;
  for (const auto& [path, damage] : known) {
    const Result<FileInfo> now = files->info(path);
    if (now && is_damaged(path, *now)) {
      errors.push_back(damage.error);
    }
  }
  return errors;
}

Result<FileLock::Guard> Store::lock_root(std::string_view operation,
                                         std::chrono::milliseconds wait_max) const {
  FileLock lock(*files, clock, kLockName, kLockInfoName);
  return lock.acquire(
      {.operation = operation, .agent_id = agent_id, .timeout = std::min(lock_timeout, wait_max)});
}

Result<std::vector<std::string>> Store::session_ids() const {
  Result<std::vector<std::string>> names = files->list(kSessionsFolder);
  if (!names) {
    if (is_not_found(names.error())) {
      return std::vector<std::string>();
    }
    return names;
  }
  std::erase_if(*names, [](const std::string& name) { return !is_session_id(name); });
  return names;
}

Result<std::vector<std::string>> Store::selected_sessions(
    std::span<const std::string> wanted) const {
  if (wanted.empty()) {
    return session_ids();
  }
  for (const std::string& session_id : wanted) {
    BMAD_TRY(check_session(*this, session_id));
  }
  return std::vector<std::string>(wanted.begin(), wanted.end());
}

const std::vector<std::string>& log_files() {
  static const std::vector<std::string> kFiles = [] {
    std::vector<std::string> names;
    names.reserve(kEntryTypeCount);
    for (const EntryType type : kEntryTypes) {
      names.emplace_back(entry_type_info(type).log_file);
    }
    return names;
  }();
  return kFiles;
}

namespace {

Error archived(const Store& store, std::string_view session_id) {
  return Error{.code = ErrorCode::E_SESSION_ARCHIVED,
               .message = fmt::format("session {0} is archived; `bmad-mem session restore {0}` "
                                      "brings it back, and so does writing to it",
                                      session_id),
               .path = store.files->display_path(archive_path(session_id))};
}

}  // namespace

Status check_session(const Store& store, std::string_view session_id) {
  BMAD_TRY(check_session_id(session_id));
  Result<FileInfo> folder = store.files->info(session_folder(session_id));
  // Between two looks a session may come back, or go: look again before saying that it is nowhere.
  constexpr int kLooks = 3;
  for (int i = 1; i < kLooks && !folder && is_not_found(folder.error()); ++i) {
    if (is_archived(store, session_id)) {
      return archived(store, session_id);
    }
    folder = store.files->info(session_folder(session_id));
  }
  if (folder && folder->kind == FileKind::kDirectory) {
    return {};
  }
  if (folder) {
    return Error{.code = ErrorCode::E_SESSION_CORRUPT,
                 .message = "is a link or a file, not the folder of a session; move it away",
                 .path = store.files->display_path(session_folder(session_id))};
  }
  if (!is_not_found(folder.error())) {
    return folder.error();
  }
  return Error{.code = ErrorCode::E_SESSION_NOT_FOUND,
               .message = fmt::format("there is no session {}; `bmad-mem session list` shows the "
                                      "ones there are",
                                      session_id),
               .path = store.files->display_path(session_folder(session_id))};
}

}  // namespace bmad_mem
