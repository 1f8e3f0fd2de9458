// hook_actions.hpp - what is done when a client tells of an event.
//
//   session start   what is known is told, after a compaction the summary too; the session is made
//   prompt          recorded, then a briefing about it; rules in it are in force
//   tool            events tool_use and tool_result, with snippets
//   message         recorded, then looked at for candidates (hook_learning.hpp)
//   sub-agent       its start and end as events, what it said last as a message of a sidechain
//   compaction      the running summary is told; afterwards an event with the client's summary
//   session end     the session is closed, and what is due is done
#pragma once

#include <chrono>
#include <cstddef>
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

}  // namespace bmad_mem::cli
