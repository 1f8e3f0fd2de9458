// filter_fields.cpp - the fields that filters can ask for, and what an entry has there.
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <map>
#include <ranges>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/text.hpp"
#include "model/field.hpp"
#include "value_text.hpp"

namespace bmad_mem {
namespace {

/// The objects whose members can be asked for by any name.
constexpr std::array<std::string_view, 2> kNestingFields = {"metadata", "context"};

/// Below these: what differs from entry to entry or is asked for in other ways, and would make up a
/// tenth of an index.
constexpr std::array<std::string_view, 4> kNotAskedFor = {
    "metadata.tokens", "metadata.processing_time_ms", "metadata.references",
    "context.parent_message_id"};

bool nests(std::string_view name) {
  return std::ranges::find(kNestingFields, name) != kNestingFields.end();
}

/// The part of "metadata.ticket" that says where to look; empty without a dot.
std::string_view nesting_part(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

/// The values that the field takes in any type; none when it takes all.
std::span<const std::string_view> choices_of(std::string_view name) {
  for (const EntryType type : kEntryTypes) {
    const ObjectShape& shape = entry_shape(type);
    const std::size_t index = shape.find(name);
    if (index != ObjectShape::kNone && !shape.fields[index].choices.empty()) {
      return shape.fields[index].choices;
    }
  }
  return {};
}

class FilterValues {
 public:
  explicit FilterValues(const UseFilterValue& use) : use_(use) {}

  void add(std::string_view name, JsonValue value) {
    if (value.is_array()) {
      for (const JsonValue element : value.elements()) {
        add_scalar(name, element);
      }
    } else {
      add_scalar(name, value);
    }
  }

  /// What `path`, which is "metadata" or below, holds.
  void add_nested(std::string& path, JsonValue value, int depth = 0) {
    constexpr int kDepthMax = 4;
    assert(nests(std::string_view(path).substr(0, path.find('.'))));
    const std::size_t size = path.size();
    for (const JsonMember& member : value.members()) {
      path += '.';
      path += member.key;
      if (std::ranges::find(kNotAskedFor, path) != kNotAskedFor.end()) {
        // Not asked for.
      } else if (member.value.is_object() && depth < kDepthMax) {
        add_nested(path, member.value, depth + 1);
      } else if (member.value.is_array()) {
        for (const JsonValue element : member.value.elements()) {
          add_small(path, element);
        }
      } else {
        add_small(path, member.value);
      }
      path.resize(size);
    }
  }

 private:
  std::string_view text_of(JsonValue value) {
    switch (value.kind()) {
      case JsonKind::kString:
        return value.string();
      case JsonKind::kBoolean:
      case JsonKind::kInteger:
      case JsonKind::kUnsigned:
      case JsonKind::kReal:
        text_.clear();
        append_value_shown(value, text_);
        return text_;
      default:
        return {};
    }
  }

  void add_scalar(std::string_view name, JsonValue value) {
    if (const std::string_view text = text_of(value); !text.empty()) {
      use_(name, text);
    }
  }

  void add_small(std::string_view name, JsonValue value) {
    const std::string_view text = text_of(value);
    if (!text.empty() && name.size() <= 2 * kNestedValueMax && text.size() <= kNestedValueMax &&
        ++nested_ <= kNestedValuesMax) {
      use_(name, text);
    }
  }

  const UseFilterValue& use_;
  std::string text_;
  std::size_t nested_ = 0;
};

}  // namespace

std::span<const std::string_view> filter_field_names() {
  static const std::vector<std::string_view> kNames = [] {
    std::map<int, std::string_view> by_place;
    for (const EntryType type : kEntryTypes) {
      for (const Field& field : entry_fields(type)) {
        by_place.emplace(field.filter, field.name);
        assert(field.filter == 0 || by_place.at(field.filter) == field.name);
      }
    }
    by_place.erase(0);
    const auto names = std::views::values(by_place);
    return std::vector(names.begin(), names.end());
  }();
  return kNames;
}

bool is_filter_field(std::string_view name) {
  const std::string_view outer = nesting_part(name);
  if (outer.empty()) {
    return std::ranges::find(filter_field_names(), name) != filter_field_names().end();
  }
  return nests(outer) && name.size() > outer.size() + 1 &&
         std::ranges::find(kNotAskedFor, name) == kNotAskedFor.end();
}

std::string filter_value_text(JsonValue value) {
  std::string text;
  if (value.is_string() || value.is_number() || value.kind() == JsonKind::kBoolean) {
    append_value_shown(value, text);
  }
  return text;
}

std::string known_filter_fields() {
  return fmt::format("{}, metadata.NAME and context.NAME", fmt::join(filter_field_names(), ", "));
}

std::string nearest_filter_field(std::string_view name) {
  const std::string_view outer = nesting_part(name);
  if (outer.empty()) {
    return std::string(nearest_word(name, filter_field_names()));
  }
  const std::string_view near = nests(outer) ? outer : nearest_word(outer, kNestingFields);
  return near.empty() ? std::string() : std::string(near) + std::string(name.substr(outer.size()));
}

Status check_filter_field(std::string_view name, std::string_view value) {
  const auto refuse = [](std::string message) {
    return Error{.code = ErrorCode::E_INVALID_QUERY, .message = std::move(message)};
  };
  if (!is_filter_field(name)) {
    const std::string near = nearest_filter_field(name);
    return refuse(fmt::format(
        "\"{}\" is not a field to filter by; the fields are {}{}", one_line(name, 40),
        known_filter_fields(),
        near.empty() || near == name ? std::string() : fmt::format("; did you mean {}?", near)));
  }
  if (value.empty()) {
    return refuse(fmt::format("{} has no value to compare with", one_line(name, 40)));
  }
  const std::span<const std::string_view> choices = choices_of(name);
  const auto is_it = [&](std::string_view choice) { return same_but_for_case(choice, value); };
  if (!choices.empty() && std::ranges::none_of(choices, is_it)) {
    const std::string_view near = nearest_word(value, choices);
    return refuse(fmt::format(
        "{} is never \"{}\"; it is {}{}", name, one_line(value, 40), fmt::join(choices, ", "),
        near.empty() ? std::string() : fmt::format("; did you mean {}?", near)));
  }
  return {};
}

Result<FieldFilter> parse_field_filter(std::string_view text) {
  const std::size_t equals = text.find_first_of("=:");
  if (equals == std::string_view::npos) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("\"{}\" is not FIELD=VALUE, as in status=open; the fields "
                                        "are {}",
                                        one_line(text, 40), known_filter_fields())};
  }
  std::string_view name = text.substr(0, equals);
  const bool has_minus = name.starts_with('-');
  name.remove_prefix(has_minus ? 1 : 0);
  const bool has_not = name.ends_with('!') && text[equals] == '=';
  name.remove_suffix(has_not ? 1 : 0);
  FieldFilter filter{.field = std::string(name),
                     .value = std::string(text.substr(equals + 1)),
                     .excluded = has_minus || has_not};
  BMAD_TRY(check_filter_field(filter.field, filter.value));
  return filter;
}

Status read_field_filters(JsonValue object, std::vector<FieldFilter>& filters) {
  if (!object.is_object()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("must be an object of fields and values, not {}",
                                        json_kind_name(object.kind()))};
  }
  for (const JsonMember& member : object.members()) {
    const bool excluded = member.key.starts_with('-');
    const std::string field(member.key.substr(excluded ? 1 : 0));
    const auto add = [&](JsonValue value) -> Status {
      std::string text = filter_value_text(value);
      BMAD_TRY(check_filter_field(field, text));
      filters.push_back({.field = field, .value = std::move(text), .excluded = excluded});
      return {};
    };
    if (!member.value.is_array()) {
      BMAD_TRY(add(member.value));
    }
    for (const JsonValue value : member.value.elements()) {
      BMAD_TRY(add(value));
    }
  }
  return {};
}

Status check_fields(const EntryFilter& filter) {
  for (const FieldFilter& each : filter.fields) {
    if (Status good = check_filter_field(each.field, each.value); !good) {
      Error error = std::move(good).error();
      error.field = "fields";
      return error;
    }
  }
  return {};
}

void entry_filter_values(EntryType type, JsonValue entry, const UseFilterValue& use) {
  const ObjectShape& shape = entry_shape(type);
  std::uint32_t assumed = shape.assumed;
  FilterValues values(use);
  for (const JsonMember& member : entry.members()) {
    const std::size_t index = shape.find(member.key);
    const std::uint32_t bit = index == ObjectShape::kNone ? 0 : 1U << index;
    if ((shape.filtered & bit) != 0) {
      assumed &= ~bit;
      values.add(member.key, member.value);
    } else if (member.value.is_object() && nests(member.key)) {
      std::string path(member.key);
      values.add_nested(path, member.value);
    }
  }
  for (; assumed != 0; assumed &= assumed - 1) {
    const Field& field = shape.fields[static_cast<std::size_t>(std::countr_zero(assumed))];
    assert(!field.assumed.empty());
    use(field.name, field.assumed);
  }
}

}  // namespace bmad_mem
