#include "asking_words.hpp"

#include <array>
#include <string_view>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

using Words = std::string_view;

constexpr std::array<Words, 2> kAlways = {"tell", "please"};
// How many, how long; what kind, which day; what happened.
constexpr std::array<Words, 6> kAfterHow = {"many", "much", "long", "often", "far", "soon"};
constexpr std::array<Words, 13> kAfterWhat = {"kind",  "kinds",    "sort",   "sorts", "type",
                                              "types", "time",     "day",    "date",  "year",
                                              "month", "happened", "happens"};
constexpr std::array<Words, 3> kWhat = {"what", "which", "what's"};
// A kind of, some sort of.
constexpr std::array<Words, 6> kBeforeOf = {"kind", "kinds", "sort", "sorts", "type", "types"};
// Do you remember, does anybody know.
constexpr std::array<Words, 3> kOfMemory = {"remember", "recall", "know"};
constexpr std::array<Words, 3> kDo = {"do", "does", "did"};

}  // namespace

bool only_asks(std::span<const std::string> words, std::size_t index) {
  const std::string& word = words[index];
  const Words before = index > 0 ? Words(words[index - 1]) : Words();
  const Words second = index > 1 ? Words(words[index - 2]) : Words();
  const Words next = index + 1 < words.size() ? Words(words[index + 1]) : Words();
  return is_among(kAlways, word) || (before == "how" && is_among(kAfterHow, word)) ||
         (is_among(kWhat, before) && is_among(kAfterWhat, word)) ||
         (next == "of" && is_among(kBeforeOf, word)) ||
         (is_among(kOfMemory, word) && is_among(kDo, second));
}

}  // namespace bmad_mem
