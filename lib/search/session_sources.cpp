#include "search/session_sources.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>

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

Status add_packed(const Store& store, const std::string& id, const PackedPlace& place,
                  std::vector<SessionSource>& sources) {
  BMAD_TRY_ASSIGN(Packed packed, packed_session(store, id, place));
  if (packed != nullptr) {
    sources.push_back({.session_id = id, .packed = std::move(packed), .is_only_one = false});
  }
  return {};
}

}  // namespace

Result<PresentSessions> asked_sessions(const Store& store, std::span<const std::string> wanted,
                                       ArchivedSessions archived, bool with_remains) {
  PresentSessions asked;
  if (wanted.empty()) {
    BMAD_TRY_ASSIGN(asked, present_sessions(store, with_remains));
  }
  for (const std::string_view each : std::set<std::string_view>(wanted.begin(), wanted.end())) {
    const std::string id(each);
    Status there = check_session(store, id);
    if (!there && (there.error().code != ErrorCode::E_SESSION_ARCHIVED ||
                   archived == ArchivedSessions::kWithout)) {
      return std::move(there).error();
    }
    (there ? asked.live : asked.packed).push_back(id);
  }
  if (archived == ArchivedSessions::kOnly) {
    asked.live.clear();
  } else if (archived == ArchivedSessions::kWithout) {
    asked.packed.clear();
  }
  if (wanted.size() != 1) {
    std::erase_if(asked.live, [&](const std::string& id) { return store.is_left_out(id); });
  }
  return asked;
}

Result<std::vector<SessionSource>> session_sources(const Store& store,
                                                   std::span<const std::string> wanted,
                                                   ArchivedSessions archived) {
  BMAD_TRY_ASSIGN(const PresentSessions asked, asked_sessions(store, wanted, archived));
  std::vector<SessionSource> found;
  for (const std::string& id : asked.live) {
    found.push_back({.session_id = id,
                     .packed = nullptr,
                     .is_only_one = wanted.size() == 1,
                     .seen = see_folder(store, id)});
  }
  for (const std::string& id : asked.packed) {
    BMAD_TRY(add_packed(store, id, {}, found));
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
      BMAD_TRY(add_packed(store, id, {.kind = PackedKind::kEvicted, .part = part}, found));
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
