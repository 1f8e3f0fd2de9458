// The schemas in schemas/ and the tables of this room say the same, field by field: a field that is
// added in one place only fails here.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "entry_text.hpp"
#include "jsonl_file.hpp"
#include "model/field.hpp"

namespace bmad_mem::schema_files_test {
namespace {

std::set<std::string> strings_of(JsonValue array) {
  std::set<std::string> strings;
  for (const JsonValue element : array.elements()) {
    strings.emplace(element.string());
  }
  return strings;
}

/// The name behind "#/$defs/", or else the type; for a string that must not be empty "non-empty".
std::string kind_in_schema(JsonValue property) {
  constexpr std::string_view kDefs = "#/$defs/";
  const std::string_view reference = property["$ref"].string();
  if (reference.starts_with(kDefs)) {
    return std::string(reference.substr(kDefs.size()));
  }
  if (property["enum"].is_array()) {
    return "enum";
  }
  const std::string_view type = property["type"].string();
  if (type == "string" && property["minLength"].integer() == 1) {
    return "non-empty";
  }
  if (type == "number" && property["maximum"].present()) {
    return "decay factor";
  }
  return std::string(type);
}

std::string kind_in_table(FieldKind kind) {
  switch (kind) {
    case FieldKind::kText:
      return "string";
    case FieldKind::kNonEmptyText:
      return "non-empty";
    case FieldKind::kEntryId:
      return "entry_id";
    case FieldKind::kTimestamp:
      return "timestamp";
    case FieldKind::kChoice:
      return "enum";
    case FieldKind::kUnitInterval:
      return "unit_interval";
    case FieldKind::kDecayFactor:
      return "decay factor";
    case FieldKind::kCount:
      return "count";
    case FieldKind::kQuantity:
      return "number";
    case FieldKind::kBoolean:
      return "boolean";
    case FieldKind::kTextList:
      return "strings";
    case FieldKind::kTextLists:
      return "string_lists";
    case FieldKind::kObject:
      return "object";
    case FieldKind::kObjectList:
      return "array";
    case FieldKind::kAnything:
      return "not_null";
  }
  return "";
}

void check_shape(const ObjectShape& shape, JsonValue schema);

void check_field(const Field& field, JsonValue property) {
  CAPTURE(field.name);
  REQUIRE(property.present());
  CHECK(kind_in_schema(property) == kind_in_table(field.kind));
  CHECK_FALSE(property["description"].string().empty());
  std::set<std::string> choices(field.choices.begin(), field.choices.end());
  CHECK(strings_of(property["enum"]) == choices);
  if (field.kind == FieldKind::kDecayFactor) {
    CHECK(property["minimum"].number(-1) == 0);
    CHECK(property["maximum"].number() == kDecayFactorMax);
  }
  if (field.inner != nullptr) {
    check_shape(*field.inner, field.kind == FieldKind::kObjectList ? property["items"] : property);
  }
}

void check_shape(const ObjectShape& shape, JsonValue schema) {
  std::set<std::string> required;
  std::set<std::string> names;
  for (const Field& field : shape.fields) {
    check_field(field, schema["properties"][field.name]);
    names.emplace(field.name);
    if (field.need == FieldNeed::kRequired) {
      required.emplace(field.name);
    }
  }
  for (const JsonMember& property : schema["properties"].members()) {
    CAPTURE(property.key);
    CHECK(names.contains(std::string(property.key)));
  }
  CHECK(strings_of(schema["required"]) == required);
}

}  // namespace

TEST_CASE("each type's schema has the fields of its table, and no others") {
  for (const EntryType type : kEntryTypes) {
    const std::string name(entry_type_name(type));
    CAPTURE(name);
    const EntryText schema(repository_file("schemas/" + name + ".schema.json"));
    check_shape(entry_shape(type), schema.value());
  }
}

TEST_CASE("the schemas' largest count is ours") {
  const EntryText schema(repository_file("schemas/fact.schema.json"));
  CHECK(schema.value()["$defs"]["count"]["maximum"].number() == kCountMax);
}

}  // namespace bmad_mem::schema_files_test
