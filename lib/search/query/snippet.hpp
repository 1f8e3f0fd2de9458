// snippet.hpp - the part of a text that answers, with what matched marked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "match_finder.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {

struct Snippet {
  std::string text;                   ///< One line; "…" where something is left out, " · " between
                                      ///< texts (kTextBreak).
  std::vector<Highlight> highlights;  ///< In `text`, ascending, apart from each other.
};

/// About `size_max` bytes of the text that `finder` looks into: the stretch that holds the most
/// different terms.
Snippet make_snippet(MatchFinder& finder, std::string_view text, std::size_t size_max = 200);

/// Whether the tokens of `phrase` stand side by side in `text`, whatever the case.
bool holds_phrase(Analyzer& analyzer, const std::vector<std::string>& phrase,
                  std::string_view text);

}  // namespace bmad_mem
