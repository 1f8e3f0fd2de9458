// date_span.hpp - the stretches of time that a question names.
//
//   What did Ann decide on 7 May 2023, and why did she drop it two weeks ago?
//                          ^^^^^^^^^^                         ^^^^^^^^^^^^^
//
//   a day      7 May 2023 · May 7, 2023 · 7th of May · 8 may · on the 8th · 2023-05-07 · 7-May-2023
//              31.12.2025 · 31.12.25 · 31.12. · 05/08/2025 · today · yesterday · last Friday
//              on Friday · 3 days ago · last night · this morning · on Christmas · New Year's Eve
//   a week     last week · this week · two weeks ago · last weekend                Monday to Sunday
//   a month    May 2023 · 2023-05 · in June · last June · last month · 3 months ago
//   more       2023 · last year · Q3 2023 · summer of 2023 · last summer · during the winter
//   up to now  the last 3 days · past 24 hours · recently · lately · the other day
//   German     7. Mai 2023 · im Juni · gestern · letzte Woche · vor 3 Tagen · am Montag
//   French     7 mai 2023 · en juin · hier · la semaine dernière · il y a 3 jours
//   Spanish    7 de mayo de 2023 · en junio · ayer · la semana pasada · hace 3 días
//   Chinese, Japanese    2025年12月31日 · 12月31日 · 昨天 · 昨日 · 上周 · 先週 · 上个月 · 3天前
//
// Without a year, the latest one that is not after `now` is meant: memories are of the past. For
// the same reason "tomorrow" and "next week" name nothing. 05/08/2025 is May 8 or 5 August, and
// gives both. "may" and "march" are words unless a day or a year stands next to them, or they are
// capitals behind a word like "in"; "march on" and "I may go" are no dates. Versions, addresses,
// file names and 3.5 are none either: day and month alone need both their dots. All in UTC; seasons
// are those of the north.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"

namespace bmad_mem {

struct DateSpan {
  Timestamp begin{};
  Timestamp end{};         ///< Exclusive; after `begin`.
  std::size_t offset = 0;  ///< Of the words that name it, without "in", "on" or "since".
  std::size_t size = 0;    ///< In bytes.
};

/// The dates in `text` as seen from `now`, in the order of the text, apart from each other; two
/// readings of a date stand in the same place. Any bytes will do. Takes time proportional to the
/// text.
std::vector<DateSpan> find_date_spans(std::string_view text, Timestamp now);

/// How long after a span people still tell of it.
inline constexpr std::chrono::days kDateEcho{10};

/// How well an entry of time `time` fits the span itself, whatever word is before it: 1
/// inside; from 0.5 at its end falling in a straight line to 0 at kDateEcho after it; else 0.
double date_match(Timestamp time, const DateSpan& span);

}  // namespace bmad_mem
