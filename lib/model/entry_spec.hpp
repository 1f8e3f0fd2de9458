// entry_spec.hpp - what one .cpp per entry type fills in, and the builders it does so with. All of
// it is computed by the compiler.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "model/entry.hpp"
#include "model/field.hpp"

namespace bmad_mem {

/// Everything that is known of one type.
struct EntrySpec {
  EntryTypeInfo info;
  /// The field that names who it is from, tried before agent_id.
  std::string_view who_field = "agent_id";
  ObjectShape shape;
  /// Appends the text of a headline, still with line breaks and of any length.
  void (*append_headline)(JsonValue entry, std::string& out);
};

extern const EntrySpec kConversationSpec;
extern const EntrySpec kDecisionSpec;
extern const EntrySpec kFindingSpec;
extern const EntrySpec kPreferenceSpec;
extern const EntrySpec kFactSpec;
extern const EntrySpec kEventSpec;
extern const EntrySpec kAgentStateSpec;
extern const EntrySpec kArtifactSpec;

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
    shape.slots[ObjectShape::slot(fields[i].name, shape.multiplier)] = static_cast<std::uint8_t>(i);
  }
  return shape;
}

inline constexpr std::array<std::string_view, 5> kSourceKinds = {"user", "assistant", "tool", "web",
                                                                 "import"};
inline constexpr std::array kSourceFields = {
    Field{.name = "kind", .kind = FieldKind::kChoice, .choices = kSourceKinds},
    Field{.name = "trust", .kind = FieldKind::kUnitInterval},
};
inline constexpr ObjectShape kSourceShape = make_shape(kSourceFields);

/// Whether somebody has looked at what was found without being told; absent for what was told.
inline constexpr std::array<std::string_view, 3> kReviews = {"candidate", "accepted", "dropped"};

/// Every entry starts with these ...
inline constexpr std::array kFirstFields = {
    Field{.name = "id",
          .kind = FieldKind::kEntryId,
          .need = FieldNeed::kRequired,
          .example = R"("dec-001")"},
    Field{.name = "timestamp",
          .kind = FieldKind::kTimestamp,
          .need = FieldNeed::kRequired,
          .example = R"("2026-01-11T10:05:23Z")"},
};

/// ... and ends with these.
inline constexpr std::array kLastFields = {
    Field{.name = "topic"},
    Field{.name = "pinned", .kind = FieldKind::kBoolean},
    Field{.name = kSensitiveField, .kind = FieldKind::kBoolean},
    Field{.name = kOutsideWorkspaceField, .kind = FieldKind::kBoolean},
    Field{.name = "source", .kind = FieldKind::kObject, .inner = &kSourceShape},
    Field{.name = "updated_at", .kind = FieldKind::kTimestamp},
    Field{.name = "access_count", .kind = FieldKind::kCount},
    Field{.name = "last_accessed", .kind = FieldKind::kTimestamp},
    // Any value: other writers of this format put milliseconds where we put RFC 3339.
    Field{.name = "last_decay_update", .kind = FieldKind::kAnything},
    Field{.name = "initial_decay_factor", .kind = FieldKind::kDecayFactor},
    Field{.name = "decay_factor", .kind = FieldKind::kDecayFactor, .fallback = "1.0"},
};

/// The fields of an entry: the first, `own`, the last.
template <std::size_t kOwnCount>
consteval auto entry_fields(const std::array<Field, kOwnCount>& own) {
  std::array<Field, kFirstFields.size() + kOwnCount + kLastFields.size()> all;
  auto at = std::ranges::copy(kFirstFields, all.begin()).out;
  at = std::ranges::copy(own, at).out;
  std::ranges::copy(kLastFields, at);
  return all;
}

}  // namespace bmad_mem
