// remove_tree.hpp - a folder and everything in it, gone.
#pragma once

#include <string>

#include "base/file_system.hpp"

namespace bmad_mem {

/// Removes the folder `path` with all that is below it; links are removed, not followed. Nothing is
/// done when there is none. Its parent is synced. Give it a name that no reader looks at before,
/// because a crash leaves part of it.
Status remove_tree(FileSystem& files, const std::string& path);

}  // namespace bmad_mem
