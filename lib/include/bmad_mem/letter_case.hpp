// letter_case.hpp - letters without their case, one by one (Unicode's simple mapping).
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem {

/// `text` with every letter in lower case, as JavaScript's toLowerCase does it but for the letters
/// that become two ("İ") and the final sigma. Bytes that are no UTF-8 stay.
std::string lower_case(std::string_view text);

}  // namespace bmad_mem
