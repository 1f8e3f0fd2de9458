// tracked_files.hpp - what git tracks of a memory, read from git's index without running git.
//
//   PROJECT/.git            a folder, or in a worktree a file: "gitdir: PATH"
//   PROJECT/.git/index      the tracked paths, sorted, each with the stage of an unfinished merge
//
// When in doubt, as for an index that is split, sparse or can't be read, all is tracked.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace bmad_mem {

/// Nothing is read before the first question, and again only when git has changed its index.
/// Threads: safe.
class TrackedFiles {
 public:
  /// `root`: the folder of the memory, which outlives this.
  explicit TrackedFiles(const std::string& root) : root_(root) {}

  /// Whether the memory is in a repository.
  [[nodiscard]] bool in_repository();
  /// Whether git tracks anything in the memory.
  [[nodiscard]] bool any();
  /// Whether git tracks a file in the folder of this session, or of its archive.
  [[nodiscard]] bool has_session(std::string_view session_id);
  /// How many logs of events git tracks.
  [[nodiscard]] std::size_t count_event_logs();
  /// The sessions that an unfinished merge waits for: one side changed a file that the other one
  /// removed, or both have an archive. Sorted.
  [[nodiscard]] std::set<std::string> sessions_in_conflict();

 private:
  void find_index();
  void refresh();

  const std::string& root_;
  std::mutex mutex_;  ///< Guards all below.
  bool is_looked_for_ = false;
  std::string index_file_;             ///< Empty outside of a repository.
  std::string prefix_;                 ///< Of the memory's files, from the top of the working tree.
  std::optional<std::uint64_t> seen_;  ///< Which index was read last.
  bool is_readable_ = true;
  bool has_any_ = false;
  std::size_t event_logs_ = 0;
  std::set<std::string, std::less<>> sessions_;
  std::set<std::string> in_conflict_;
};

}  // namespace bmad_mem
