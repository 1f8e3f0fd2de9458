// atomic_file.hpp - replacing a file that holds truth: the old bytes or the new ones, never a mix;
// and folders made, files and folders removed, for good.
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

// Folders made and files removed so that it survives power loss.
//
// Each of them syncs also when it found nothing to do: the work may be that of a process that was
// killed before its sync.

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

/// Removes the folder `path` with all that is below it; links are removed, not followed. Nothing is
/// done when there is none. Its parent is synced. Give it a name that no reader looks at before,
/// because a crash leaves part of it.
Status remove_tree(FileSystem& files, const std::string& path);

/// Renames a folder, durably. Where the system can't (EXDEV: a folder of a lower layer of an
/// overlay, or of another quota) it is copied and removed, as mv does; a crash may leave it in both
/// places then. On error it is where it was, and `to` is not there.
Status rename_folder(FileSystem& files, const std::string& from, const std::string& to);

/// Renames a folder that is to be removed to `doomed`, a name that no reader looks at. Returns what
/// is to be removed: `folder` itself where the system can't. On error it is as it was, or `doomed`
/// when a sync failed.
Result<std::string> put_aside(FileSystem& files, const std::string& folder,
                              const std::string& doomed);

}  // namespace bmad_mem
