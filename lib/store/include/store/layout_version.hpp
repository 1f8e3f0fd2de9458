// layout_version.hpp - which version of the format a root has, and what an older program may do.
//
//   layout.json   {"layout_version": 2}      tracked; a root without it has version 1
//
// Who changes the format on disk so that an older program would read it wrongly, or damage it,
// raises kLayoutVersion and writes the file. A program that finds a higher number than its own
// reads what it can and writes nothing, not even a lock.
#pragma once

#include <memory>
#include <optional>

#include "base/file_system.hpp"

namespace bmad_mem {

inline constexpr int kLayoutVersion = 1;

/// Why nothing may be written into the root: E_NEWER_VERSION when a newer program made it, or when
/// its version can't be read. Nothing when this program knows it. Errors: as the file system's.
Result<std::optional<Error>> newer_layout(FileSystem& files);

/// `files`, of which every call that changes something fails with `why`.
std::unique_ptr<FileSystem> read_only_files(std::unique_ptr<FileSystem> files, Error why);

}  // namespace bmad_mem
