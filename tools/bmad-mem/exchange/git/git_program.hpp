// git_program.hpp - asking git about the repository that a folder lies in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace bmad_mem::cli {

/// Most bytes of git's output that are kept, unless said otherwise.
inline constexpr std::size_t kGitOutputMax = std::size_t{64} << 20U;

/// Commits for one `git log` or `git grep`: far from the limit of a command line (2 MB).
inline constexpr std::size_t kCommitsAtOnce = 500;

/// Runs `git WORDS…` in `folder`, in no other repository than the one `folder` lies in: what git
/// tells its hooks about theirs is hidden from it.
ProgramRun run_git(const std::string& folder, std::vector<std::string> words,
                   std::size_t output_max = kGitOutputMax);

/// Why git can't be asked about `folder`, as half a sentence; empty when it can.
std::string git_obstacle(const std::string& folder);

/// Whether a branch or a stash has the file `path` of `folder`, and the working tree tracks none.
bool is_on_another_branch(const std::string& folder, const std::string& path);

/// The pieces of `text` that end in `separator`, without it.
std::vector<std::string> split_output(std::string_view text, char separator = '\n');

}  // namespace bmad_mem::cli
