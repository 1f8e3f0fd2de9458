// date_forms.hpp - the forms of dates, tried at one token of a text.
#pragma once

#include <cstddef>
#include <optional>

#include "date_calendar.hpp"
#include "date_context.hpp"

namespace bmad_mem {

/// A date and its tokens, `first` to `last`.
struct FoundDate {
  std::size_t first = 0;
  std::size_t last = 0;
  TimeStretch stretch;
  std::optional<TimeStretch> other = {};  ///< What it may mean as well: 05/08/2025.
};

/// "31.12.2025", "31.12.", "05/08/2025", "2025年12月31日": the form at token `i`.
std::optional<FoundDate> numeric_date_at(const DateContext& dates, std::size_t i);

/// "7 May 2023", "in June", "Q3 2025", "summer of 2023": the longest form at token `i`.
std::optional<FoundDate> absolute_date_at(const DateContext& dates, std::size_t i);

/// "yesterday", "last week", "3 days ago": the form at token `i`.
std::optional<FoundDate> relative_date_at(const DateContext& dates, std::size_t i);

/// "recently", "on Christmas", and what other languages call "last week" or "3 days ago": the form
/// at token `i`.
std::optional<FoundDate> phrase_date_at(const DateContext& dates, std::size_t i);

}  // namespace bmad_mem
