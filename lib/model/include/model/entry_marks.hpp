// entry_marks.hpp - the members that the engine sets to true on an entry before it is written.
//
// They are written, not worked out when reading: so index and logs agree whatever the config says
// later, and people see in the line itself what holds for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/workspace.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"

namespace bmad_mem {

/// `line`, one JSON object, with the member `name` set to true. What is no object, and one that has
/// such a member, stays as it is: who set it knows better.
std::string with_mark(std::string_view line, std::string_view name);
/// The same where `entry` is the value of `line`.
std::string with_mark(JsonValue entry, std::string_view line, std::string_view name);

/// The workspace of the memory at `root`: the folder that holds .bmad; for a root that is named
/// otherwise, the folder above it. Looks at the disk once, for symbolic links.
Workspace workspace_of(const std::string& root);

/// The first line of a file that git writes, of its first 4 KiB; empty when it is no regular file
/// or can't be read.
std::string first_line_of_file(const std::filesystem::path& path);
/// With it begins the file .git of a worktree or a submodule; the path of its repository follows.
inline constexpr std::string_view kGitDir = "gitdir: ";

/// `line`, an entry of `type`, marked as outside_workspace; nothing when its path is not outside or
/// it has no path, and when it is marked or unmarked already. `entry` is the value of `line`.
std::optional<std::string> marked_outside(const Workspace& workspace, EntryType type,
                                          JsonValue entry, std::string_view line);

}  // namespace bmad_mem
