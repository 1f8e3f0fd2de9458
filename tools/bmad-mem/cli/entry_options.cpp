// entry_options.cpp - makes the JSON of an entry from options, by the table of fields.
#include "cli/entry_options.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <forward_list>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kJson = "JSON";

/// A field that has an option: of the entry, or of the object called `object` in it.
struct OfferedField {
  const Field* field;
  std::string_view object;
  std::string_view option;
};

/// What `add` takes for one type.
struct TypeOptions {
  std::vector<OfferedField> fields;  ///< In canonical order, so members of one object together.
  std::vector<Option> common;
  std::vector<Option> own;               ///< Required ones first.
  std::ptrdiff_t required = 0;           ///< How many these are.
  std::forward_list<std::string> names;  ///< Of options that are called otherwise than their field.
};

/// What stands for a value of the field in help; empty for a flag.
std::string_view placeholder(const Field& field) {
  return field.value.empty() ? field_kind_info(field.kind).placeholder : field.value;
}

bool is_list(const Field& field) {
  return field.kind == FieldKind::kTextList || field.kind == FieldKind::kTextLists ||
         field.kind == FieldKind::kObjectList;
}

Completion completion_of(const Field& field) {
  return !field.choices.empty()     ? Completion::kChoice
         : field.value == "SESSION" ? Completion::kSession
         : field.value == "PATH"    ? Completion::kFile
                                    : Completion::kNone;
}

/// What holds without the field, as help shows it: a fallback without the quotes of JSON.
std::string_view shown_fallback(const Field& field) {
  const std::string_view json = field.fallback;
  return json.empty()            ? field.without
         : json.starts_with('"') ? json.substr(1, json.size() - 2)
                                 : json;
}

std::string_view option_name(const Field& field, std::forward_list<std::string>& names) {
  if (!field.option.empty() || field.name.find('_') == std::string_view::npos) {
    return field.option.empty() ? field.name : field.option;
  }
  std::string& name = names.emplace_front(field.name);
  std::ranges::replace(name, '_', '-');
  return name;
}

/// Adds the fields that are offered. Of two with the same option the first is meant: conversations
/// have topic and references in an object, where the specification has them.
void add_fields(std::span<const Field> fields, std::string_view object, TypeOptions& to) {
  for (const Field& field : fields) {
    if (field.offer == FieldOffer::kNowhere) {
      continue;
    }
    if (const std::span<const Field> inner = inner_fields(field);
        !inner.empty() && field.kind == FieldKind::kObject) {
      add_fields(inner, field.name, to);
      continue;
    }
    const std::string_view name = option_name(field, to.names);
    if (field.is_common && std::ranges::find(to.common, name, &Option::name) != to.common.end()) {
      continue;
    }
    to.fields.push_back({.field = &field, .object = object, .option = name});
    const bool is_required = !field.is_common && field.need == FieldNeed::kRequired;
    std::vector<Option>& options = field.is_common ? to.common : to.own;
    options.insert(is_required ? options.begin() + to.required++ : options.end(),
                   {.name = name,
                    .value = placeholder(field),
                    .help = field.help,
                    .repeatable = is_list(field),
                    .fallback = shown_fallback(field),
                    .completion = completion_of(field),
                    .choices = field.choices});
  }
}

const TypeOptions& type_options(EntryType type) {
  static std::array<std::optional<TypeOptions>, kEntryTypeCount> made;
  std::optional<TypeOptions>& options = made[static_cast<std::size_t>(type)];
  if (!options) {
    constexpr std::size_t kMostMade = 16;
    options.emplace();
    options->fields.reserve(2 * kMostMade);
    options->common.reserve(kMostMade);
    options->own.reserve(kMostMade);
    add_fields(entry_fields(type), {}, *options);
    options->common.push_back(
        {.name = "field",
         .value = "KEY=VALUE",
         .help = "any other field; the value is JSON if it can be read as such, else text",
         .repeatable = true});
  }
  return *options;
}

/// `text` if it is JSON (only a number where `number` asks for one), else `text` as a JSON string.
std::string json_or_string(std::string_view text, bool number) {
  const ParsedJson value(text);
  // A line break between tokens would be no harm to JSON, but a log has one entry a line.
  const bool one_line = text.find_first_of("\r\n") == std::string_view::npos;
  return value && one_line && (!number || value->is_number()) ? std::string(text)
                                                              : json_quoted(text);
}

/// "MongoDB: eventual consistency" as {"option":…,"rejected_reason":…}: the first member of the
/// objects in `field`, and the second.
std::string objects_json(const Field& field, std::span<const std::string> texts) {
  const std::span<const Field> members = inner_fields(field);
  JsonWriter json;
  json.begin_array();
  for (const std::string_view text : texts) {
    const std::size_t colon = text.find(": ");
    json.begin_object().member(members.front().name, text.substr(0, colon));
    if (colon != std::string_view::npos) {
      json.member(members[1].name, text.substr(colon + 2));
    }
    json.end_object();
  }
  return json.end_array().take();
}

/// {"decisions":["dec-1"],"findings":["finding-7"]}: by the types that the ids look like.
std::string references_json(std::span<const std::string> ids) {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> groups;
  for (const std::string& id : ids) {
    const std::optional<EntryType> type = entry_type_of_id(id);
    const std::string_view name = type ? entry_type_info(*type).plural : "entries";
    auto group = std::ranges::find_if(groups, [&](const auto& pair) { return pair.first == name; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {name, {}});
    }
    group->second.push_back(id);
  }
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, members] : groups) {
    json.key(name).raw(list_json(members));
  }
  return json.end_object().take();
}

/// The values given for a field. What is no number where one is wanted becomes a string, which the
/// engine then refuses.
std::string value_json(const Field& field, std::span<const std::string> texts) {
  switch (field.kind) {
    case FieldKind::kTextList:
      return list_json(texts);
    case FieldKind::kTextLists:
      return references_json(texts);
    case FieldKind::kObjectList:
      return objects_json(field, texts);
    case FieldKind::kBoolean:
      return "true";
    case FieldKind::kUnitInterval:
    case FieldKind::kDecayFactor:
    case FieldKind::kCount:
    case FieldKind::kQuantity:
      return json_or_string(texts.back(), true);
    default:
      return placeholder(field) == kJson ? json_or_string(texts.back(), false)
                                         : json_quoted(texts.back());
  }
}

/// Writes an entry field by field; those of an object inside come one after the other.
class EntryWriter {
 public:
  EntryWriter() { json_.begin_object(); }

  void add(std::string_view object, std::string_view name, std::string_view value) {
    if (object != open_) {
      close();
      open_ = object;
      if (!object.empty()) {
        names_.push_back(object);
        json_.key(object).begin_object();
      }
    }
    if (object.empty()) {
      names_.push_back(name);
    }
    json_.key(name).raw(value);
  }

  [[nodiscard]] bool has(std::string_view name) const {
    return std::ranges::find(names_, name) != names_.end();
  }

  [[nodiscard]] std::string take() {
    close();
    return json_.end_object().take();
  }

 private:
  void close() {
    if (!open_.empty()) {
      json_.end_object();
    }
  }

  JsonWriter json_;
  std::string_view open_;
  std::vector<std::string_view> names_;
};

Status add_unknown_fields(const Arguments& args, EntryWriter& entry) {
  for (const std::string_view text : args.all("field")) {
    const std::size_t equals = text.find('=');
    const std::string_view key = text.substr(0, equals);
    const auto refuse = [&](std::string why) {
      return field_error(ErrorCode::E_INVALID_FORMAT, "field", std::move(why));
    };
    if (equals == std::string_view::npos || key.empty()) {
      return refuse(fmt::format("'{}' has no KEY=VALUE", text));
    }
    if (entry.has(key)) {
      return refuse(fmt::format("'{}' is given twice", key));
    }
    entry.add({}, key, json_or_string(text.substr(equals + 1), false));
  }
  return {};
}

}  // namespace

std::span<const Option> common_entry_options() { return type_options(EntryType::kFact).common; }

std::span<const Option> entry_options(EntryType type) { return type_options(type).own; }

bool has_entry_options(EntryType type, const Arguments& args) {
  const auto given = [&](const Option& option) { return args.has(option.name); };
  return std::ranges::any_of(common_entry_options(), given) ||
         std::ranges::any_of(entry_options(type), given);
}

Result<std::string> entry_from_options(EntryType type, const Arguments& args,
                                       std::string_view main_text, std::string_view agent_id) {
  // A user's message is not from the agent that stores it.
  const bool is_of_agent =
      !agent_id.empty() && !(type == EntryType::kConversation && args.value("role") == "user");
  EntryWriter entry;
  for (const auto& [field, object, option] : type_options(type).fields) {
    if (const auto& texts = args.all(option); !texts.empty()) {
      entry.add(object, field->name, value_json(*field, texts));
    } else if (field->is_main ? !main_text.empty() : is_of_agent && field->name == "agent_id") {
      const std::string text(field->is_main ? main_text : agent_id);
      entry.add(object, field->name, value_json(*field, {&text, 1}));
    }
  }
  BMAD_TRY(add_unknown_fields(args, entry));
  return entry.take();
}

namespace {

/// The field of `type` that `name` means, by its own name or that of its option; null for another.
const Field* field_named(EntryType type, std::string_view name) {
  if (const Field* const field = find_by(entry_fields(type), name, &Field::name)) {
    return field;
  }
  for (const OfferedField& offered : type_options(type).fields) {
    if (offered.object.empty() && offered.option == name) {
      return offered.field;
    }
  }
  return nullptr;
}

/// Refuses what is nearly a field of the type, and no member of the entry either.
Status check_name(EntryType type, JsonValue entry, std::string_view name, std::string_view option) {
  const std::string_view near = nearest_word(name, entry_fields(type), &Field::name);
  return near.empty() || entry[name].present()
             ? Status()
             : bad_value(option, "a {} has no field '{}', did you mean '{}'?",
                         entry_type_name(type), printable(name), near);
}

/// What a value of a field, given by its text, is in JSON. One value of a flag may be false.
std::string new_value(const Field* field, std::span<const std::string> texts) {
  const bool is_flag = field != nullptr && field->kind == FieldKind::kBoolean;
  return field == nullptr || is_flag || field->kind == FieldKind::kObject
             ? json_or_string(texts.back(), false)
             : value_json(*field, texts);
}

}  // namespace

Result<std::string> changes_from_options(const Entry& entry, const Arguments& args,
                                         std::string_view main_text) {
  BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(entry.json));
  std::vector<std::pair<std::string, std::vector<std::string>>> sets;
  const auto add = [&](std::string_view name, std::string_view text) {
    const Field* const field = field_named(entry.type, name);
    const std::string key(field == nullptr ? name : field->name);
    auto known = std::ranges::find(sets, key, &decltype(sets)::value_type::first);
    if (known == sets.end()) {
      known = sets.insert(sets.end(), {key, {}});
    }
    known->second.emplace_back(text);
  };
  if (!main_text.empty()) {
    add(main_field(entry.type).name, main_text);
  }
  for (const std::string_view text : args.all("set")) {
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    if (equals == std::string_view::npos || name.empty()) {
      return bad_value("set", "'{}' has no FIELD=VALUE", printable(text));
    }
    if (field_named(entry.type, name) == nullptr) {
      BMAD_TRY(check_name(entry.type, *value, name, "set"));
    }
    add(name, text.substr(equals + 1));
  }
  JsonWriter json;
  json.begin_object();
  for (const auto& [key, texts] : sets) {
    const Field* const field = field_named(entry.type, key);
    if (texts.size() > 1 && (field == nullptr || !is_list(*field))) {
      return bad_value("set", "'{}' is given twice, and is no list", printable(key));
    }
    json.key(key).raw(new_value(field, texts));
  }
  for (const std::string_view name : args.all("unset")) {
    const Field* const field = field_named(entry.type, name);
    const std::string_view key = field == nullptr ? name : field->name;
    if (!value[key].present()) {
      return bad_value("unset", "{} has no field '{}'; `bmad-mem get {}` shows them", entry.id,
                       printable(name), entry.id);
    }
    if (std::ranges::find(sets, key, &decltype(sets)::value_type::first) != sets.end()) {
      return bad_value("unset", "'{}' is set as well", printable(name));
    }
    json.key(key).raw("null");
  }
  return json.end_object().take();
}

}  // namespace bmad_mem::cli
