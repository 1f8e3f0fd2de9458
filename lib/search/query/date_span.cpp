#include "search/date_span.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "date_context.hpp"

namespace bmad_mem {
namespace {

std::optional<FoundDate> date_at(const DateContext& dates, std::size_t i) {
  return first_form(dates, i,
                    {numeric_date_at, absolute_date_at, relative_date_at, phrase_date_at});
}

}  // namespace

std::vector<DateSpan> find_date_spans(std::string_view text, Timestamp now) {
  const DateContext dates(text, now);
  std::vector<DateSpan> spans;
  for (std::size_t i = 0; i < dates.token_count(); ++i) {
    if (const std::optional<FoundDate> found = date_at(dates, i)) {
      const DateToken& last = dates.token(found->last);
      const std::size_t offset = dates.token(found->first).offset;
      spans.push_back({.begin = found->stretch.begin,
                       .end = found->stretch.end,
                       .offset = offset,
                       .size = last.offset + last.size - offset});
      if (found->other) {
        spans.push_back(spans.back());
        spans.back().begin = found->other->begin;
        spans.back().end = found->other->end;
      }
      i = found->last;
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
