// tar.hpp - tar files: what libarchive does for the archive of a session.
//
// Written: ustar, and a pax header only for a name that ustar has no room for; owner 0, mode 0600.
// Read: every kind of tar that libarchive knows. What a member is allowed to be is not decided
// here.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {

/// A tar of `members` in their order, in the folder `folder`. Equal members give equal bytes.
Result<std::string> make_tar(std::string_view folder, std::span<const ArchivedFile> members);

inline constexpr std::string_view kTarFile = "a file";
inline constexpr std::string_view kTarFolder = "a folder";

/// The bytes of a tar from an offset below its size on: as many as are at hand, one at least. They
/// stay until it is called again.
using TarBytes = std::function<Result<std::string_view>(std::uint64_t offset)>;

/// Hands over the members of a tar of `size` bytes one by one until `take` returns an error, which
/// is returned. Of the files' own bytes it asks for no more than follow a header at hand.
/// Errors: E_STORAGE_CORRUPT when it is no tar, damaged, or has no end mark or anything behind it;
/// those of `bytes`.
Status list_tar(std::uint64_t size, const TarBytes& bytes,
                const std::function<Status(PlacedFile)>& take);

// Which files of a session's folder are its memory, and which of its archive.

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
