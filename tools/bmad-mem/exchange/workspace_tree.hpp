// workspace_tree.hpp - which files a project has, and which names stand in them.
//
// Looks at nothing outside the folder: symbolic links are neither followed nor read. Both walks end
// with a limit; then what was not found may be there all the same, and is_complete() says so.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bmad_mem::cli {

struct WorkspaceLimits {
  std::chrono::milliseconds time{3000};  ///< For each of the two walks.
  std::size_t files = 200'000;
  std::uint64_t file_bytes = 1U << 20U;  ///< Larger files are no sources.
  std::uint64_t bytes = 128U << 20U;     ///< Read for names, together.
};

class WorkspaceTree {
 public:
  /// Lists the files below `folder`, absolute. Those of version control, installed packages and
  /// this memory are left out. What can't be read is passed over.
  explicit WorkspaceTree(std::string folder, const WorkspaceLimits& limits = {});

  [[nodiscard]] std::size_t file_count() const { return files_.size(); }
  /// Whether all files were listed in time.
  [[nodiscard]] bool is_complete() const { return is_complete_; }

  /// Whether `path`, as a text names it, is a file or folder here: from the top, or behind any
  /// folder. True also for what leads out of the project: nobody looks there.
  [[nodiscard]] bool has(std::string_view path) const;

  /// Those of `names` that stand in no file of source code; nothing when not all files could be
  /// read within the limits.
  [[nodiscard]] std::optional<std::set<std::string, std::less<>>> missing_names(
      const std::set<std::string, std::less<>>& names) const;

 private:
  std::string folder_;
  WorkspaceLimits limits_;
  bool is_complete_ = true;
  std::vector<std::string> files_;  ///< Relative to the folder; folders end in '/'.
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

// The files and symbols that a text names.
//
//   "`requireAuth()` in src/auth.ts comes first"   files: src/auth.ts   symbols: requireAuth

/// Each once, in the order of the text.
struct Mentions {
  std::vector<std::string> files;    ///< As they are written, without ":12" behind them.
  std::vector<std::string> symbols;  ///< The last name of "a::b()" and "a.b()".
};

/// A file is a word with an ending that files of projects have ("src/auth.ts", "Makefile.am"), or a
/// folder with a slash behind it. A symbol is a name with "()" behind it, and one between
/// back-ticks that is written as only code is (snake_case, camelCase, a::b). Addresses and patterns
/// are none.
Mentions mentions_in(std::string_view text);

}  // namespace bmad_mem::cli
