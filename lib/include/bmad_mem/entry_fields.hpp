// entry_fields.hpp - the fields of entries: one row for each, from which all that knows fields
// follows.
//
//   row in lib/model/entry_types.cpp
//     ├─> validator, canonical order, the text that search sees     lib/model
//     ├─> JSON Schemas, filters                                      entry_schema(),
//     entry_fields.hpp ├─> `add TYPE`: options, help, completions, manual page
//     tools/bmad-mem/cli/entry_options.cpp └─> memory_add, POST /memory/record: what they describe
//     tools/bmad-mem/cli/field_texts.cpp
//
// Fields that no row names are allowed, of any kind, and kept byte for byte.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"

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

/// What is to be said of a kind.
struct FieldKindInfo {
  std::string_view expected;     ///< Behind "must be": "a string".
  std::string_view placeholder;  ///< For a value on the command line: "TEXT"; empty for a flag.
  std::string_view schema;       ///< The members of its JSON Schema: "type":"string".
};

const FieldKindInfo& field_kind_info(FieldKind kind);

enum class FieldNeed : std::uint8_t { kOptional, kRequired };

/// Which interfaces offer a field by its name. All take it in an entry that is given as JSON.
enum class FieldOffer : std::uint8_t {
  kNowhere,     ///< The engine writes it, or a command of its own.
  kOption,      ///< `add` has an option for it, the local API describes it.
  kEverywhere,  ///< As well among the fields that memory_add lists, each of which costs tokens.
};

struct ObjectShape;

/// One row of the table. What most rows don't need comes last, so that the validator doesn't read
/// it.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order in which one reads them.
struct Field {
  std::string_view name;
  FieldKind kind = FieldKind::kText;
  FieldNeed need = FieldNeed::kOptional;
  bool searchable = false;  ///< Whether its text is part of entry_searchable_text().
  bool of_file = false;    ///< It tells of a file: not searched when that is outside the workspace.
  bool is_common = false;  ///< Every type has it.
  bool is_main = false;    ///< What a text alone stands for: `add fact TEXT`. One in each type.
  FieldOffer offer = FieldOffer::kNowhere;
  /// Its place in lists of the fields that one can filter by, those asked for most first; 0: one
  /// can't. The same for all fields of a name.
  std::uint8_t filter = 0;
  std::span<const std::string_view> choices = {};  ///< For kChoice.
  const ObjectShape* inner = nullptr;              ///< For kObject and kObjectList.
  std::string_view fallback = {};  ///< A JSON value that complete_entry() fills in, or empty.
  std::string_view assumed = {};   ///< What filters take it for when it is absent, or empty.
  std::string_view example = {};   ///< A JSON value, shown when a required field is missing.
  std::string_view help = {};      ///< What it says: one line, lower case, no full stop.
  std::string_view more = {};      ///< Whole sentences that schemas add to that.
  std::string_view option = {};    ///< The option's name where that is not `name` with dashes.
  std::string_view value = {};     ///< What stands for its value in help; empty: by the kind.
  std::string_view without = {};   ///< What holds without it, as help shows it.
};

/// Whose words or what an entry's source is: the choices of source.kind.
inline constexpr std::array<std::string_view, 5> kSourceKinds = {"user", "assistant", "tool", "web",
                                                                 "import"};

/// The fields of an entry of this type in canonical order: `id`, `timestamp`, what the type adds,
/// what every type may have, `decay_factor`.
std::span<const Field> entry_fields(EntryType type);

/// The fields of the objects in `field`; none when these may have any.
std::span<const Field> inner_fields(const Field& field);

/// What the field may be, behind "must be": "one of the strings low, high".
std::string expected_value(const Field& field);

/// The field for which is_main holds.
const Field& main_field(EntryType type);

/// The field that says who an entry is from, before agent_id: "made_by".
std::string_view who_field(EntryType type);

/// `field` as JSON Schema, complete in itself: {"description":"Who decided.","type":"string"}.
std::string field_schema(const Field& field);

/// The JSON Schema of an entry of this type, with '\n' at its end: schemas/TYPE.schema.json.
std::string entry_schema(EntryType type);

// What links an entry to others, as its line says it. Views live as long as the
// value's parser keeps it.
//
//   finding-3  {…,"links":{"refines":["finding-1"],"superseded_by":["finding-9"]}}
//
// A typed link is stored once, in the entry that it changes most: `supersedes` in its target, which
// knows so by itself that it is replaced; the others in their source.

/// What one entry does to another one: "fact-7 solves finding-3".
enum class LinkKind : std::uint8_t { kSolves, kCauses, kSupersedes, kRefines };
inline constexpr std::array kLinkKinds = {LinkKind::kSolves, LinkKind::kCauses,
                                          LinkKind::kSupersedes, LinkKind::kRefines};

/// "solves", "causes", "supersedes" or "refines". Static storage.
std::string_view link_kind_name(LinkKind kind);
/// Nothing for any other text.
std::optional<LinkKind> try_parse_link_kind(std::string_view name);

/// A typed link that the line of an entry holds.
struct TypedLink {
  LinkKind kind = LinkKind::kSolves;
  bool is_target = false;  ///< The entry with `id` does it to this one.
  std::string_view id;     ///< Of the other entry, which need not exist.
};

/// The typed links in `entry`: the members of `links`, kinds in the order of LinkKind. What is no
/// list of ids under a known name is passed over.
std::vector<TypedLink> typed_links(JsonValue entry);

/// The ids of other entries it refers to, in the order of the text, each once: the lists in
/// `references`, `links` and `metadata.references`, and `context.parent_message_id`. They need not
/// exist.
/// `learned_from` names sessions and is not among them.
std::vector<std::string_view> entry_references(JsonValue entry);
/// The same without the message that a message answers: what the entry itself refers to.
std::vector<std::string_view> entry_citations(JsonValue entry);

/// context.topic as conversations have it, or else a member `topic`. Empty when absent.
std::string_view entry_topic(JsonValue entry);

}  // namespace bmad_mem
