// whole_name.hpp - ids and names that were given by their beginning.
//
//   "fact-o" of {"fact-heron-1", "fact-heron-2", "fact-owl"}   "fact-owl"
//   "fact-h" of the same                                       an error: two begin so
//   "fact-x" of the same                                       "fact-x": the caller knows what then
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Shorter beginnings stand for nothing: "dec-" is one of every decision, but "de" would become
/// some entry as soon as there is one decision alone.
inline constexpr std::size_t kWholeNamePrefixMin = 4;

/// The one of `known` that is `given`, else the only one that begins so, else `given`. `known` may
/// repeat names. Errors: E_INVALID_QUERY with `field` for a beginning that
/// several have, with some of them; `plural` says what they are: "entries".
Result<std::string> whole_name(std::string_view given, std::span<const std::string> known,
                               std::string_view plural, std::string_view field);

}  // namespace bmad_mem
