// git_program.hpp - asking git about the repository that a folder lies in.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program.hpp"

namespace bmad_mem::cli {

/// Most bytes of git's output that are kept, unless said otherwise.
inline constexpr std::size_t kGitOutputMax = std::size_t{64} << 20U;

using GitWords = std::vector<std::string>;

/// Runs `git WORDS…` in `folder`, in no other repository than the one `folder` lies in: what git
/// tells its hooks about theirs is hidden from it.
ProgramRun run_git(const std::string& folder, const GitWords& words,
                   std::size_t output_max = kGitOutputMax);
/// As run_git(); the output includes what git prints on stderr.
ProgramRun run_git_aloud(const std::string& folder, const GitWords& words);

/// Why git can't be asked about `folder`, as half a sentence; empty when it can.
std::string git_obstacle(const std::string& folder);

/// Whether a branch or a stash has the file `path` of `folder`, and the working tree tracks none.
bool is_on_another_branch(const std::string& folder, const std::string& path);

/// The commits that changed `path` below `folder`, a line each, newest first; also those that only
/// a reflog remembers. `more`: further options.
ProgramRun list_commits(const std::string& folder, const std::string& path = ".",
                        const GitWords& more = {});

/// Runs `git WORDS… COMMITS… -- .` for all of `commits`, some hundreds at a time.
void run_git_on(const std::string& folder, const GitWords& words,
                std::span<const std::string_view> commits, std::size_t output_max,
                const std::function<void(const ProgramRun&)>& visit);

}  // namespace bmad_mem::cli
