// entry_from_options.cpp - options to JSON. The tables of options are in entry_options.cpp.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "entry_options.hpp"

namespace bmad_mem::cli {
namespace {

/// How the text of an option becomes a JSON value.
enum class Shape : std::uint8_t {
  kText,
  kList,    ///< All values of a repeatable option.
  kNumber,  ///< As it stands if it is a number, else a string, which the engine then refuses.
  kFlag,
  kJson,  ///< As it stands if it is JSON, else a string.
  kAlternatives,
};

/// Where an option's value goes. `path`: "decision", or "context.topic" for a member of an object.
struct Target {
  std::string_view option;
  std::string_view path;
  Shape shape = Shape::kText;
};

/// In the order of the specification; members of one object stand together.
constexpr std::array kTargets = {
    Target{"id", "id"},
    Target{"timestamp", "timestamp"},
    Target{"role", "role"},
    Target{"kind", "kind"},
    Target{"tool", "tool"},
    Target{"made-by", "made_by"},
    Target{"approved-by", "approved_by", Shape::kList},
    Target{"decision", "decision"},
    Target{"rationale", "rationale"},
    Target{"alternative", "alternatives_considered", Shape::kAlternatives},
    Target{"impact", "impact"},
    Target{"discovered-by", "discovered_by"},
    Target{"category", "category"},
    Target{"severity", "severity"},
    Target{"description", "description"},
    Target{"evidence", "evidence"},
    Target{"recommendation", "recommendation"},
    Target{"status", "status"},
    Target{"key", "key"},
    Target{"value", "value"},
    Target{"context", "context"},
    Target{"confidence", "confidence", Shape::kNumber},
    Target{"learned-from", "learned_from", Shape::kList},
    Target{"path", "path"},
    Target{"title", "title"},
    Target{"snippet", "snippet"},
    Target{"content", "content"},
    Target{"state", "state", Shape::kJson},
    Target{"metadata", "metadata", Shape::kJson},
    Target{"conversation-id", "context.conversation_id"},
    Target{"parent", "context.parent_message_id"},
    Target{"tokens", "metadata.tokens", Shape::kNumber},
    Target{"processing-time-ms", "metadata.processing_time_ms", Shape::kNumber},
    Target{"tag", "tags", Shape::kList},
    Target{"pinned", "pinned", Shape::kFlag},
    Target{"sensitive", "sensitive", Shape::kFlag},
    Target{"source-kind", "source.kind"},
    Target{"trust", "source.trust", Shape::kNumber},
};

/// An object under construction: members in the order in which they were first set.
class ObjectBuilder {
 public:
  void set(std::string_view path, std::string json) {
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) {
      set_member(path, std::move(json));
      return;
    }
    std::string member = json_quoted(path.substr(dot + 1)) + ":" + json;
    for (auto& [name, members] : objects_) {
      if (name == path.substr(0, dot)) {
        members += "," + member;
        return;
      }
    }
    objects_.emplace_back(path.substr(0, dot), std::move(member));
  }

  /// A member of the object itself, whatever its name.
  void set_member(std::string_view name, std::string json) {
    members_.emplace_back(name, std::move(json));
  }

  [[nodiscard]] bool has(std::string_view name) const {
    const auto is_it = [&](const auto& pair) { return pair.first == name; };
    return std::ranges::any_of(members_, is_it) || std::ranges::any_of(objects_, is_it);
  }

  [[nodiscard]] std::string take() {
    JsonWriter json;
    json.begin_object();
    for (const auto& [name, value] : members_) {
      json.key(name).raw(value);
    }
    for (const auto& [name, members] : objects_) {
      json.key(name).raw(fmt::format("{{{}}}", members));
    }
    json.end_object();
    return json.take();
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
  std::vector<std::pair<std::string, std::string>> objects_;
};

/// `text` if it is JSON (only a number where `number` asks for one), else `text` as a JSON string.
std::string json_or_string(std::string_view text, bool number) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(text);
  // A line break between tokens would be no harm to JSON, but a log has one entry a line.
  const bool one_line = text.find_first_of("\r\n") == std::string_view::npos;
  return value && one_line && (!number || value->is_number()) ? std::string(text)
                                                              : json_quoted(text);
}

std::string list_json(std::span<const std::string> texts) {
  JsonWriter json;
  json.begin_array();
  for (const std::string& text : texts) {
    json.string(text);
  }
  json.end_array();
  return json.take();
}

/// "MongoDB: eventual consistency" as {"option":…,"rejected_reason":…}.
std::string alternatives_json(std::span<const std::string> texts) {
  JsonWriter json;
  json.begin_array();
  for (const std::string_view text : texts) {
    const std::size_t colon = text.find(": ");
    json.begin_object().member("option", text.substr(0, colon));
    if (colon != std::string_view::npos) {
      json.member("rejected_reason", text.substr(colon + 2));
    }
    json.end_object();
  }
  json.end_array();
  return json.take();
}

std::string value_json(Shape shape, std::span<const std::string> texts) {
  switch (shape) {
    case Shape::kText:
      break;
    case Shape::kList:
      return list_json(texts);
    case Shape::kNumber:
      return json_or_string(texts.back(), true);
    case Shape::kFlag:
      return "true";
    case Shape::kJson:
      return json_or_string(texts.back(), false);
    case Shape::kAlternatives:
      return alternatives_json(texts);
  }
  return json_quoted(texts.back());
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
  json.end_object();
  return json.take();
}

/// Conversations keep topic and references where the specification has them.
void set_topic_and_references(EntryType type, const Arguments& args, ObjectBuilder& object) {
  const bool is_message = type == EntryType::kConversation;
  if (const auto topic = args.maybe("topic")) {
    object.set(is_message ? "context.topic" : "topic", json_quoted(*topic));
  }
  if (const auto ids = args.all("reference"); !ids.empty()) {
    object.set(is_message ? "metadata.references" : "references",
               is_message ? list_json(ids) : references_json(ids));
  }
}

/// Who it is from: --agent, else who writes. A user's message is not from the agent that stores it.
void set_agent(EntryType type, const Arguments& args, std::string_view agent_id,
               ObjectBuilder& object) {
  if (const auto agent = args.maybe("agent")) {
    object.set("agent_id", json_quoted(*agent));
  } else if (!agent_id.empty() &&
             !(type == EntryType::kConversation && args.value("role") == "user")) {
    object.set("agent_id", json_quoted(agent_id));
  }
}

Status set_unknown_fields(const Arguments& args, ObjectBuilder& object) {
  for (const std::string_view text : args.all("field")) {
    const std::size_t equals = text.find('=');
    const std::string_view key = text.substr(0, equals);
    const auto refuse = [&](std::string why) {
      return Error{
          .code = ErrorCode::E_INVALID_FORMAT, .message = std::move(why), .field = "field"};
    };
    if (equals == std::string_view::npos || key.empty()) {
      return refuse(fmt::format("'{}' has no KEY=VALUE", text));
    }
    if (object.has(key)) {
      return refuse(fmt::format("'{}' is given twice", key));
    }
    // Not set(): a dot in a key is part of it.
    object.set_member(key, json_or_string(text.substr(equals + 1), false));
  }
  return {};
}

}  // namespace

Result<std::string> entry_from_options(EntryType type, const Arguments& args,
                                       std::string_view main_text, std::string_view agent_id) {
  ObjectBuilder object;
  set_agent(type, args, agent_id, object);
  for (const Target& target : kTargets) {
    if (const auto texts = args.all(target.option); !texts.empty()) {
      object.set(target.path, value_json(target.shape, texts));
    } else if (!main_text.empty() && target.option == main_field(type)) {
      const std::string text(main_text);
      object.set(target.path, value_json(target.shape, {&text, 1}));
    }
  }
  set_topic_and_references(type, args, object);
  BMAD_TRY(set_unknown_fields(args, object));
  return object.take();
}

}  // namespace bmad_mem::cli
