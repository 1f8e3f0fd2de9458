// refused_files.hpp - packed files that could not be read, for other processes: none is unpacked by
// each of them.
//
//   {"key":"9f86d081884c7d65","file":"archive/a.tar.gz","code":"E_SIZE_LIMIT","message":"…"}
//
// The key is of the very file: its inode and time of change. Who makes a clone gives its files
// others, so a line that comes with one says nothing.
#pragma once

#include <cstdint>
#include <string>

#include "base/file_system.hpp"
#include "store/store.hpp"

namespace bmad_mem {

using RefusedFiles = std::map<std::string, Error, std::less<>>;  ///< By refused_key().

inline constexpr std::uint64_t kRefusedSizeMax = 1U << 20U;

std::string refused_key(const std::string& path, const FileInfo& file);

/// What was noted; nothing where it can't be read.
RefusedFiles read_refused(FileSystem& files);

/// Notes why `file` at `path` is refused. Where that fails, each process finds out.
void remember_refused(FileSystem& files, const std::string& path, const FileInfo& file,
                      const Error& error);

}  // namespace bmad_mem
