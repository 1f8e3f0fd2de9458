// packed_session.hpp - a session that is no folder, searched as if it were one: the entries that
// were kept of an archived session, or all that is in its archive.
//
// Its files are unpacked into memory, and a SessionIndex reads them there. It has no checkpoint:
// what was kept is small, and archives are searched when somebody asks for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

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

/// The sessions that are kept or archived and are no folder, sorted.
Result<std::vector<std::string>> packed_session_ids(const Store& store, PackedKind kind);

/// The sessions there are: each in one of the lists, both sorted.
struct PresentSessions {
  std::vector<std::string> live;
  std::vector<std::string> packed;
};

/// One that comes or goes while they are listed is among them. It need not be where the list says.
Result<PresentSessions> present_sessions(const Store& store, PackedKind kind);

/// Whether `session_id` is a folder still, after it was read as one: a folder that went meanwhile
/// looked empty. Errors: one that is_not_found() when it has gone.
Status check_still_there(const Store& store, const std::string& session_id);

/// What `look` finds in the sessions there are; it looks again when one came or went meanwhile.
template <typename Look>
auto choose_steadily(const Look& look) -> decltype(look()) {
  constexpr int kTries = 8;
  auto found = look();
  for (int i = 1; i < kTries && !found && is_not_found(found.error()); ++i) {
    found = look();
  }
  return found;
}

}  // namespace bmad_mem
