// git_history.hpp - what the surrounding git repository remembers of a text that was purged.
//
//   git log -S TEXT      which commits brought it in, or took it out
//   git grep TEXT REV…   which files of all commits hold it: also of merges, which the first misses
//   archive/*.gz of all commits, unpacked: a text in a compressed file is found by neither
//
// All refs and reflogs are looked at, and the staged files. The working tree is find_text()'s part.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

struct GitSearch {
  /// Why nothing, or not everything, could be looked at; empty when all was.
  std::string obstacle;
  std::vector<Leftover> found;
};

/// Where `text`, or `text` as JSON writes it, is in the history of the folder `root`.
GitSearch search_git_history(const std::string& root, std::string_view text);

/// Which of these `paths`, relative to `root`, were ever committed.
GitSearch search_git_paths(const std::string& root, std::span<const std::string> paths);

}  // namespace bmad_mem::cli
