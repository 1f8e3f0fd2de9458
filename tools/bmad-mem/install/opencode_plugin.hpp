// opencode_plugin.hpp - what opencode has instead of hooks: a module that it loads.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// The module, which calls `words`, a JSON list: the program and its arguments. It loads in
/// opencode 1 (`server`, from 1.18.29 on) and 2 (`setup`), and does nothing where the program is
/// missing.
std::string opencode_plugin(std::string_view words);

}  // namespace bmad_mem::cli
