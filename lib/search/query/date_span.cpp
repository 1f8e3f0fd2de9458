#include "search/date_span.hpp"

#include <algorithm>

#include "date_forms.hpp"

namespace bmad_mem {
std::vector<DateSpan> find_date_spans(std::string_view text, Timestamp now) {
  const std::vector<DateToken> tokens = date_tokens(text);
  std::vector<DateSpan> spans;
  for (const FoundDate& found : find_dates(tokens, Calendar(now))) {
    const DateToken& last = tokens[found.last];
    const std::size_t offset = tokens[found.first].offset;
    spans.push_back({.begin = found.stretch.begin,
                     .end = found.stretch.end,
                     .offset = offset,
                     .size = last.offset + last.size - offset});
    if (found.other) {
      spans.push_back(spans.back());
      spans.back().begin = found.other->begin;
      spans.back().end = found.other->end;
    }
  }
  return spans;
}

double date_match(Timestamp time, const DateSpan& span) {
  constexpr double kJustAfter = 0.5;
  if (time < span.begin) {
    return 0;
  }
  if (time < span.end) {
    return 1;
  }
  using Days = std::chrono::duration<double, std::chrono::days::period>;
  const double passed = Days(time - span.end) / Days(kDateEcho);
  return std::max(0.0, kJustAfter * (1 - passed));
}

}  // namespace bmad_mem
