// atomic_file.hpp - replacing a file that holds truth: the old bytes or the new ones, never a mix.
//
//   X.tmp: write, fsync  ->  rename X.tmp to X  ->  fsync the folder  ->  acknowledged
//
// The caller holds the lock that guards the file: two writers would share the name X.tmp. A crash
// can leave X.tmp behind; the next replacement of X overwrites it, and repair removes it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/file_system.hpp"

namespace bmad_mem {

/// Name of the temporary file beside `path`.
std::string temporary_path(const std::string& path);

/// The folder of `path`; "" for a name in the root.
std::string parent_folder(const std::string& path);

/// Writes all of `bytes`, however many calls it takes.
Status write_all(File& file, std::string_view bytes);

/// Puts `bytes` in the place of `path`. Durable on success; on error `path` is as it was, unless
/// the last sync failed: then it holds the old or the new bytes.
Status replace_file(FileSystem& files, const std::string& path, std::string_view bytes);

/// As replace_file, with the bytes written by `fill`, which must write all it wants to keep.
Status replace_file_with(FileSystem& files, const std::string& path,
                         const std::function<Status(File&)>& fill);

/// replace_file_with() up to the rename, for callers with another way when there is no room: on
/// error `path` is as it was, always. The caller then syncs the folder.
Status rename_into_place(FileSystem& files, const std::string& path,
                         const std::function<Status(File&)>& fill);

/// As replace_file for a derived file: not synced, so a power cut may leave it empty or torn. Its
/// readers must notice.
Status replace_derived_file(FileSystem& files, const std::string& path, std::string_view bytes);

}  // namespace bmad_mem
