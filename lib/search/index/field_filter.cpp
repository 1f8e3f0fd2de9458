#include "search/field_filter.hpp"

#include <algorithm>
#include <set>

#include "base/hash.hpp"
#include "bmad_mem/letter_case.hpp"
#include "digits.hpp"
#include "model/filter_fields.hpp"

namespace bmad_mem {

std::string field_key(std::string_view name, std::string_view value) {
  constexpr std::size_t kPlainSizeMax = 64;
  constexpr std::size_t kHashDigits = 10;  // 60 bits: no two values of a session meet by chance.
  std::string key(name);
  const std::string lower = lower_case(value);
  if (lower.size() <= kPlainSizeMax) {
    key += '=';
    key += lower;
  } else {
    key += '#';
    append_digits(xxh3(lower), kHashDigits, key);
  }
  return key;
}

bool passes_fields(std::span<const FieldFilter> filters, EntryType type, JsonValue entry) {
  if (filters.empty()) {
    return true;
  }
  std::set<std::string, std::less<>> held;
  entry_filter_values(type, entry, [&](std::string_view name, std::string_view value) {
    held.insert(field_key(name, value));
  });
  const auto holds = [&](const FieldFilter& filter) {
    return held.contains(field_key(filter.field, filter.value));
  };
  return std::ranges::all_of(filters, [&](const FieldFilter& filter) {
    if (filter.excluded) {
      return !holds(filter);
    }
    return std::ranges::any_of(filters, [&](const FieldFilter& other) {
      return !other.excluded && other.field == filter.field && holds(other);
    });
  });
}

}  // namespace bmad_mem
