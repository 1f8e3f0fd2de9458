// hook_learning.hpp - what hooks learn from a session by rules, and whom they tell of it.
//
//   prompt             what the person typed as a rule is in force
//   end of a turn      candidates in new messages; at times the agent is asked (learning.ask_agent)
//   compaction         a summary by rules, then candidates
//   session end        candidates, then a summary by rules
//   session start      once a week, what waits for the user
#pragma once

#include <cstdint>
#include <string>

#include "bmad_mem/result.hpp"
#include "hooks/hook_actions.hpp"

namespace bmad_mem::cli {

/// Whether the settings keep the event from being recorded, and so from being learned from.
bool is_skipped(const HookPolicy& policy, const HookEvent& event);

enum class LearnScope : std::uint8_t {
  kNew,  ///< What this machine has not looked at.
  kAll,
};

/// Looks for candidates in what was said. What goes wrong with it stops nothing. The rules in the
/// message `typed` are in force, see ExtractOptions.
void learn(const HookJob& job, const HookEvent& event, LearnScope scope,
           const std::string& typed = {});

/// Writes the summary by rules, unless somebody wrote a better one. Stops nothing, either.
void summarize(const HookJob& job, const HookEvent& event);

/// What the agent is asked to do before it stops; empty when it is not to be asked: it was not long
/// ago, it goes on because a hook asked it, or its client takes no such answer.
std::string question_to_agent(const HookJob& job, const HookEvent& event);

/// The running summary as data; empty when there is none.
Result<std::string> running_summary(const HookJob& job, const HookEvent& event);

/// Which candidates wait for a person, and what to do; both empty where none does, or some were
/// mentioned in the last week.
struct WaitingCandidates {
  std::string for_model;
  std::string for_person;  ///< One line.
};
WaitingCandidates waiting_candidates(const HookJob& job);

}  // namespace bmad_mem::cli
