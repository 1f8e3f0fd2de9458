// present_sessions.cpp - lists the sessions of a memory, in folders and in archives.
#include "store/present_sessions.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "store/atomic_file.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/return_lines.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

namespace {

/// Says so of archives that have gone and left their manifests. Removing one begins with the
/// manifest.
void note_missing_archives(const Store& store, const std::vector<std::string>& packed) {
  const Result<std::vector<std::string>> manifests =
      ids_of_files(*store.files, kArchiveFolder, ".manifest.json");
  if (!manifests || *manifests == packed) {
    return;
  }
  for (const std::string& id : *manifests) {
    const std::string path = archive_path(id);
    const std::string manifest = archive_manifest_path(id);
    const Result<FileInfo> info = store.files->info(manifest);
    const bool is_missing = !std::ranges::binary_search(packed, id) && info &&
                            !store.files->info(path) && !store.files->info(session_folder(id));
    if (is_missing) {
      store.note_problem(manifest, *info,
                         path_error(ErrorCode::E_STORAGE_CORRUPT, store.files->display_path(path),
                                    "is missing; bring the file back from git or from a backup"));
    }
  }
}

/// Says so when the archive of a session that is a folder, too, holds what the folder does not. A
/// session that is archived, restored or compacted meanwhile looks so for a moment: what counts is
/// seen twice, in the same folder and archive.
void look_behind_folder(const Store& store, const std::string& session_id) {
  const std::string path = archive_path(session_id);
  const std::optional<FileInfo> archive = look_at(store, path);
  if (store.new_budget.is_limited()) {
    return;  // It would be unpacked each time, for a report.
  }
  if (!archive || store.is_damaged(path, *archive) || store.has_problem(path, *archive)) {
    return;
  }
  const SeenFolder seen = see_folder(store, session_id);
  Result<bool> holds_more = holds_more_than_folder(store, session_id);
  holds_more = holds_more && *holds_more ? holds_more_than_folder(store, session_id) : holds_more;
  const std::optional<FileInfo> after = look_at(store, path);
  if (!after || !after->same_file(*archive) || after->mtime_ns != archive->mtime_ns) {
    return;
  }
  if (!holds_more && !is_not_found(holds_more.error())) {
    store.note_damage(path, *archive, holds_more.error());
  } else if (holds_more && *holds_more && check_still_there(store, seen) &&
             !is_remains(*store.files, session_id).value_or(true)) {
    store.note_problem(
        path, *archive,
        {.code = ErrorCode::E_STORAGE_CORRUPT,
         .message = fmt::format("holds lines of session {} that its folder does not; `bmad-mem "
                                "session restore {}` takes them in",
                                session_id, session_id)},
        /*is_readable=*/true);
  }
}

/// As is_remains(); a folder that is as it was is not listed again. One that changed a moment ago
/// may change within the same tick of the clock.
Result<bool> are_remains(const Store& store, const std::string& session_id) {
  constexpr std::int64_t kTickNs = 2'000'000'000;
  const std::optional<FileInfo> folder = look_at(store, session_folder(session_id));
  {
    const std::lock_guard guard(store.present_mutex);
    const auto known = store.remains.find(session_id);
    if (folder && known != store.remains.end() && known->second.same_file(*folder) &&
        known->second.ctime_ns == folder->ctime_ns) {
      return true;
    }
  }
  BMAD_TRY_ASSIGN(const bool remains, is_remains(*store.files, session_id));
  const std::chrono::nanoseconds now = store.clock.now().time_since_epoch();
  if (remains && folder && folder->links <= 2 && folder->ctime_ns + kTickNs < now.count()) {
    const std::lock_guard guard(store.present_mutex);
    store.remains.insert_or_assign(session_id, *folder);
  }
  return remains;
}

/// Whether two sorted lists have nothing in common.
bool are_apart(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  return std::ranges::none_of(
      one, [&](const std::string& id) { return std::ranges::binary_search(other, id); });
}

/// `depends_on_folders`: whether what is in sessions' folders counts as well.
Result<PresentSessions> look_for_sessions(const Store& store, bool with_remains,
                                          bool& depends_on_folders) {
  // Folders before and after the others: a session on its way from one to the other is in one of
  // the lists at least.
  PresentSessions present;
  BMAD_TRY_ASSIGN(const std::vector<std::string> before, store.session_folders());
  Result<std::vector<std::string>> packed = archived_session_ids(*store.files);
  Result<EvictedParts> evicted = evicted_sessions(store, {});
  if (!packed || !evicted) {
    Error error = packed ? std::move(evicted).error() : std::move(packed).error();
    if (error.code != ErrorCode::E_STORAGE_CORRUPT) {
      return error;
    }
    // What is in the folder's place hides all archives, and no session.
    store.note_problem(kArchiveFolder, store.files->info(kArchiveFolder).value_or(FileInfo{}),
                       std::move(error));
  } else {
    present.packed = *std::move(packed);
    present.evicted = *std::move(evicted);
    note_missing_archives(store, present.packed);
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> after, store.session_folders());
  std::ranges::set_union(before, after, std::back_inserter(present.live));
  depends_on_folders = !with_remains || !are_apart(present.live, present.packed);
  // One that can't be looked at stays: who reads it says why. One that was archived since the
  // archives were listed is in their folder now.
  std::vector<std::string> archived_since;
  std::erase_if(present.live, [&](const std::string& id) {
    const bool is_packed = std::ranges::binary_search(present.packed, id);
    const bool is_nothing = (!with_remains || is_packed) && are_remains(store, id).value_or(false);
    if (is_nothing && !is_packed && store.files->info(archive_path(id))) {
      archived_since.push_back(id);
    }
    return is_nothing;
  });
  present.packed.insert(present.packed.end(), archived_since.begin(), archived_since.end());
  std::ranges::sort(present.packed);
  // A crash or git may leave a session in both places: the folder counts.
  std::erase_if(present.packed, [&](const std::string& id) {
    const bool is_live = std::ranges::binary_search(present.live, id);
    if (is_live) {
      look_behind_folder(store, id);
    }
    return is_live;
  });
  assert(std::ranges::is_sorted(present.live) && std::ranges::is_sorted(present.packed));
  assert(are_apart(present.live, present.packed) && "a session is in one of the lists");
  // What was evicted from a session that is deleted as a whole comes back with it.
  std::erase_if(present.evicted, [&](const auto& each) {
    return !std::ranges::binary_search(present.live, each.first) &&
           !std::ranges::binary_search(present.packed, each.first);
  });
  return present;
}

}  // namespace

Result<PresentSessions> present_sessions(const Store& store, bool with_remains) {
  bool depends_on_folders = false;
  const auto known = [&](StoreWatch::Moment changed) -> std::shared_ptr<const CachedSessions> {
    const std::lock_guard guard(store.present_mutex);
    const bool holds = with_remains && store.present != nullptr &&
                       (changed <= store.present->moment || Question::holds(store.present->look));
    return holds ? store.present : nullptr;
  };
  if (const auto found = known(StoreWatch::kAlways)) {
    return found->sessions;
  }
  const std::uint64_t look = Question::look();
  StoreWatch::Moment changed = StoreWatch::kAlways;
  StoreWatch::Moment moment = 0;
  if (store.watch != nullptr) {
    store.watch->look();
    changed = std::max(store.watch->changed(kSessionsFolder), store.watch->changed(kArchiveFolder));
    if (const auto found = known(changed)) {
      return found->sessions;
    }
    moment = store.watch->now();
  }
  BMAD_TRY_ASSIGN(PresentSessions sessions,
                  look_for_sessions(store, with_remains, depends_on_folders));
  if (with_remains) {
    const std::lock_guard guard(store.present_mutex);
    store.present = std::make_shared<const CachedSessions>(
        sessions, depends_on_folders || changed == StoreWatch::kAlways ? 0 : moment, look);
  }
  return sessions;
}

Result<bool> has_gone(const Store& store, const std::string& session_id) {
  if (!are_remains(store, session_id).value_or(false)) {
    return false;
  }
  if (store.files->info(archive_path(session_id))) {
    return path_error(ErrorCode::E_STORAGE_IO,
                      store.files->display_path(session_folder(session_id)),
                      "the session was archived meanwhile", ENOENT);
  }
  return true;
}

Result<EvictedParts> evicted_sessions(const Store& store, std::span<const std::string> sessions) {
  std::vector<std::string> ids(sessions.begin(), sessions.end());
  if (sessions.empty()) {
    BMAD_TRY_ASSIGN(ids, ids_of_files(*store.files, kArchiveFolder, ".evicted.jsonl.gz"));
  }
  EvictedParts found;
  for (const std::string& id : ids) {
    BMAD_TRY(check_session_id(id));
    BMAD_TRY_ASSIGN(const std::uint32_t parts, evicted_parts(*store.files, id));
    if (parts > 0) {
      found.emplace(id, parts);
    }
  }
  return found;
}

Status check_still_there(const Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const FileInfo folder, store.files->info(session_folder(session_id)));
  // A link or a file was read as an empty session.
  return folder.kind == FileKind::kDirectory
             ? Status()
             : store.leave_out(session_id, Error{.code = ErrorCode::E_SESSION_CORRUPT});
}

std::optional<FileInfo> look_at(const Store& store, const std::string& path) {
  const Result<FileInfo> info = store.files->info(path);
  return info ? std::optional(*info) : std::nullopt;
}

SeenFolder see_folder(const Store& store, const std::string& session_id) {
  SeenFolder seen{.session_id = session_id, .archives = look_at(store, kArchiveFolder)};
  seen.folder = look_at(store, session_folder(session_id));
  return seen;
}

Status check_still_there(const Store& store, const SeenFolder& seen) {
  const auto is_same = [](const std::optional<FileInfo>& before,
                          const std::optional<FileInfo>& now) {
    return before.has_value() == now.has_value() &&
           (!now || (before->same_file(*now) && before->mtime_ns == now->mtime_ns));
  };
  const std::optional<FileInfo> now = look_at(store, session_folder(seen.session_id));
  if (now && now->kind == FileKind::kDirectory && is_same(seen.folder, now)) {
    return {};
  }
  BMAD_TRY(check_still_there(store, seen.session_id));
  // Each write makes files in the folder; the one of archives changes only where something moves.
  if (is_same(seen.archives, look_at(store, kArchiveFolder))) {
    return {};
  }
  return path_error(ErrorCode::E_STORAGE_IO,
                    store.files->display_path(session_folder(seen.session_id)),
                    "the session may have been archived and restored meanwhile", ENOENT);
}

}  // namespace bmad_mem
