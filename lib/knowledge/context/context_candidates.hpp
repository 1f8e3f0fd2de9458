// context_candidates.hpp - what a context would say if it were as long as it likes: each section's
// items, best first, nothing twice.
#pragma once

#include <string>
#include <vector>

#include "bmad_mem/knowledge.hpp"
#include "knowledge/context_builder.hpp"

namespace bmad_mem {

/// Something that may be said.
struct ContextCandidate {
  /// Without text and tokens; and, for what is left out, why.
  ContextItem item;
  /// What stands before the text: a key, or the date of a snippet and who said it.
  std::string label;
  /// The same for what is quoted: of the entry's own words nothing.
  std::string quoted_label;
  std::string text;                 ///< As it was stored.
  std::vector<std::string> before;  ///< Neighbours of a snippet, oldest first.
  std::vector<std::string> after;
};

struct ContextCandidates {
  std::vector<ContextCandidate> said;  ///< By section, best first.
  std::vector<ContextOmission> omitted;
};

ContextCandidates choose_candidates(const ContextInput& input, const ContextRules& rules);

}  // namespace bmad_mem
