#include "session_sources.hpp"

#include "packed_session.hpp"

namespace bmad_mem {

Result<std::vector<SessionSource>> session_sources(const Store& store,
                                                   std::span<const std::string> wanted,
                                                   bool archived) {
  std::vector<SessionSource> found;
  const PackedKind kind = archived ? PackedKind::kArchive : PackedKind::kKept;
  const auto add_packed = [&](const std::string& id) -> Status {
    BMAD_TRY_ASSIGN(std::shared_ptr<FileSystem> files, packed_files(store, id, kind));
    found.push_back({.session_id = id, .packed = std::move(files)});
    return {};
  };
  if (wanted.empty()) {
    BMAD_TRY_ASSIGN(const PresentSessions present, present_sessions(store, kind));
    for (const std::string& id : present.live) {
      found.push_back({.session_id = id, .packed = nullptr});
    }
    for (const std::string& id : present.packed) {
      BMAD_TRY(add_packed(id));
    }
    return found;
  }
  for (const std::string& id : wanted) {
    Status there = check_session(store, id);
    if (!there && archived && there.error().code == ErrorCode::E_SESSION_ARCHIVED) {
      BMAD_TRY(add_packed(id));
      continue;
    }
    BMAD_TRY(std::move(there));
    found.push_back({.session_id = id, .packed = nullptr});
  }
  return found;
}

}  // namespace bmad_mem
