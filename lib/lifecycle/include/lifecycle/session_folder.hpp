// session_folder.hpp - the folder of a session on its way in or out.
//
//   sessions/.{id}.tmp/   being filled or emptied      no session: the name is no session id
//   sessions/{id}/        whole                        comes and goes by one rename
//
// A crash can leave the first behind; whoever holds the root's lock removes it.
#pragma once

#include <string>
#include <string_view>

#include "core/file_system.hpp"

namespace bmad_mem {

/// "sessions/.{session_id}.tmp".
std::string unfinished_session_folder(std::string_view session_id);

/// Whether `name`, from the list of sessions/, is that of a folder being filled or emptied.
bool is_unfinished_session_name(std::string_view name);

/// Removes `folder` with its files and those one folder further down (artifacts/), which is as deep
/// as a session goes. Links are removed, not followed. Not synced. On error a part may be left.
Status remove_session_folder(FileSystem& files, const std::string& folder);

}  // namespace bmad_mem
