// session_sources.hpp - where the entries of sessions are read: in their folders, or in what was
// kept or archived of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store.hpp"

namespace bmad_mem {

struct SessionSource {
  std::string session_id;
  std::shared_ptr<FileSystem> packed;  ///< Null for a folder.

  [[nodiscard]] FileSystem& files(const Store& store) const {
    return packed == nullptr ? *store.files : *packed;
  }
};

/// Of the sessions `wanted`, or of all, those that are kept among them; with `archived` archived
/// ones as a whole. One that has left its folder when it is read is an error that is_not_found():
/// look with choose_steadily() and check_still_there().
Result<std::vector<SessionSource>> session_sources(const Store& store,
                                                   std::span<const std::string> wanted,
                                                   bool archived);

}  // namespace bmad_mem
