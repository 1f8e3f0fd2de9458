// session_folder.hpp - the folder of a session on its way in or out.
//
//   sessions/.{id}.tmp/   being filled or emptied      no session: the name is no session id
//   sessions/{id}/        whole                        comes and goes by one rename
//
// A crash can leave the first behind; whoever holds the root's lock removes it.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem {

/// "sessions/.{session_id}.tmp".
std::string unfinished_session_folder(std::string_view session_id);

/// Whether `name`, from the list of sessions/, is that of a folder being filled or emptied.
bool is_unfinished_session_name(std::string_view name);

}  // namespace bmad_mem
