// hook_answer.hpp - what each client wants to read on a hook's stdout.
#pragma once

#include <string>
#include <string_view>

#include "hooks/hook_event.hpp"

namespace bmad_mem::cli {

/// Whether the client takes a text for the model at this event.
bool takes_context(const HookEvent& event);

/// The answer that hands `context` to the model, and shows `for_person` where the client has a
/// place for that; empty when there is nothing to say.
std::string hook_answer(const HookEvent& event, std::string_view context,
                        std::string_view for_person = {});

}  // namespace bmad_mem::cli
