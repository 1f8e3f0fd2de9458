// hook_actions.hpp - what is done when a client tells of an event.
//
//   session start   what is known is told, after a compaction the summary too; the session is made
//   prompt          recorded, then a briefing about it; rules in it are in force
//   tool            events tool_use and tool_result, with snippets
//   message         recorded, then looked at for candidates (learn)
//   sub-agent       its start and end as events, what it said last as a message of a sidechain
//   compaction      the running summary is told; afterwards an event with the client's summary
//   session end     the session is closed, and what is due is done
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "hooks/hook_event.hpp"
#include "hooks/hook_limits.hpp"

namespace bmad_mem::cli {

struct HookSettings {
  std::size_t max_tokens = 800;            ///< Of what is told.
  std::chrono::milliseconds budget{1000};  ///< For finding out what is known about a prompt.
  std::chrono::milliseconds limit{2000};   ///< For the whole hook.
  bool tells = true;                       ///< False: it records only.
};

/// Longest time that the end of a session takes, as far as the client can tell: Claude Code ends
/// hooks of plugins after 1.5 s then.
inline constexpr std::chrono::milliseconds kSessionEndLimit{1000};

/// What is said of an error on stderr.
std::string problem_line(const Error& error);

/// What an event is taken with. All must outlive the call.
struct HookJob {
  MemoryManager& memory;
  const HookSettings& settings;
  const HookWork& work;
  const HookPolicy& policy;
};

/// Does what the event asks for, and answers. Errors: those of the memory; what was recorded
/// before stays, and what is known is told also where nothing can be recorded.
Status take_hook_event(const HookJob& job, const HookEvent& event);

// What hooks learn from a session by rules, and where they say it.
//
//   prompt             what the person typed as a rule is in force
//   end of a turn      candidates in new messages; at times the agent is asked (learning.ask_agent)
//   compaction         a summary by rules, then candidates
//   session end        candidates, then a summary by rules
//   session start      once a week, what waits for the user

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

/// What the context of a session adds to the knowledge of the memory.
struct HookNews {
  std::string for_model;
  std::string for_person;
};

/// Which candidates wait for a person, in one line, and what to do; both empty where none does, or
/// some were mentioned in the last week.
HookNews waiting_candidates(const HookJob& job);

}  // namespace bmad_mem::cli
