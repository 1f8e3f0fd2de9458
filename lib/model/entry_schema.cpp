// entry_schema.cpp - the table as JSON Schema, for other programs.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "entry_spec.hpp"

namespace bmad_mem {
namespace {

// The pattern does what many validators do not do for "format": it knows how long months are and
// when February has 29 days. The (?!\n) at its end is for engines whose $ also matches before a
// last line break.
constexpr std::string_view kTimestampDefinition =
    R"({"title":"A moment",)"
    R"("description":"An RFC 3339 date-time, such as 2026-01-11T10:05:23Z or )"
    R"(2026-01-11T11:05:23.250+01:00.","type":"string","format":"date-time",)"
    R"("pattern":"^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|)"
    R"((?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|)"
    R"((?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|)"
    R"((?:[02468][048]|[13579][26])00)-02-29)[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:)"
    R"j((?:[0-5][0-9]|60)(?:\\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$(?!\\n)"})j";
constexpr std::string_view kEntryIdDefinition =
    R"({"title":"An id",)"
    R"("description":"Made by the engine: a prefix that tells the type, 9 characters of time and 6 )"
    R"(random ones, so that ids sort by time. An id of the caller's own is kept as long as it looks )"
    R"(like this pattern.","type":"string",)"
    R"j("pattern":"^[A-Za-z0-9_][A-Za-z0-9_.:@+=~-]{0,127}$(?!\\n)"})j";
static_assert(kEntryIdSizeMax == 128);

/// Whether a schema says itself what it is about, or by reference to the definitions above.
enum class Definitions : std::uint8_t { kInPlace, kReferred };

/// With a capital at its beginning.
std::string as_beginning(std::string_view words) {
  std::string text(words);
  text.front() =
      is_lower(text.front()) ? static_cast<char>(text.front() - 'a' + 'A') : text.front();
  return text;
}

/// What is said of a field: "Who decided."
std::string sentence(const Field& field) {
  return fmt::format("{}.{}{}", as_beginning(field.help), field.more.empty() ? "" : " ",
                     field.more);
}

std::string members_of(const Field& field, Definitions definitions);

/// The members of a schema that say what may stand in the field.
std::string type_of(const Field& field, Definitions definitions) {
  switch (field.kind) {
    case FieldKind::kEntryId:
    case FieldKind::kTimestamp:
      if (definitions == Definitions::kReferred) {
        return field.kind == FieldKind::kTimestamp ? R"("$ref":"#/$defs/timestamp")"
                                                   : R"("$ref":"#/$defs/entry_id")";
      }
      break;
    case FieldKind::kChoice:
      return fmt::format(R"("enum":["{}"])", fmt::join(field.choices, R"(",")"));
    case FieldKind::kObject:
      return R"("type":"object")" + members_of(field, definitions);
    case FieldKind::kObjectList:
      return fmt::format(R"("type":"array","items":{{"type":"object"{}}})",
                         members_of(field, definitions));
    default:
      break;
  }
  return std::string(field_kind_info(field.kind).schema);
}

std::string described(const Field& field, Definitions definitions) {
  return fmt::format(R"({{"description":{},{}{}{}}})", json_quoted(sentence(field)),
                     type_of(field, definitions), field.fallback.empty() ? "" : R"(,"default":)",
                     field.fallback);
}

/// The properties of the objects in the field, with a comma in front; empty when these may have
/// any.
std::string members_of(const Field& field, Definitions definitions) {
  std::string out;
  for (const Field& member : inner_fields(field)) {
    out += fmt::format(R"({}"{}":{})", out.empty() ? "" : ",", member.name,
                       described(member, definitions));
  }
  return out.empty() ? out : fmt::format(R"(,"properties":{{{}}})", out);
}

}  // namespace

std::string field_schema(const Field& field) { return described(field, Definitions::kInPlace); }

std::string entry_schema(EntryType type) {
  const EntrySpec& spec = entry_spec(type);
  std::string required;
  std::string properties;
  std::string example;
  for (const Field& field : spec.shape.fields) {
    if (field.need == FieldNeed::kRequired) {
      required += fmt::format(R"({}"{}")", required.empty() ? "" : ", ", field.name);
    }
    if (field.name == "id") {
      example = fmt::format(R"("id": "{}001")", spec.info.id_prefix);
    } else if (!field.example.empty() || !field.fallback.empty()) {
      example += fmt::format(R"(, "{}": {})", field.name,
                             field.example.empty() ? field.fallback : field.example);
    }
    properties += fmt::format("{}\n    \"{}\": {}", properties.empty() ? "" : ",", field.name,
                              described(field, Definitions::kReferred));
  }
  std::string title = as_beginning(spec.info.name);
  std::ranges::replace(title, '_', ' ');
  const std::string description = fmt::format("{}: a line of {}.", spec.about, spec.info.log_file);
  return fmt::format(R"({{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://bmad-mem.dev/schemas/{}.schema.json",
  "title": "{}",
  "description": {},
  "$comment": "Fields that are not listed here may hold anything and are kept byte for byte. A field that is listed must not be null: leave it out.",
  "type": "object",
  "required": [{}],
  "properties": {{{}
  }},
  "examples": [{{{}}}],
  "$defs": {{
    "timestamp": {},
    "entry_id": {}
  }}
}}
)",
                     spec.info.name, title, json_quoted(description), required, properties, example,
                     kTimestampDefinition, kEntryIdDefinition);
}

}  // namespace bmad_mem
