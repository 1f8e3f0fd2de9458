// opencode_plugin.hpp - what opencode has instead of hooks: a module that it loads.
//
// Each event of opencode goes to the program as one JSON object, in the form of
// clients/opencode/client.toml. Its answer is text for the model: what a session begins with, and a
// briefing for the last prompt. Both are in the system prompt, since opencode 2 delivers nothing
// else.
#pragma once

#include <string_view>

namespace bmad_mem::cli {

/// opencode_plugin.js: the module, in which a JSON list, the program and its arguments, takes the
/// place of COMMAND. It loads in opencode 1 (`server`, from 1.18.29 on) and 2 (`setup`), and does
/// nothing where the program is missing.
std::string_view opencode_plugin();

}  // namespace bmad_mem::cli
