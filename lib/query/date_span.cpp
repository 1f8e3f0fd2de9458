#include "query/date_span.hpp"

#include <algorithm>
#include <optional>

#include "date_context.hpp"
#include "date_forms.hpp"

namespace bmad_mem {
namespace {

DateDirection direction_before(const DateContext& dates, std::size_t i) {
  const std::size_t cue = dates.cue_before(i);
  if (dates.is_any(cue, {"since"})) {
    return DateDirection::kSince;
  }
  if (dates.is_any(cue, {"before"})) {
    return DateDirection::kBefore;
  }
  if (dates.is_any(cue, {"after"})) {
    return DateDirection::kAfter;
  }
  return dates.is_any(cue, {"until", "till"}) ? DateDirection::kUntil : DateDirection::kWithin;
}

}  // namespace

std::vector<DateSpan> find_date_spans(std::string_view text, Timestamp now) {
  const DateContext dates(text, now);
  std::vector<DateSpan> spans;
  for (std::size_t i = 0; i < dates.token_count(); ++i) {
    std::optional<FoundDate> found = absolute_date_at(dates, i);
    if (!found) {
      found = relative_date_at(dates, i);
    }
    if (found) {
      const DateToken& last = dates.token(found->last);
      const std::size_t offset = dates.token(found->first).offset;
      spans.push_back({.begin = found->stretch.begin,
                       .end = found->stretch.end,
                       .offset = offset,
                       .size = last.offset + last.size - offset,
                       .direction = direction_before(dates, found->first)});
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
