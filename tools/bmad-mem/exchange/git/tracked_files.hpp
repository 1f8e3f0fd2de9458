// tracked_files.hpp - what git tracks below a folder, read from its index without running git.
//
//   PROJECT/.git            a folder, or in a worktree a file: "gitdir: PATH"
//   PROJECT/.git/index      the tracked paths, sorted
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// The paths in `index`, the bytes of a file of git (versions 2 to 4), that begin with `prefix`,
/// without it. Errors: E_INVALID_FORMAT.
Result<std::set<std::string, std::less<>>> paths_in_git_index(std::string_view index,
                                                              std::string_view prefix);

/// The sessions of a memory of which git tracks a file. Looks again only when git has changed its
/// index. Not for several threads at once.
class TrackedSessions {
 public:
  /// `root`: that of the memory.
  explicit TrackedSessions(const std::string& root);

  /// Whether the memory is in a repository.
  [[nodiscard]] bool in_repository() const { return !index_file_.empty(); }
  /// An index that can't be read tracks all: whoever asks begins something new then.
  [[nodiscard]] bool is_tracked(const std::string& session_id);

 private:
  void refresh();

  std::string index_file_;  ///< Empty outside of a repository.
  std::string prefix_;      ///< Of the memory's sessions, from the top of the working tree.
  std::string seen_;        ///< Which index was read last.
  bool is_readable_ = true;
  std::set<std::string, std::less<>> tracked_;
};

}  // namespace bmad_mem::cli
