// refused_files.hpp - notes about packed files, for other processes: one that could not be
// read is not unpacked by each of them.
//
//   {"key":"9f86d081884c7d65","file":"archive/a.tar.gz","code":"E_SIZE_LIMIT","message":"…"}
//
// The key is of the very file, its inode and time of change, and of the note. Who makes a
// clone gives its files others, so a line that comes with one says nothing.
#pragma once

#include <cstdint>
#include <string>

#include "base/file_system.hpp"
#include "store/store.hpp"

namespace bmad_mem {

using RefusedFiles = std::map<std::string, Error, std::less<>>;  ///< By refused_key().

inline constexpr std::uint64_t kRefusedSizeMax = 1U << 20U;

/// A note about a packed file.
enum class PackedNote : std::uint8_t {
  kRefused = 1,    ///< To be raised when something is read that was refused before.
  kNotQuick = 64,  ///< It is more than a quick process unpacks, see UnpackBudget::kQuickMax.
  kOurs,           ///< It was written here.
};

std::string refused_key(const std::string& path, const FileInfo& file,
                        PackedNote note = PackedNote::kRefused);

/// What was noted; nothing where it can't be read.
RefusedFiles read_refused(FileSystem& files);

/// Notes that of `file` at `path`, if it is there, with the reason; kOurs only where a quick
/// process may take it for too much. Where that fails, each process finds out.
void remember_packed(FileSystem& files, const std::string& path, const Result<FileInfo>& file,
                     PackedNote note, const Error& error = {});

}  // namespace bmad_mem
