// field_texts.cpp - writes the help of the options for fields, and lists of field names.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/query.hpp"
#include "cli/entry_options.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {
namespace {

/// What may stand in a field, as a model reads it: " (low|high)", " [{option, rejected_reason}]".
std::string hint(const Field& field) {
  switch (field.kind) {
    case FieldKind::kChoice:
      return fmt::format(" ({})", fmt::join(field.choices, "|"));
    case FieldKind::kTextList:
      return " []";
    case FieldKind::kObject:
      return " {}";
    case FieldKind::kObjectList:
      return fmt::format(" [{{{}}}]", joined(mapped(inner_fields(field), &Field::name)));
    default:
      break;
  }
  if (field.need == FieldNeed::kOptional) {
    return "";
  }
  // The example is a JSON string.
  return fmt::format(" (required, such as {})", field.example.substr(1, field.example.size() - 2));
}

/// The fields of each type that memory_add takes beside the text and what all types have.
std::string fields_by_type() {
  std::string out;
  for (const EntryType type : kEntryTypes) {
    std::vector<std::string> fields;
    for (const Field& field : entry_fields(type)) {
      const bool is_listed =
          field.offer == FieldOffer::kEverywhere && !field.is_common && !field.is_main;
      const std::span<const Field> inner = inner_fields(field);
      const bool is_empty = !inner.empty() && std::ranges::none_of(inner, [](const Field& each) {
        return each.offer == FieldOffer::kEverywhere && !each.is_common;
      });
      if (is_listed && !is_empty) {
        fields.push_back(fmt::format("{}{}", field.name, hint(field)));
      }
    }
    if (!fields.empty()) {
      out += fmt::format("{}{}: {}.", out.empty() ? "" : " ", entry_type_name(type),
                         fmt::join(fields, ", "));
    }
  }
  return out;
}

/// The fields of all types as members of a schema. Where types disagree, any of theirs will do.
std::string record_fields() {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> fields;
  for (const EntryType type : kEntryTypes) {
    for (const Field& field : entry_fields(type)) {
      // These are in the shape itself, since they mean more there.
      const bool is_in_shape = field.name == "id" || field.name == "timestamp";
      if (field.offer == FieldOffer::kNowhere || is_in_shape) {
        continue;
      }
      auto known = std::ranges::find(fields, field.name, &decltype(fields)::value_type::first);
      if (known == fields.end()) {
        known = fields.insert(fields.end(), {field.name, {}});
      }
      add_once(known->second, field_schema(field));
    }
  }
  std::string out;
  for (const auto& [name, schemas] : fields) {
    out += fmt::format(R"({}"{}":)", out.empty() ? "" : ",", name);
    out += schemas.size() == 1 ? schemas.front()
                               : fmt::format(R"({{"anyOf":[{}]}})", fmt::join(schemas, ","));
  }
  return out;
}

void append_row(std::string& out, std::string_view of, std::string_view object,
                const Field& field) {
  std::string path = fmt::format("{}{}{}", object, object.empty() ? "" : ".", field.name);
  out += fmt::format("| {} | `{}` | {}{} | {} |\n", of, path,
                     field.need == FieldNeed::kRequired ? "required, " : "", expected_value(field),
                     field.help);
  for (const Field& member : inner_fields(field)) {
    append_row(out, of, path, member);
  }
}

}  // namespace

std::string field_tables() {
  std::string out = "| of | field | holds | says |\n|---|---|---|---|\n";
  const auto append_rows = [&](std::string_view of, EntryType type, bool common) {
    for (const Field& field : entry_fields(type)) {
      if (field.is_common == common) {
        append_row(out, of, {}, field);
      }
    }
  };
  append_rows("all", EntryType::kFact, true);
  for (const EntryType type : kEntryTypes) {
    append_rows(entry_type_name(type), type, false);
  }
  return out;
}

std::string with_fields(std::string_view text) {
  struct Place {
    std::string_view mark;
    std::string (*text)();
  };
  static constexpr Place kPlaces[] = {{"{filter fields}", known_filter_fields},
                                      {"{fields by type}", fields_by_type},
                                      {R"("{record fields}":{})", record_fields}};
  std::string out(text);
  for (const auto& [mark, says] : kPlaces) {
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark)) {
      out.replace(at, mark.size(), says());
    }
  }
  return out;
}

}  // namespace bmad_mem::cli
