// session_files.hpp - which files of a session's folder are its memory, and which of its archive.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "store/archive_members.hpp"
#include "store/session_archive.hpp"
#include "tar.hpp"

namespace bmad_mem {

/// Reads them all, in the order above, artifacts sorted. What is derived or local (index.json,
/// .lock*, *.tmp) is left out.
/// Errors: E_SESSION_NOT_FOUND without a folder; E_SESSION_CORRUPT without a manifest;
/// E_STORAGE_CORRUPT when anything else lies there, naming it; as the file system's.
Result<std::vector<ArchivedFile>> read_session_files(FileSystem& files,
                                                     std::string_view session_id);

// Which files are in the tar of an archive, and what of it is refused.

/// The most that is unpacked of an archive of `packed_size` bytes.
std::uint64_t tar_size_max(std::uint64_t packed_size, const ArchiveLimits& limits);

/// The files in the tar of the archive of `session_id`, in its order, checked as
/// read_session_archive() says. Errors: as it; those of `bytes`.
Result<std::vector<PlacedFile>> place_archive_files(std::string_view session_id,
                                                    std::uint64_t tar_size, const TarBytes& bytes,
                                                    const ArchiveLimits& limits);

}  // namespace bmad_mem
