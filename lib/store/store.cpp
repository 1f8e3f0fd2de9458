// store.cpp - one opened root: its writers, locks, sessions and the damage noted of its files.
#include "store/store.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "store/present_sessions.hpp"
#include "store/store_watch.hpp"
#include "store/unpacked_cache.hpp"

namespace bmad_mem {

Store::Store(const Clock& used_clock, const RoomsAbove& rooms)
    : clock(used_clock),
      ids(used_clock),
      above(rooms),
      encryption(std::make_unique<LineEncryption>()),
      origins(std::make_unique<RootOrigins>(std::string(), std::string())),
      root_index(rooms.make_root_index(*this)) {}

Store::~Store() {
  if (files != nullptr) {
    accesses.write(*files, clock);
    if (std::exchange(indexes_at_the_end, false) && needs_index) {
      try {
        above.maintain_index(*this);
      } catch (const std::exception&) {
        // No memory, or no more threads: the next one makes it.
      }
    }
  }
}

const Store* Store::checkout() const {
  const std::lock_guard guard(user_mutex);
  if (!checkout_root.empty() && !checkout_opened) {
    checkout_opened = true;
    assert(above.open_other != nullptr);
    if (Result<std::unique_ptr<Store>> opened = above.open_other(*this, checkout_root)) {
      checkout_store = *std::move(opened);
    }
  }
  return checkout_store.get();
}

std::vector<std::string> Store::checkout_sessions() const {
  std::vector<std::string> more;
  const Store* const other = checkout();
  if (other == nullptr) {
    return more;
  }
  const Result<PresentSessions> theirs = present_sessions(*other);
  const Result<PresentSessions> ours = present_sessions(*this);
  const Result<std::vector<std::string>> deleted = sessions_with_deletions(*files);
  if (theirs && ours && deleted) {
    more = theirs->live;
    more.insert(more.end(), theirs->packed.begin(), theirs->packed.end());
    std::erase_if(more, [&](const std::string& id) {
      return std::ranges::binary_search(ours->live, id) ||
             std::ranges::binary_search(ours->packed, id) || is_among(*deleted, id);
    });
  }
  return more;
}

const Store* Store::user_store() const {
  if (user_root.empty() || !config.context.user_memory) {
    return nullptr;
  }
  const std::lock_guard guard(user_mutex);
  if (user != nullptr || user_failed) {
    return user.get();
  }
  assert(above.open_user != nullptr);
  Result<std::unique_ptr<Store>> opened = above.open_user(*this);
  if (opened) {
    user = *std::move(opened);
  } else if (opened.error().code != ErrorCode::E_SESSION_NOT_FOUND) {
    user_failed = true;
    const std::lock_guard problem_guard(damaged_mutex);
    on_problem(opened.error());
  }
  return user.get();
}

void Store::note_access(const std::string& session_id, const std::string& id) const {
  if (notes_accesses && config.performance.record_access) {
    accesses.note(session_id, id, clock.now());
  }
}

namespace {

/// How many writers stay open when nobody uses them: with the lock, its information file and eight
/// logs each takes ten descriptors at most, and all of them two thirds of what the process may
/// have.
std::size_t writers_max() {
  constexpr std::size_t kWritersMax = 64;
  constexpr std::size_t kDescriptorsEach = 16;
  return std::clamp(descriptor_limit() / kDescriptorsEach, std::size_t{1}, kWritersMax);
}

/// Closes the writers that were not used for longest, but none that is in use.
void close_oldest(std::map<std::string, std::shared_ptr<OpenSession>, std::less<>>& sessions) {
  static const std::size_t kMax = writers_max();
  while (sessions.size() > kMax) {
    const auto oldest = std::ranges::min_element(sessions, {}, [](const auto& each) {
      return std::pair(each.second.use_count() > 1, each.second->used);
    });
    if (oldest->second.use_count() > 1) {
      return;
    }
    assert(oldest->second.use_count() == 1 && "a writer in use stays open");
    sessions.erase(oldest);
  }
}

}  // namespace

std::shared_ptr<OpenSession> Store::session(const std::string& session_id) {
  assert(is_session_id(session_id));
  const std::lock_guard guard(sessions_mutex);
  std::shared_ptr<OpenSession> wanted = sessions[session_id];  // Holds it while others are closed.
  if (wanted == nullptr) {
    wanted = sessions[session_id] = std::make_shared<OpenSession>(
        *files, clock,
        SessionWriterOptions{.session_id = session_id,
                             .log_files = log_files(),
                             .size_max = config.max_session_size_bytes(),
                             .lock_timeout = lock_timeout,
                             .agent_id = agent_id});
  }
  wanted->used = ++session_uses;
  close_oldest(sessions);
  return wanted;
}

Result<FileLock::Guard> Store::lock_session(const std::string& session_id,
                                            std::string_view operation) {
  return session(session_id)->writer.lock(operation);
}

void Store::forget_session(const std::string& session_id) {
  {
    const std::lock_guard guard(sessions_mutex);
    sessions.erase(session_id);
  }
  const std::lock_guard guard(indexes_mutex);
  indexes.erase(session_id);
  packed.erase(archive_path(session_id));
  packed.erase(retained_path(session_id));
  for (std::uint32_t part = 1; packed.erase(evicted_path(session_id, part)) > 0;) {
    ++part;
  }
}

void Store::note_damage(const std::string& path, const FileInfo& file, const Error& error) const {
  Error damage = error;
  damage.message +=
      damage.code == ErrorCode::E_SIZE_LIMIT
          ? "; its entries are left out"
          : "; its entries are left out, so restore the file from git or from a backup";
  note_problem(path, file, std::move(damage));
}

void Store::note_problem(const std::string& path, const FileInfo& file, Error error,
                         bool is_readable) const {
  if (is_readable ? has_problem(path, file) : is_damaged(path, file)) {
    return;  // Known.
  }
  Damage damage{.file = file,
                .at = std::chrono::steady_clock::now(),
                .error = std::move(error),
                .is_readable = is_readable};
  damage.is_lasting = (damage.error.os_error == 0 || damage.error.os_error == EFBIG) &&
                      (damage.error.code == ErrorCode::E_STORAGE_CORRUPT ||
                       damage.error.code == ErrorCode::E_SIZE_LIMIT);
  if (damage.error.path.empty()) {
    damage.error.path = files->display_path(path);
  }
  const std::lock_guard guard(damaged_mutex);
  if (damage.is_lasting && !is_readable && path.ends_with(".gz") &&
      damage.error.path == files->display_path(path)) {
    remember_archive(
        *files, path, file,
        damage.error.os_error == EFBIG ? ArchiveNote::kNotQuick : ArchiveNote::kRefused,
        damage.error);
  }
  damaged.insert_or_assign(path, damage);
  ++damages;
  on_problem(damage.error);
}

bool Store::is_ours(const std::string& path, const FileInfo& file) const {
  const std::lock_guard guard(damaged_mutex);
  refused = refused ? std::move(refused) : read_refused(*files);
  return refused->contains(refused_key(path, file, ArchiveNote::kOurs));
}

bool Store::is_damaged(const std::string& path, const FileInfo& file, bool is_new) const {
  {
    const std::lock_guard guard(damaged_mutex);
    refused = refused ? std::move(refused) : read_refused(*files);
    auto known = refused->find(refused_key(path, file));
    if (known == refused->end() && is_new) {
      known = refused->find(refused_key(path, file, ArchiveNote::kNotQuick));
    }
    if (known != refused->end() && !damaged.contains(path)) {
      known->second.path = files->display_path(path);
      damaged.emplace(path, Damage{.file = file, .error = known->second, .is_lasting = true});
      ++damages;
      on_problem(known->second);
    }
    const auto found = damaged.find(path);
    if (found == damaged.end() || found->second.is_readable) {
      return false;
    }
  }
  return has_problem(path, file);
}

bool Store::has_problem(const std::string& path, const FileInfo& file) const {
  constexpr std::chrono::seconds kMayHavePassed(5);
  const std::lock_guard guard(damaged_mutex);
  const auto found = damaged.find(path);
  if (found == damaged.end()) {
    return false;
  }
  const Damage& known = found->second;
  return known.file.is_unchanged(file) &&
         (known.is_lasting || std::chrono::steady_clock::now() - known.at < kMayHavePassed);
}

namespace {

/// Whether `error` tells of a session's files: not of this process, nor of a change meanwhile.
bool is_about_files(const Error& error) {
  switch (error.code) {
    case ErrorCode::E_STORAGE_CORRUPT:
    case ErrorCode::E_SESSION_CORRUPT:
    case ErrorCode::E_SIZE_LIMIT:
    case ErrorCode::E_NEWER_VERSION:
      return true;
    case ErrorCode::E_STORAGE_IO:
      return !is_not_found(error) && error.os_error != EMFILE && error.os_error != ENFILE &&
             error.os_error != ENOMEM;
    default:
      return false;
  }
}

std::string_view remedy_of(const Error& error) {
  switch (error.os_error) {
    case EACCES:
    case EPERM:
      return "; give yourself the right to read it";
    case EIO:
      return "; check the disk, then bring the file back from git or from a backup";
    case ELOOP:
      return "; move the link away";
    default:
      return "";
  }
}

/// A link or a file in the place of the folder says more than the error of reading it.
Error why_unreadable(const Store& store, const std::string& session_id, Error error) {
  const Status there = check_session(store, session_id);
  if (!there && there.error().code == ErrorCode::E_SESSION_CORRUPT) {
    error = there.error();
  }
  if (error.path.empty()) {
    error.path = store.files->display_path(session_folder(session_id));
  }
  error.field.clear();  // Where indexes say whose they are.
  error.message += fmt::format("{}; session {} is left out", remedy_of(error), session_id);
  return error;
}

}  // namespace

Status Store::leave_out(const std::string& session_id, Error error) const {
  if (error.code == ErrorCode::E_SESSION_NOT_FOUND) {  // Perhaps what is there is no folder.
    const Status there = check_session(*this, session_id);
    error = there ? std::move(error) : there.error();
  }
  if (!is_about_files(error)) {
    return error;
  }
  const std::string path = session_folder(session_id);
  const FileInfo folder = files->info(path).value_or(FileInfo{});
  if (is_damaged(path, folder)) {
    return {};  // Known.
  }
  error = why_unreadable(*this, session_id, std::move(error));
  const std::lock_guard guard(damaged_mutex);
  damaged.insert_or_assign(
      path, Damage{.file = folder, .at = std::chrono::steady_clock::now(), .error = error});
  on_problem(error);
  return {};
}

bool Store::is_left_out(const std::string& session_id) const {
  const std::string path = session_folder(session_id);
  {
    const std::lock_guard guard(damaged_mutex);
    if (!damaged.contains(path)) {
      return false;
    }
  }
  return is_damaged(path, files->info(path).value_or(FileInfo{}));
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
    if (now && has_problem(path, *now)) {
      errors.push_back(damage.error);
    }
  }
  return errors;
}

Result<FileLock::Guard> Store::lock_root(std::string_view operation,
                                         std::chrono::milliseconds wait_max) const {
  BMAD_TRY(files->follow_root());
  FileLock lock(*files, clock, kLockName, kLockInfoName);
  return lock.acquire(
      {.operation = operation, .agent_id = agent_id, .timeout = std::min(lock_timeout, wait_max)});
}

Result<std::vector<std::string>> Store::session_folders() const {
  BMAD_TRY(files->follow_root());
  BMAD_TRY_ASSIGN(std::vector<std::string> names, list_if_there(*files, kSessionsFolder));
  std::erase_if(names, [](const std::string& name) { return !is_session_id(name); });
  assert(std::ranges::is_sorted(names));
  return names;
}

Result<std::vector<std::string>> Store::session_ids() const {
  Result<std::vector<std::string>> names = session_folders();
  if (names) {
    // One that can't be looked at stays: who reads it says why.
    std::erase_if(*names,
                  [&](const std::string& id) { return is_remains(*files, id).value_or(false); });
  }
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
  static const std::vector<std::string> kFiles = mapped(
      kEntryTypes, [](EntryType type) { return std::string(entry_type_info(type).log_file); });
  return kFiles;
}

bool is_archived(const Store& store, std::string_view session_id) {
  return store.files->info(archive_path(session_id)).has_value();
}

namespace {

Error archived(const Store& store, std::string_view session_id) {
  return path_error(ErrorCode::E_SESSION_ARCHIVED,
                    store.files->display_path(archive_path(session_id)),
                    fmt::format("session {0} is archived; `bmad-mem session restore {0}` "
                                "brings it back, and so does writing to it",
                                session_id));
}

/// What is in the session's place. Remains of one are as good as nothing.
Result<FileInfo> session_place(const Store& store, std::string_view session_id) {
  BMAD_TRY_ASSIGN(const FileInfo folder, store.files->info(session_folder(session_id)));
  BMAD_TRY_ASSIGN(const bool remains, is_remains(*store.files, session_id));
  if (remains) {
    return Error{.code = ErrorCode::E_SESSION_NOT_FOUND, .os_error = ENOENT};
  }
  return folder;
}

}  // namespace

Status check_session(const Store& store, std::string_view session_id) {
  BMAD_TRY(check_session_id(session_id));
  Result<FileInfo> folder = session_place(store, session_id);
  // Between two looks a session may come back, or go: look again before saying that it is nowhere.
  constexpr int kLooks = 3;
  for (int i = 1; i < kLooks && !folder && is_not_found(folder.error()); ++i) {
    if (is_archived(store, session_id)) {
      return archived(store, session_id);
    }
    folder = session_place(store, session_id);
  }
  if (folder && folder->kind == FileKind::kDirectory) {
    return {};
  }
  if (folder) {
    return path_error(ErrorCode::E_SESSION_CORRUPT,
                      store.files->display_path(session_folder(session_id)),
                      "is a link or a file, not the folder of a session; move it away");
  }
  if (!is_not_found(folder.error())) {
    return folder.error();
  }
  return no_session(session_id, store.files->display_path(session_folder(session_id)));
}

void take_config(Store& store, LoadedConfig loaded) {
  store.written = {.config = std::move(loaded.config), .text = std::move(loaded.text)};
  store.config = store.written.config;
  store.config_warnings = std::move(loaded.warnings);
  const std::string trusted = store.origins->trusted_config(store.config, store.written.text);
  if (trusted == store.written.text) {
    return;
  }
  const Result<LoadedConfig> known = parse_config(trusted, kConfigFile);
  store.config = settled_config(known ? known->config : Config(), store.written.config,
                                store.written.waiting, store.written.stricter);
}

}  // namespace bmad_mem
