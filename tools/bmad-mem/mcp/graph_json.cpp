#include "mcp/graph_json.hpp"

#include <utility>

#include <fmt/format.h>

#include "exchange/graph/graph.hpp"

namespace bmad_mem::cli {
namespace {

/// `items`, each as `one` writes it, with commas, in brackets.
template <typename Items, typename One>
std::string array_json(const Items& items, const One& one) {
  std::string json = "[";
  for (const auto& item : items) {
    if (json.size() > 1) {
      json += ',';
    }
    json += one(item);
  }
  return json += ']';
}

std::string texts_json(const std::vector<std::string>& texts) {
  return array_json(texts, [](const std::string& text) { return js_quoted(text); });
}

Error wrong(std::string place, std::string_view expected, JsonValue got) {
  return {.code = ErrorCode::E_INVALID_QUERY,
          .message = fmt::format("{}: expected {}, received {}", place, expected,
                                 got.present() ? json_kind_name(got.kind()) : "nothing"),
          .field = std::move(place)};
}

Result<std::string> read_text(JsonValue object, std::string_view name, std::string_view where) {
  const JsonValue value = object[name];
  if (!value.is_string()) {
    return wrong(where.empty() ? std::string(name) : fmt::format("{}.{}", where, name), "a string",
                 value);
  }
  return std::string(value.string());
}

/// Calls `take(element, "list[3]")` for each element of the array `name` of `object`.
template <typename Take>
Status read_array(JsonValue object, std::string_view name, std::string_view where,
                  const Take& take) {
  const std::string place = where.empty() ? std::string(name) : fmt::format("{}.{}", where, name);
  const JsonValue list = object[name];
  if (!list.is_array()) {
    return wrong(place, "an array", list);
  }
  std::size_t index = 0;
  for (const JsonValue element : list.elements()) {
    BMAD_TRY(take(element, fmt::format("{}[{}]", place, index++)));
  }
  return {};
}

Result<std::vector<std::string>> read_texts(JsonValue object, std::string_view name,
                                            std::string_view where) {
  std::vector<std::string> texts;
  BMAD_TRY(read_array(object, name, where, [&](JsonValue text, std::string place) -> Status {
    if (!text.is_string()) {
      return wrong(std::move(place), "a string", text);
    }
    texts.emplace_back(text.string());
    return {};
  }));
  return texts;
}

/// One for each object in the array `list`, as `read(item, object, "list[3]")` fills it.
template <typename Item, typename Read>
Result<std::vector<Item>> read_objects(JsonValue arguments, std::string_view list,
                                       const Read& read) {
  std::vector<Item> items;
  BMAD_TRY(
      read_array(arguments, list, {}, [&](JsonValue value, const std::string& place) -> Status {
        return value.is_object() ? read(items.emplace_back(), value, place)
                                 : wrong(place, "an object", value);
      }));
  return items;
}

}  // namespace

std::string entities_json(std::span<const GraphEntity> entities) {
  return array_json(entities, [](const GraphEntity& entity) {
    return fmt::format(R"({{"name":{},"entityType":{},"observations":{}}})", js_quoted(entity.name),
                       js_quoted(entity.entity_type), texts_json(entity.observations));
  });
}

std::string relations_json(std::span<const GraphRelation> relations) {
  return array_json(relations, [](const GraphRelation& relation) {
    return fmt::format(R"({{"from":{},"to":{},"relationType":{}}})", js_quoted(relation.from),
                       js_quoted(relation.to), js_quoted(relation.relation_type));
  });
}

std::string added_observations_json(std::span<const AddedObservations> added) {
  return array_json(added, [](const AddedObservations& one) {
    return fmt::format(R"({{"entityName":{},"addedObservations":{}}})", js_quoted(one.entity_name),
                       texts_json(one.contents));
  });
}

std::string graph_json(const Graph& graph) {
  return fmt::format(R"({{"entities":{},"relations":{}}})", entities_json(graph.entities),
                     relations_json(graph.relations));
}

std::string js_pretty(std::string_view json) {
  std::string out;
  std::size_t depth = 0;
  const auto line = [&] { out.append("\n").append(depth * 2, ' '); };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      const std::size_t begin = i++;
      while (json[i] != '"') {
        i += json[i] == '\\' ? 2 : 1;
      }
      out += json.substr(begin, i - begin + 1);
    } else if (c == '{' || c == '[') {
      out += c;
      if (json[i + 1] == '}' || json[i + 1] == ']') {
        out += json[++i];
        continue;
      }
      ++depth;
      line();
    } else if (c == '}' || c == ']') {
      --depth;
      line();
      out += c;
    } else if (c == ',') {
      out += c;
      line();
    } else {
      out += c;
      if (c == ':') {
        out += ' ';
      }
    }
  }
  return out;
}

Result<std::vector<GraphEntity>> read_entities(JsonValue arguments) {
  const auto read = [](GraphEntity& entity, JsonValue value, const std::string& place) -> Status {
    BMAD_TRY_ASSIGN(entity.name, read_text(value, "name", place));
    BMAD_TRY_ASSIGN(entity.entity_type, read_text(value, "entityType", place));
    BMAD_TRY_ASSIGN(entity.observations, read_texts(value, "observations", place));
    return {};
  };
  return read_objects<GraphEntity>(arguments, "entities", read);
}

Result<std::vector<GraphRelation>> read_relations(JsonValue arguments) {
  const auto read = [](GraphRelation& relation, JsonValue value,
                       const std::string& place) -> Status {
    BMAD_TRY_ASSIGN(relation.from, read_text(value, "from", place));
    BMAD_TRY_ASSIGN(relation.to, read_text(value, "to", place));
    BMAD_TRY_ASSIGN(relation.relation_type, read_text(value, "relationType", place));
    return {};
  };
  return read_objects<GraphRelation>(arguments, "relations", read);
}

Result<std::vector<AddedObservations>> read_observations(JsonValue arguments, std::string_view list,
                                                         std::string_view texts) {
  const auto read = [&](AddedObservations& one, JsonValue value,
                        const std::string& place) -> Status {
    BMAD_TRY_ASSIGN(one.entity_name, read_text(value, "entityName", place));
    BMAD_TRY_ASSIGN(one.contents, read_texts(value, texts, place));
    return {};
  };
  return read_objects<AddedObservations>(arguments, list, read);
}

Result<std::vector<std::string>> read_names(JsonValue arguments, std::string_view list) {
  return read_texts(arguments, list, {});
}

Result<std::string> read_query(JsonValue arguments) { return read_text(arguments, "query", {}); }

}  // namespace bmad_mem::cli
