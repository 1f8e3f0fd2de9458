// check.hpp - what should not be in a repository that holds a memory.
//
//   conflict_marker   a merge that nobody finished
//   unmerged          a file that git waits for somebody to merge
//   not_for_git       derived, local or deleted files that git tracks
//   repeated_line     a line that says again what is the newest version already
//   half_installed    a driver's section without a driver: every merge would end in a fatal error
//   secret            what the rules would take out today, in some commit
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/privacy.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

struct GitFinding {
  std::string kind;
  std::string path;        ///< Relative to the memory.
  std::uint64_t line = 0;  ///< 1-based; 0 when the whole file is meant.
  std::string detail;
  std::string remedy;
};

struct GitCheck {
  std::vector<GitFinding> findings;
  std::uint64_t files = 0;    ///< Tracked ones that were looked at.
  std::uint64_t commits = 0;  ///< Whose changes were looked at.
  std::string obstacle;       ///< What could not be looked at; empty when all was.
};

/// Looks at the memory at `root`, and with `history` at all that was ever committed of it.
/// `on_progress` is told how many commits of how many were looked at.
/// Errors: E_STORAGE_IO without git or a repository.
Result<GitCheck> check_repository(
    const std::string& root, const SecretScanner& scanner, bool history,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& on_progress);

/// Why a file of a memory should not be tracked, as half a sentence; empty when it should.
std::string_view reason_against_tracking(std::string_view path);

/// Conflict markers in `text`, as findings for `path`.
std::vector<GitFinding> find_conflict_markers(std::string_view path, std::string_view text);

/// Lines of a log that repeat the newest version before them of the same id.
std::vector<GitFinding> find_repeated_lines(std::string_view path, std::string_view text);

}  // namespace bmad_mem::cli
