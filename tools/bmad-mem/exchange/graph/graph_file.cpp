#include "exchange/graph/graph_file.hpp"

#include <initializer_list>
#include <optional>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {
namespace {

/// The first of these members that is a text.
std::optional<std::string> first_text(JsonValue object,
                                      std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (object[name].is_string()) {
      return std::string(object[name].string());
    }
  }
  return std::nullopt;
}

}  // namespace

std::string js_quoted(std::string_view text) {
  const std::string plain = json_quoted(text);
  std::string out;
  out.reserve(plain.size());
  for (std::size_t at = 0; at < plain.size();) {
    const std::string_view rest = std::string_view(plain).substr(at);
    if (rest.starts_with("\\u0008") || rest.starts_with("\\u000c")) {
      out += rest.starts_with("\\u0008") ? "\\b" : "\\f";
      at += 6;
      continue;
    }
    const std::size_t size = rest.front() == '\\' && rest.size() > 1 ? 2 : 1;  // Not into "\\\\u".
    out += rest.substr(0, size);
    at += size;
  }
  return out;
}

std::string graph_file_text(const Graph& graph) {
  std::string out;
  for (const GraphEntity& entity : graph.entities) {
    std::string observations;
    for (const std::string& observation : entity.observations) {
      observations += (observations.empty() ? "" : ",") + js_quoted(observation);
    }
    out += fmt::format(R"({}{{"type":"entity","name":{},"entityType":{},"observations":[{}]}})",
                       out.empty() ? "" : "\n", js_quoted(entity.name),
                       js_quoted(entity.entity_type), observations);
  }
  for (const GraphRelation& relation : graph.relations) {
    out += fmt::format(R"({}{{"type":"relation","from":{},"to":{},"relationType":{}}})",
                       out.empty() ? "" : "\n", js_quoted(relation.from), js_quoted(relation.to),
                       js_quoted(relation.relation_type));
  }
  return out;
}

GraphLine graph_line_from(JsonValue line) {
  const std::string_view type = line["type"].string();
  if (type == "entity") {
    const std::optional<std::string> name = first_text(line, {"name", "entityName", "id"});
    if (!name) {
      return {};
    }
    GraphEntity entity = {
        .name = *name, .entity_type = first_text(line, {"entityType", "entity_type"}).value_or("")};
    for (const JsonValue observation : line["observations"].elements()) {
      if (observation.is_string()) {
        entity.observations.emplace_back(observation.string());
      }
    }
    return entity;
  }
  const std::optional<std::string> from = first_text(line, {"from", "from_id"});
  const std::optional<std::string> to = first_text(line, {"to", "to_id"});
  if (type != "relation" || !from || !to) {
    return {};
  }
  return GraphRelation{
      .from = *from,
      .to = *to,
      .relation_type = first_text(line, {"relationType", "relation_type"}).value_or("")};
}

}  // namespace bmad_mem::cli
