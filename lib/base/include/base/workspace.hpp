// workspace.hpp - whether a path leads out of the project that a memory belongs to.
//
//   /home/ann/app                  the workspace
//   src/a.cpp   ./b  ../app/c      inside: relative paths count from it
//   ../other    /home/ann/apple    outside
//   file:///home/ann/app/d  ~/x    as the paths they stand for
//   https://example.com/e          names no file: not outside
//
// Pure text: nothing is looked up, so the answer is the same for a path that is gone or was never
// there, and on the machine of whoever reads the entry later.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

struct Workspace {
  std::string folder;     ///< Absolute, as it was named.
  std::string resolved;   ///< The same without symbolic links; paths below either are inside.
  std::string home = {};  ///< What ~ stands for, absolute; empty: unknown, so ~ is outside.
  /// The same folder in other worktrees of git: paths below any are inside.
  std::vector<std::string> worktrees = {};
};

/// Whether `path` is that of a file outside `workspace`. `.`, `..` and doubled slashes are worked
/// out as text; names are compared whole and, below a drive, without regard to the case of ASCII.
/// - Windows paths have both slashes for separators; so have relative paths, which may be such.
/// - URLs with the scheme file are the paths they hold, percent-encoded; those of another host are
///   outside, and so are URLs of any other scheme but http and https.
/// - `~name` is the home of somebody, and outside.
/// - The empty path is none, and not outside.
bool is_outside_workspace(const Workspace& workspace, std::string_view path);

}  // namespace bmad_mem
