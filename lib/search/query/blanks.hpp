// blanks.hpp - what stands between the words of a query.
#pragma once

#include <cstddef>
#include <string_view>

namespace bmad_mem {

/// Size of the blank at `offset` of `text`, or 0 when there is none: ASCII blanks and line breaks,
/// and the blanks of Unicode. Any bytes will do; `offset` may be at the end.
std::size_t blank_size(std::string_view text, std::size_t offset);

}  // namespace bmad_mem
