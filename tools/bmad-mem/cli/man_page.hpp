// man_page.hpp - bmad-mem.1, made from the declarations of the commands.
#pragma once

#include <string>

namespace bmad_mem::cli {

/// The page as roff, for man(7) macros.
std::string man_page();

}  // namespace bmad_mem::cli
