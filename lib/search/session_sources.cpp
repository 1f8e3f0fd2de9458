#include "search/session_sources.hpp"

#include <algorithm>
#include <cerrno>

#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<std::shared_ptr<FileSystem>> SessionSource::files(const Store& store) const {
  if (packed != nullptr) {
    return packed->files();
  }
  return std::shared_ptr<FileSystem>(std::shared_ptr<void>(), store.files.get());  // Not owned.
}

Status SessionSource::check_still_there(const Store& store) const {
  if (packed != nullptr) {
    return packed->check_still_there();
  }
  return seen ? bmad_mem::check_still_there(store, *seen)
              : bmad_mem::check_still_there(store, session_id);
}

Status SessionSource::leave_out(const Store& store, Error error) const {
  return packed == nullptr && !is_only_one ? store.leave_out(session_id, std::move(error))
                                           : Status(std::move(error));
}

namespace {

Status add_packed(const Store& store, const std::string& id, PackedKind kind,
                  std::vector<SessionSource>& sources, std::uint32_t evicted_part = 0) {
  BMAD_TRY_ASSIGN(Packed packed, packed_session(store, id, kind, evicted_part));
  if (packed != nullptr) {
    sources.push_back({.session_id = id, .packed = std::move(packed), .is_only_one = false});
  }
  return {};
}

}  // namespace

Result<std::vector<SessionSource>> session_sources(const Store& store,
                                                   std::span<const std::string> wanted,
                                                   ArchivedSessions archived) {
  std::vector<SessionSource> found;
  PresentSessions present;
  if (wanted.empty()) {
    BMAD_TRY_ASSIGN(present, present_sessions(store));
  }
  for (const std::string& id : wanted) {
    Status there = check_session(store, id);
    if (!there && (there.error().code != ErrorCode::E_SESSION_ARCHIVED ||
                   archived == ArchivedSessions::kWithout)) {
      return std::move(there).error();
    }
    (there ? present.live : present.packed).push_back(id);
  }
  if (archived != ArchivedSessions::kOnly) {
    const bool is_only_one = wanted.size() == 1;
    for (const std::string& id : present.live) {
      if (is_only_one || !store.is_left_out(id)) {
        found.push_back({.session_id = id,
                         .packed = nullptr,
                         .is_only_one = is_only_one,
                         .seen = see_folder(store, id)});
      }
    }
  }
  if (archived != ArchivedSessions::kWithout) {
    for (const std::string& id : present.packed) {
      BMAD_TRY(add_packed(store, id, PackedKind::kArchive, found));
    }
  }
  return found;
}

Result<std::vector<SessionSource>> evicted_sources(const Store& store,
                                                   std::span<const std::string> wanted) {
  EvictedParts parts;
  if (wanted.empty()) {
    BMAD_TRY_ASSIGN(PresentSessions present, present_sessions(store));
    parts = std::move(present.evicted);
  } else {
    BMAD_TRY_ASSIGN(parts, evicted_sessions(store, wanted));
  }
  std::vector<SessionSource> found;
  for (const auto& [id, count] : parts) {
    for (std::uint32_t part = count; part > 0; --part) {
      BMAD_TRY(add_packed(store, id, PackedKind::kEvicted, found, part));
    }
  }
  return found;
}

Status check_evicted(const Store& store, std::span<const std::string> wanted,
                     std::span<const SessionSource> evicted) {
  for (const SessionSource& source : evicted) {
    BMAD_TRY(source.check_still_there(store));
  }
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> now, evicted_sources(store, wanted));
  if (!std::ranges::equal(now, evicted, {}, &SessionSource::session_id,
                          &SessionSource::session_id)) {
    return path_error(ErrorCode::E_STORAGE_IO, store.files->display_path(kArchiveFolder),
                      "entries were evicted or restored meanwhile", ENOENT);
  }
  return {};
}

}  // namespace bmad_mem
