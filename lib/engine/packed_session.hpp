// packed_session.hpp - a session that is no folder, searched as if it were one: the entries that
// were kept of an archived session, or all that is in its archive.
//
// Its files are unpacked into memory, and a SessionIndex reads them there. It has no checkpoint:
// what was kept is small, and archives are searched when somebody asks for it.
#pragma once

#include <memory>
#include <string>

#include "index/session_index.hpp"
#include "store.hpp"

namespace bmad_mem {

enum class PackedKind : std::uint8_t { kKept, kArchive };

/// The index of `session_id` as it is kept or archived, made anew when its file has changed.
/// Errors: as read_kept() and read_session_archive().
Result<std::shared_ptr<SessionIndex>> packed_index(const Store& store,
                                                   const std::string& session_id, PackedKind kind);

/// Its files, under the names that they have in the folder of a session; read only.
/// Errors: as packed_index().
Result<std::shared_ptr<FileSystem>> packed_files(const Store& store, const std::string& session_id,
                                                 PackedKind kind);

/// What `choose` says of the sessions there are; asked again when one came or went meanwhile.
template <typename Choose>
auto choose_steadily(const Choose& choose) -> decltype(choose()) {
  constexpr int kTries = 8;
  auto chosen = choose();
  for (int i = 1; i < kTries && !chosen && is_not_found(chosen.error()); ++i) {
    chosen = choose();
  }
  return chosen;
}

/// The sessions that are kept or archived and are no folder, sorted.
Result<std::vector<std::string>> packed_session_ids(const Store& store, PackedKind kind);

}  // namespace bmad_mem
