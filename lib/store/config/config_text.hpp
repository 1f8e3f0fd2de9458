// config_text.hpp - how values of config.json are written, in the file and in messages.
#pragma once

#include <string>

namespace bmad_mem {

/// Whether `number` is a whole one, small enough for a double to tell it from its neighbours.
bool is_whole_number(double number);

/// As people write it: 10, not 10.0. `number` must be finite.
std::string number_text(double number);

}  // namespace bmad_mem
