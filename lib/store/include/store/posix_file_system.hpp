// posix_file_system.hpp - the real disk behind the file-system seam, and its errors.
//
// Paths are resolved by the kernel below the root's descriptor with openat2(RESOLVE_BENEATH |
// RESOLVE_NO_SYMLINKS): a link that somebody puts into the store after we looked is refused all the
// same. Where the call is missing (old kernels, some sandboxes), each component is checked first.
// Files are made 0600 and folders 0700, whatever the umask says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// The folder `root`, which must exist and may be reached through links: they are the user's own.
/// Errors: E_SESSION_NOT_FOUND when there is no such folder, E_STORAGE_IO otherwise.
Result<std::unique_ptr<FileSystem>> open_posix_file_system(const std::string& root);

/// The whole file at `path`, outside of any root: links are followed. Never waits. Errors: as the
/// system's; E_STORAGE_IO for what is no regular file, E_SIZE_LIMIT above `size_max` bytes.
Result<std::string> read_outside_file(const std::string& path, std::uint64_t size_max);
/// A number for what is at `path`: another one once it has changed or something else is in its
/// place; 0 where nothing is.
std::uint64_t outside_file_stamp(const std::string& path);
/// As read_outside_file(), of a file that holds a secret. Errors besides: E_ACCESS_DENIED for one
/// that is somebody else's, or that others may read or write.
Result<std::string> read_private_file(const std::string& path, std::uint64_t size_max);

/// Writes `text` into a new file of mode 600 at `path`, and makes it durable; one that is there
/// stays as it is. Folders above it are made. Errors: E_STORAGE_IO.
Status create_private_file(const std::string& path, std::string_view text);

/// Creates the folder `root` and the missing ones above it (0700), and makes them durable.
Status make_root_directory(const std::string& root);

/// Turns SIGXFSZ and SIGPIPE into errors of the call that caused them: a full disk must not be a
/// death. Leaves handlers alone that a program has set itself.
void ignore_write_signals();

/// How many descriptors this process may have open: the soft limit at this moment.
std::size_t descriptor_limit();

/// `action` is what failed, as an infinitive: "read", "write to", "rename". E_STORAGE_FULL for
/// ENOSPC, EDQUOT and EFBIG, otherwise E_STORAGE_IO.
Error posix_error(int error_number, std::string_view action, std::string path);

}  // namespace bmad_mem
