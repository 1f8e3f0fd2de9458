// posting_codec.hpp - a posting list as text: gaps between ordinals, and frequencies above one.
//
//   ordinals    0   1   3 (4 times)   8
//   text       [1,1,-2,4,5]
//
// Each gap counts from the posting before, the first from -1, so no gap is 0. A negative gap is
// followed by a frequency, which is 1 otherwise. JSON, ascending, and a list grows at its end: what
// is new can be put behind what is there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem {

/// An entry's position in its session's index. Valid within one checkpoint only.
using Ordinal = std::uint32_t;
inline constexpr Ordinal kNoOrdinal = ~Ordinal{0};

/// One entry that holds a term, and how often.
struct Posting {
  Ordinal ordinal = 0;
  std::uint32_t frequency = 1;

  bool operator==(const Posting&) const = default;
};

/// Appends `postings` (ascending, frequencies from 1) to `out`, which holds a list without its
/// closing bracket whose last ordinal is `last`; or "[" and `last` kNoOrdinal.
void append_postings(std::span<const Posting> postings, Ordinal last, std::string& out);

/// The last ordinal of `list`, brackets included, which decode_postings() would take: a third of
/// its time. kNoOrdinal when it is empty.
Ordinal last_ordinal(std::string_view list);

/// Appends the postings of `list`, brackets included, to `out`. False, and nothing promised about
/// `out`, when the text is no list of ascending ordinals below `ordinal_end`.
bool decode_postings(std::string_view list, Ordinal ordinal_end, std::vector<Posting>& out);

}  // namespace bmad_mem
