// asking_words.hpp - words of a question that only ask: "how many", "what kind of", "tell me".
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bmad_mem {

/// What such a word weighs in the ranking, where others weigh 1: it may be meant.
inline constexpr double kAskingWeight = 0.3;

/// Whether word `index` of a question only asks. The words are in lower case, stop words among
/// them, in the order of the text.
bool only_asks(std::span<const std::string> words, std::size_t index);

}  // namespace bmad_mem
