// durable_change.hpp - folders made and files removed so that it survives power loss.
//
// Each of them syncs also when it found nothing to do: the work may be that of a process that was
// killed before its sync.
#pragma once

#include <string>
#include <string_view>

#include "base/file_system.hpp"

namespace bmad_mem {

/// Makes the folder `path` and those above it, unless they are there. Durable on success.
Status ensure_folder(FileSystem& files, const std::string& path);

/// Removes the file `path`, if it is there. Durable on success.
Status remove_durably(FileSystem& files, const std::string& path);

/// Makes .gitignore hold `pattern` as a line: a root of an older version, or one whose .gitignore a
/// person wrote, does not name what later versions write.
Status ensure_ignored(FileSystem& files, std::string_view pattern);

/// The session ids among the names "{session-id}{suffix}" in `folder`, sorted; none when there is
/// no folder.
Result<std::vector<std::string>> ids_of_files(FileSystem& files, const std::string& folder,
                                              std::string_view suffix);

}  // namespace bmad_mem
