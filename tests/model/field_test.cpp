#include "model/field.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "entry_text.hpp"

namespace bmad_mem::field_test {
namespace {

/// Every shape there is: those of the types, and those of the objects inside them.
template <typename Visit>
void for_each_shape(const Visit& visit) {
  for (const EntryType type : kEntryTypes) {
    visit(entry_shape(type));
    for (const Field& field : entry_shape(type).fields) {
      if (field.inner != nullptr) {
        visit(*field.inner);
      }
    }
  }
}

}  // namespace

TEST_CASE("a shape finds each of its fields, and nothing else") {
  for_each_shape([](const ObjectShape& shape) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < shape.fields.size(); ++i) {
      const std::string name(shape.fields[i].name);
      CAPTURE(name);
      CHECK(names.insert(shape.fields[i].name).second);
      CHECK(shape.find(name) == i);
      // The same length, ends and middle as far as one changed character allows.
      for (std::size_t at = 0; at < name.size(); ++at) {
        std::string other = name;
        other[at] = '#';
        CHECK(shape.find(other) == ObjectShape::kNone);
      }
      CHECK(shape.find(name + "_") == ObjectShape::kNone);
      CHECK(shape.find(name.substr(1)) == ObjectShape::kNone);
    }
    for (const char* name : {"", "x", "ID", "no_such_field"}) {
      CHECK(shape.find(name) == ObjectShape::kNone);
    }
  });
}

TEST_CASE("every entry starts with id and timestamp and ends with decay_factor") {
  for (const EntryType type : kEntryTypes) {
    CAPTURE(entry_type_name(type));
    const ObjectShape& shape = entry_shape(type);
    CHECK(shape.fields[0].name == "id");
    CHECK(shape.fields[1].name == "timestamp");
    CHECK(shape.fields.back().name == "decay_factor");
    CHECK((shape.required & 3U) == 3U);
    for (const char* name :
         {"agent_id", "topic", "tags", "references", "pinned", "sensitive", "outside_workspace",
          "source", "updated_at", "access_count", "last_accessed"}) {
      CAPTURE(name);
      CHECK(shape.find(name) != ObjectShape::kNone);
    }
  }
}

TEST_CASE("a required field has an example, and examples and fallbacks are JSON") {
  for_each_shape([](const ObjectShape& shape) {
    for (const Field& field : shape.fields) {
      CAPTURE(field.name);
      CHECK((field.need == FieldNeed::kOptional || !field.example.empty()));
      CHECK((field.kind != FieldKind::kChoice || !field.choices.empty()));
      for (const std::string_view text : {field.example, field.fallback}) {
        CHECK((text.empty() || EntryText(text).value().present()));
      }
    }
  });
}

TEST_CASE("each type has one main field, and each field says what it is for") {
  for (const EntryType type : kEntryTypes) {
    CAPTURE(entry_type_name(type));
    CHECK(std::ranges::count_if(entry_fields(type), &Field::is_main) == 1);
    CHECK(main_field(type).offer == FieldOffer::kEverywhere);
    CHECK(entry_shape(type).find(who_field(type)) != ObjectShape::kNone);
  }
  for_each_shape([](const ObjectShape& shape) {
    for (const Field& field : shape.fields) {
      CAPTURE(field.name);
      CHECK_FALSE(field.help.empty());
      CHECK_FALSE(field.help.ends_with('.'));
      CHECK((field.more.empty() || field.more.ends_with('.')));
      CHECK((field.kind != FieldKind::kObjectList || inner_fields(field).size() >= 2));
    }
  });
}

TEST_CASE("a place among the filters belongs to one name, in all types that have it") {
  std::map<std::string_view, int> places;
  for (const EntryType type : kEntryTypes) {
    for (const Field& field : entry_fields(type)) {
      CAPTURE(field.name);
      CHECK(places.emplace(field.name, field.filter).first->second == field.filter);
      CHECK((field.assumed.empty() || field.filter != 0));
    }
  }
  std::set<int> taken;
  for (const auto& [name, place] : places) {
    CAPTURE(name);
    CHECK((place == 0 || taken.insert(place).second));
  }
}

TEST_CASE("same_text compares as == does, at every length") {
  const std::string text = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string a = text.substr(0, size);
    CHECK(same_text(a, std::string(a)));
    CHECK_FALSE(same_text(a, a + "x"));
    for (std::size_t at = 0; at < size; ++at) {
      std::string b = a;
      b[at] = '#';
      CHECK_FALSE(same_text(a, b));
    }
  }
}

}  // namespace bmad_mem::field_test
