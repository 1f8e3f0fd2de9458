// archive_files.hpp - which files are in the tar of an archive, and what of it is refused.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "store/archive_members.hpp"
#include "store/session_archive.hpp"
#include "tar.hpp"

namespace bmad_mem {

/// The most that is unpacked of an archive of `packed_size` bytes.
std::uint64_t tar_size_max(std::uint64_t packed_size, const ArchiveLimits& limits);

/// The files in the tar of the archive of `session_id`, in its order, checked as
/// read_session_archive() says. Errors: as it; those of `bytes`.
Result<std::vector<PlacedFile>> place_archive_files(std::string_view session_id,
                                                    std::uint64_t tar_size, const TarBytes& bytes,
                                                    const ArchiveLimits& limits);

}  // namespace bmad_mem
