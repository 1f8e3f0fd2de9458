// registry.cpp - what can be said of types and fields by looking through the table.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "entry_spec.hpp"
#include "value_text.hpp"

namespace bmad_mem {
namespace {

// In the order of FieldKind.
constexpr std::array<FieldKindInfo, 15> kKinds = {{
    {"a string", "TEXT", R"("type":"string")"},
    {"a string", "TEXT", R"("type":"string","minLength":1)"},
    {"a string", "ID", R"("type":"string")"},
    {R"(a string with an RFC 3339 time, such as "2026-01-11T10:05:23Z")", "TIME",
     R"("type":"string","format":"date-time")"},
    {"one of the strings", "WORD", R"("type":"string")"},
    {"a number from 0 to 1", "X", R"("type":"number","minimum":0,"maximum":1)"},
    {"a number from 0 to 2", "X", R"("type":"number","minimum":0,"maximum":2)"},
    {"a whole number, 0 or more", "N",
     R"("type":"integer","minimum":0,"maximum":9007199254740991)"},
    {"a number, 0 or more", "N", R"("type":"number","minimum":0)"},
    {"true or false", "", R"("type":"boolean")"},
    {"an array of strings", "TEXT", R"("type":"array","items":{"type":"string"})"},
    {R"(an object of arrays of strings, such as {"decisions":["dec-001"]})", "ID",
     R"("type":"object","additionalProperties":{"type":"array","items":{"type":"string"}})"},
    {"an object", "JSON", R"("type":"object")"},
    {"an array of objects", "TEXT", R"("type":"array")"},
    {"a value", "JSON", R"("type":["string","number","boolean","array","object"])"},
}};
static_assert(kDecayFactorMax == 2 && kCountMax == 9007199254740991);

/// Whether two names are the same but for '-' against '_'.
bool same_name(std::string_view a, std::string_view b) {
  const auto dashed = [](char c) { return c == '_' ? '-' : c; };
  return std::ranges::equal(a, b, {}, dashed, dashed);
}

std::optional<EntryType> find_type(auto&& matches) {
  for (const EntryType type : kEntryTypes) {
    if (matches(entry_type_info(type))) {
      return type;
    }
  }
  return std::nullopt;
}

}  // namespace

const EntryTypeInfo& entry_type_info(EntryType type) { return entry_spec(type).info; }

const ObjectShape& entry_shape(EntryType type) { return entry_spec(type).shape; }

std::span<const Field> entry_fields(EntryType type) { return entry_shape(type).fields; }

std::span<const Field> inner_fields(const Field& field) {
  return field.inner == nullptr ? std::span<const Field>() : field.inner->fields;
}

const FieldKindInfo& field_kind_info(FieldKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

std::string expected_value(const Field& field) {
  std::string expected(field_kind_info(field.kind).expected);
  return field.choices.empty() ? expected
                               : fmt::format("{} {}", expected, fmt::join(field.choices, ", "));
}

const Field& main_field(EntryType type) {
  return *std::ranges::find_if(entry_fields(type), &Field::is_main);
}

std::string_view who_field(EntryType type) { return entry_spec(type).who_field; }

std::string_view entry_type_name(EntryType type) { return entry_type_info(type).name; }

std::optional<EntryType> try_parse_entry_type(std::string_view text) {
  return find_type([&](const EntryTypeInfo& info) {
    return same_name(text, info.name) || same_name(text, info.plural) ||
           same_name(text, info.log_name);
  });
}

Result<EntryType> parse_entry_type(std::string_view text) {
  if (const std::optional<EntryType> type = try_parse_entry_type(text)) {
    return *type;
  }
  std::array<std::string_view, kEntryTypeCount> names;
  std::ranges::transform(kEntryTypes, names.begin(), entry_type_name);
  std::string message = fmt::format("\"{}\" is not a type of entry; the types are {}",
                                    one_line(text, 40), fmt::join(names, ", "));
  if (const std::string_view nearest = nearest_word(text, names); !nearest.empty()) {
    message += fmt::format("; did you mean {}?", nearest);
  }
  return field_error(ErrorCode::E_INVALID_FORMAT, "type", std::move(message));
}

std::optional<EntryType> entry_type_of_log_file(std::string_view file_name) {
  return find_type([&](const EntryTypeInfo& info) { return file_name == info.log_file; });
}

std::optional<EntryType> entry_type_of_id(std::string_view id) {
  return find_type([&](const EntryTypeInfo& info) { return id.starts_with(info.id_prefix); });
}

}  // namespace bmad_mem
