// context_text.hpp - the Markdown of a context.
//
//   ## Project memory (from earlier sessions)
//
//   ### Critical constraints
//
//   - **chip_math**: Always use Math.floor() for chip calculations
//
//   ### What was said and done
//
//   - 2026-01-11, decision by architect: Use PostgreSQL · ACID guarantees
//     - before, user: Which database do we take?
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "context_candidates.hpp"

namespace bmad_mem {

/// `candidate` as lines of Markdown, its text in at most `size_max` bytes.
std::string candidate_text(const ContextCandidate& candidate, std::size_t size_max);

/// Something to say, in its section.
struct ContextPart {
  ContextSection section = ContextSection::kConstraints;
  std::string_view text;  ///< Of candidate_text().
};

/// The whole document; empty without parts. `parts` are in the order of the sections.
std::string context_markdown(std::span<const ContextPart> parts, std::string_view agent_id);

}  // namespace bmad_mem
