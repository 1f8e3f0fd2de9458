// field.hpp - the fields of an object, and finding one by its name.
//
//   object shape   = fields in canonical order + a perfect hash from names to them
//
//   "severity" -> hash of (size, first, middle, last but one) -> slot -> field 6 -> same name?
//   yes
//
// Everything else in this room walks these tables: the validator, the canonical order of a line,
// the text that search sees, the JSON Schemas. The rows are in entry_types.cpp.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// a == b for short texts: two overlapping loads instead of a call of memcmp, which made up half
/// the time of checking an entry.
inline bool same_text(std::string_view a, std::string_view b) {
  const auto same_words = [&]<typename Word>(Word /*type*/) {
    const auto differ = [&](std::size_t at) {
      Word x;
      Word y;
      std::memcpy(&x, a.data() + at, sizeof x);
      std::memcpy(&y, b.data() + at, sizeof y);
      return x != y;
    };
    for (std::size_t at = 0; at + sizeof(Word) < a.size(); at += sizeof(Word)) {
      if (differ(at)) {
        return false;
      }
    }
    return !differ(a.size() - sizeof(Word));
  };
  if (a.size() != b.size()) {
    return false;
  }
  if (a.size() >= sizeof(std::uint64_t)) {
    return same_words(std::uint64_t{});
  }
  if (a.size() >= sizeof(std::uint32_t)) {
    return same_words(std::uint32_t{});
  }
  return a.empty() ||
         (a.front() == b.front() && a.back() == b.back() && a[a.size() / 2] == b[b.size() / 2]);
}

/// Most fields in one shape: required fields are a bit set of 32.
inline constexpr std::size_t kFieldCountMax = 32;

/// The fields an object may have, with a hash that looks each name up in one step.
struct ObjectShape {
  static constexpr std::size_t kSlotBits = 7;
  static constexpr std::size_t kNone = 0xFF;

  std::span<const Field> fields;
  std::uint32_t required = 0;    ///< Bit i is set when fields[i] is required.
  std::uint32_t filtered = 0;    ///< When one can filter by fields[i].
  std::uint32_t assumed = 0;     ///< When filters take an absent fields[i] for something.
  std::uint32_t multiplier = 0;  ///< Chosen at compile time so that no two names share a slot.
  std::array<std::uint8_t, 1U << kSlotBits> slots = {};  ///< Index into fields, or kNone.

  static constexpr std::size_t slot(std::string_view name, std::uint32_t multiplier) {
    if (name.size() < 2) {
      return 0;
    }
    const auto byte = [&](std::size_t i) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(name[i]));
    };
    // Not the last character: "content" and "context" differ in the one before it.
    const std::uint32_t word = static_cast<std::uint32_t>(name.size()) ^ (byte(0) << 8U) ^
                               (byte(name.size() - 2) << 16U) ^ (byte(name.size() / 2) << 24U);
    return (word * multiplier) >> (32U - kSlotBits);
  }

  /// The position of the field called `name` in `fields`, or kNone. A few nanoseconds.
  [[nodiscard]] std::size_t find(std::string_view name) const {
    const std::size_t index = slots[slot(name, multiplier)];
    assert(index == kNone || index < fields.size());
    return index != kNone && same_text(fields[index].name, name) ? index : kNone;
  }
};

/// The shape of an entry of this type: entry_fields().
const ObjectShape& entry_shape(EntryType type);

// The members of entries that filters can ask for, and what an entry has there.
//
//   {"status":"open","approved_by":["me","ann"],"metadata":{"ticket":"PAY-1","ci":{"run":7}}}
//     status=open  approved_by=me  approved_by=ann  metadata.ticket=PAY-1  metadata.ci.run=7
//
// Which type has which field is for its own table (field.hpp) to say; here stands only which of
// them can be asked for. Type, tags, topic, time, pins and who it is by have filters of their own.

/// Longest value below `metadata` and `context` that counts, in bytes: what is longer is text.
inline constexpr std::size_t kNestedValueMax = 64;
/// Most values below `metadata` and `context` of one entry that count; the first ones.
inline constexpr std::size_t kNestedValuesMax = 32;

/// Whether filters can ask for `name`: one of the above, or "metadata.NAME" or "context.NAME".
bool is_filter_field(std::string_view name);

/// The one that `name` is a slip of the pen for; empty when there is none.
std::string nearest_filter_field(std::string_view name);

/// A scalar as filters compare it: a string as it is, a number or a boolean as JSON has it; empty
/// for any other value.
std::string filter_value_text(JsonValue value);

/// Whether an entry could have `value` there: a field of choices takes nothing else, in any case of
/// its letters. Errors: E_INVALID_QUERY with a message that names what is known.
Status check_filter_field(std::string_view name, std::string_view value);
/// The same of all that `filter` asks for; the error's field is "fields".
Status check_fields(const EntryFilter& filter);

/// Calls `use(name, value)` for all that `entry` has in these fields: strings as they are, numbers
/// and booleans as JSON has them, each element of a list. A finding without status is open; facts
/// and preferences without a category have the one that recall() tells. Views live until the next
/// call of `use`.
using UseFilterValue = std::function<void(std::string_view name, std::string_view value)>;
void entry_filter_values(EntryType type, JsonValue entry, const UseFilterValue& use);

}  // namespace bmad_mem
