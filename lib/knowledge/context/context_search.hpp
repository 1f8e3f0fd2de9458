// context_search.hpp - what two searches find for a context: what is known, and what was said.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "search/held_indexes.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// What a context draws on.
struct ContextSources {
  std::set<std::string, std::less<>> sessions;
  std::set<std::string, std::less<>> user_sessions;  ///< Of the user's own memory.
  std::vector<Hit> known;                            ///< Facts and preferences, best first.
  std::vector<Hit> said;                             ///< All else; repeats come last.
  std::vector<Hit> pinned;                           ///< Newest first.
  ContextGate gate;
  std::vector<ContextOmission> omitted;  ///< What is not near.
  std::uint64_t sealed_lines = 0;        ///< As Context has it; so is the next.
  bool encoder_was_late = false;
};

/// What counts least is not worth its place in a prompt: nothing that was evicted. Errors: as
/// chosen_indexes().
Result<ChosenIndexes> choose_for_context(const Store& store, const ContextOptions& options);

/// `first`: what choose_for_context() has found just now. Errors: as search_sessions() and
/// load_hits().
Result<ContextSources> search_for_context(const Store& store, const ContextOptions& options,
                                          ChosenIndexes first);

}  // namespace bmad_mem
