// git_history.hpp - what the surrounding git repository remembers of a text that was purged.
//
//   git log -S TEXT      which commits brought it in, or took it out
//   git grep TEXT REV…   which files of all commits hold it: also of merges, which the first misses
//   archive/*.gz of all commits, unpacked: a text in a compressed file is found by neither
//
// All refs and reflogs are looked at, and the staged files. The working tree is find_text()'s part.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"
#include "cli/command.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

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
