// session_place.hpp - whether the folder of a session holds one.
//
//   manifest.json …                         a session
//   conversation.jsonl …, no manifest       a damaged session: `repair` mends it
//   .lock  index.json  access.jsonl  *.tmp  remains: no session, and nobody is told of them
//
// git leaves remains when it takes a session away (checkout, stash, clean): it removes what it
// tracks and keeps what it ignores.
#pragma once

#include <string_view>

#include "base/file_system.hpp"

namespace bmad_mem {

/// Whether `name` in a session's folder is one that git ignores: worth nothing without the rest.
bool is_local_name(std::string_view name);

/// Whether session `session_id` has a folder that holds nothing but local files. False without one.
/// Cost: one look at the manifest when that is there.
Result<bool> is_remains(FileSystem& files, std::string_view session_id);

/// Whether something is in the session's place that is more than remains.
Result<bool> is_session_there(FileSystem& files, std::string_view session_id);

}  // namespace bmad_mem
