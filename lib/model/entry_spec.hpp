// entry_spec.hpp - what entry_types.cpp says of each type, and the builders it does so with. All of
// it is computed by the compiler.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "model/entry.hpp"
#include "model/field.hpp"

namespace bmad_mem {

/// A field in a headline, with what stands around it; nothing when the entry does not have it.
struct HeadlinePart {
  std::string_view before;
  std::string_view field;
  std::string_view after = {};
  bool is_mark = false;  ///< In front, as "[high] ", unless it says what is assumed anyway.
};

constexpr HeadlinePart mark(std::string_view field) { return {"", field, "", true}; }

/// Everything that is known of one type.
struct EntrySpec {
  EntryTypeInfo info;
  /// The field that names who it is from, tried before agent_id.
  std::string_view who_field = "agent_id";
  ObjectShape shape;
  std::array<HeadlinePart, 4> headline;
  std::string_view about;  ///< What an entry of the type is, without a full stop.
};

const EntrySpec& entry_spec(EntryType type);

/// Whether `multiplier` gives each of `fields` a slot of its own. Counts in bits, because the
/// compiler runs it for every multiplier tried.
consteval bool separates(std::span<const Field> fields, std::uint32_t multiplier) {
  std::array<std::uint64_t, (1U << ObjectShape::kSlotBits) / 64> taken = {};
  for (const Field& field : fields) {
    const std::size_t slot = ObjectShape::slot(field.name, multiplier);
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    if ((taken[slot / 64] & bit) != 0) {
      return false;
    }
    taken[slot / 64] |= bit;
  }
  return true;
}

/// An odd multiplier that separates() `fields`. With 20 names in 128 slots about one in four does;
/// when none of so many does, two names agree in all that the hash looks at.
consteval std::uint32_t separating_multiplier(std::span<const Field> fields) {
  constexpr int kTriesMax = 2000;
  std::uint32_t multiplier = 0x9E3779B1U;
  for (int i = 0; i < kTriesMax; ++i, multiplier += 0x61C88646U) {
    if (separates(fields, multiplier)) {
      return multiplier;
    }
  }
  throw "two fields are too alike: let ObjectShape::slot look at another character";
}

/// The shape of an object with these fields, which must have static storage.
consteval ObjectShape make_shape(std::span<const Field> fields) {
  if (fields.size() > kFieldCountMax) {
    throw "more fields than bits in ObjectShape::required";
  }
  ObjectShape shape;
  shape.fields = fields;
  shape.multiplier = separating_multiplier(fields);
  shape.slots.fill(static_cast<std::uint8_t>(ObjectShape::kNone));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    shape.required |= fields[i].need == FieldNeed::kRequired ? 1U << i : 0U;
    shape.filtered |= fields[i].filter != 0 ? 1U << i : 0U;
    shape.assumed |= fields[i].assumed.empty() ? 0U : 1U << i;
    shape.slots[ObjectShape::slot(fields[i].name, shape.multiplier)] = static_cast<std::uint8_t>(i);
  }
  return shape;
}

/// A row on its way into a table: row(...) and what else is to be said of it.
struct FieldRow : Field {
 private:
  template <typename T>
  constexpr FieldRow& set(T& member, T to) {
    member = to;
    return *this;
  }

 public:
  /// `json` is an example.
  constexpr FieldRow& required(std::string_view json) {
    need = FieldNeed::kRequired;
    return set(example, json);
  }
  constexpr FieldRow& searched() { return set(searchable, true); }
  constexpr FieldRow& tells_of_file() { return set(of_file, true); }
  constexpr FieldRow& common() { return set(is_common, true); }
  constexpr FieldRow& main() { return set(is_main, true); }
  constexpr FieldRow& filtered(std::uint8_t place) { return set(filter, place); }
  constexpr FieldRow& one_of(std::span<const std::string_view> values) {
    return set(choices, values);
  }
  constexpr FieldRow& members(const ObjectShape& shape) { return set(inner, &shape); }
  constexpr FieldRow& filled_in(std::string_view json) { return set(fallback, json); }
  constexpr FieldRow& taken_for(std::string_view text) { return set(assumed, text); }
  constexpr FieldRow& note(std::string_view sentences) { return set(more, sentences); }
  constexpr FieldRow& as_option(std::string_view other_name) { return set(option, other_name); }
  constexpr FieldRow& shown(std::string_view placeholder) { return set(value, placeholder); }
  constexpr FieldRow& by_default(std::string_view text) { return set(without, text); }
  constexpr FieldRow& only_option() { return set(offer, FieldOffer::kOption); }
  constexpr FieldRow& not_offered() { return set(offer, FieldOffer::kNowhere); }
};

/// A row that is offered everywhere.
constexpr FieldRow row(std::string_view name, FieldKind kind, std::string_view help) {
  FieldRow row;
  row.name = name;
  row.kind = kind;
  row.help = help;
  row.offer = FieldOffer::kEverywhere;
  return row;
}

/// The rows as a table.
template <typename... Rows>
consteval std::array<Field, sizeof...(Rows)> table(const Rows&... rows) {
  return {rows...};
}

// The two steps of validating: yes or no, and for a no a sentence.

// In validate.cpp, which allocates nothing.

/// Whether `value` is an object in which every known field fits and no required one is missing. The
/// fields whose bits are set in `assumed` may be missing.
bool object_fits(const ObjectShape& shape, JsonValue value, std::uint32_t assumed);

/// Whether `value`, which is present, may stand in `field`.
bool value_fits(const Field& field, JsonValue value);

// In validate.cpp.

/// As check_entry(), but the fields whose bits are set in `assumed` (positions in the type's shape)
/// may be missing: they are about to be filled in.
std::optional<FieldProblem> check_entry_assuming(EntryType type, JsonValue value,
                                                 std::uint32_t assumed);

/// E_SCHEMA_INVALID about `problem`.
Error schema_error(FieldProblem problem);

}  // namespace bmad_mem
