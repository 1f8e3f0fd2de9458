// git_program.hpp - asking git about the repository that a folder lies in.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"
#include "cli/command.hpp"
#include "cli/program.hpp"
#include "cli/tool.hpp"

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

// What the surrounding git repository remembers of a text that was purged.
//
//   git log -S TEXT      which commits brought it in, or took it out
//   git grep TEXT REV…   which files of all commits hold it: also of merges, which the first misses
//   archive/*.gz of all commits, unpacked: a text in a compressed file is found by neither
//
// All refs and reflogs are looked at, and the staged files. The working tree is find_text()'s part.

/// Whether git keeps what is in this folder.
bool is_in_git(std::filesystem::path folder);

struct GitSearch {
  /// Why nothing, or not everything, could be looked at; empty when all was.
  std::string obstacle;
  std::vector<Leftover> found;
};

/// The commits that brought a secret of `scanner` into the root, a sentence each, also those that
/// only a reflog remembers. No secret is a word of git's command.
GitSearch search_git_secrets(const std::string& root, const SecretScanner& scanner);

/// Which of these `paths`, relative to `root`, were ever committed.
GitSearch search_git_paths(const std::string& root, std::span<const std::string> paths);

/// Prints what a search of the history found. kFailed when that is something.
ExitStatus print_git_search(Tool& tool, const GitSearch& search);

/// `--verify`: searches every byte below the root and the surrounding git history for `text`, also
/// as JSON writes it, and prints what is left, where, and what to do about it. kFailed when
/// something is left.
Result<ExitStatus> verify_gone(Tool& tool, const MemoryManager& memory, std::string_view text);

}  // namespace bmad_mem::cli
