// field.hpp - the tables that say which fields an entry has and what may stand in them.
//
//   object shape   = fields in canonical order + a perfect hash from names to them
//   entry type     = EntryTypeInfo + object shape + a headline      (one .cpp a type)
//
//   "severity" -> hash of (size, first, middle, last but one) -> slot -> field 6 -> same name?
//   yes
//
// Everything else in this room walks these tables: the validator, the canonical order of a line,
// the text that search sees. The JSON Schemas in schemas/ say the same for other programs; a test
// compares the two field by field.
//
// Fields that no table names are allowed, of any kind, and kept byte for byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"

namespace bmad_mem {

/// What may stand in a field. `null` may stand in none: it says nothing that leaving the field out
/// does not say, and every reader would have to expect it.
enum class FieldKind : std::uint8_t {
  kText,          ///< A string.
  kNonEmptyText,  ///< A string of at least one character.
  kEntryId,       ///< A string for which is_entry_id() holds.
  kTimestamp,     ///< An RFC 3339 date-time.
  kChoice,        ///< One of `choices`.
  kUnitInterval,  ///< A number from 0 to 1.
  kDecayFactor,   ///< A number from 0 to kDecayFactorMax.
  kCount,         ///< A whole number from 0 to kCountMax; 3.0 is one.
  kQuantity,      ///< A number, 0 or more.
  kBoolean,
  kTextList,    ///< An array of strings.
  kTextLists,   ///< An object whose members are all arrays of strings.
  kObject,      ///< An object; its members follow `inner` if there is one.
  kObjectList,  ///< An array of such objects.
  kAnything,    ///< Any value but null.
};

/// Largest stored decay factor. The specification calls the factor a weight from 0 to 1, but its
/// boosts (6.3: up to 1.2 for importance, 0.1 for each access) carry a fresh entry beyond 1. Up to
/// 2 is taken as such a boost; more is a mistake in units, such as per cent.
inline constexpr double kDecayFactorMax = 2.0;

/// Largest count: 2^53 - 1, the last whole number that every JSON reader keeps exact.
inline constexpr double kCountMax = 9007199254740991.0;

enum class FieldNeed : std::uint8_t { kOptional, kRequired };

struct ObjectShape;

/// One row of a table.
struct Field {
  std::string_view name;
  FieldKind kind = FieldKind::kText;
  FieldNeed need = FieldNeed::kOptional;
  bool searchable = false;  ///< Whether its text is part of entry_searchable_text().
  bool of_file = false;  ///< It tells of a file: not searched when that is outside the workspace.
  std::span<const std::string_view> choices = {};  ///< For kChoice.
  const ObjectShape* inner = nullptr;              ///< For kObject and kObjectList.
  std::string_view example = {};   ///< A JSON value, shown when a required field is missing.
  std::string_view fallback = {};  ///< A JSON value that complete_entry() fills in, or empty.
};

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
    return index != kNone && same_text(fields[index].name, name) ? index : kNone;
  }
};

/// The fields of an entry of this type, in canonical order: `id`, `timestamp`, what the type adds,
/// what every type may have, `decay_factor`.
const ObjectShape& entry_shape(EntryType type);

}  // namespace bmad_mem
