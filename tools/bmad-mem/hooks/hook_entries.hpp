// hook_entries.hpp - the entries that events become, as JSON lines.
//
// Ids come from the client where it gives some: importing the transcript later adds nothing, and
// two hooks that tell the same make versions of one entry.
#pragma once

#include <string>
#include <string_view>

#include "hooks/hook_event.hpp"

namespace bmad_mem::cli {

/// A message of the event's text, marked as recorded by a hook.
std::string message_entry(const HookEvent& event, std::string_view role);
/// The call of a tool, and what came out of it.
std::string tool_use_entry(const HookEvent& event);
std::string tool_result_entry(const HookEvent& event);
/// Something that happened: `kind` is "subagent_start", "subagent_stop" or "compact".
std::string happening_entry(const HookEvent& event, std::string_view kind);

/// `text` in a fence that it can't close.
std::string fenced(std::string_view text);

/// The front of `text` of at most `size_max` bytes, cut behind a line, with a mark where it was
/// cut.
std::string cut_at_line(std::string_view text, std::size_t size_max);

}  // namespace bmad_mem::cli
