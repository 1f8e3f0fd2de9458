#include "exchange/graph/graph.hpp"

#include <initializer_list>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "exchange/ids.hpp"

namespace bmad_mem::cli {
namespace {

/// An id from several texts. NUL stands in none of them: the store refuses it.
std::string joined_id(std::string_view prefix, std::initializer_list<std::string_view> texts) {
  std::string joined;
  for (const std::string_view text : texts) {
    joined += text;
    joined += '\0';
  }
  joined.pop_back();
  return content_id(prefix, joined);
}

/// The member that tells what a fact is, as an object of texts.
std::string texts_object(
    std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, text] : members) {
    json.member(name, text);
  }
  return json.end_object().take();
}

std::string fact_json(const std::string& id, std::string_view key, std::string_view content,
                      std::string_view member, const std::string& texts, std::string_view more) {
  JsonWriter json;
  json.begin_object().member("id", id).member("category", "project_fact");
  if (!key.empty()) {
    json.member("key", key);
  }
  json.member("content", content).key(member).raw(texts);
  json.end_object();
  std::string text = json.take();
  if (!more.empty()) {
    text.pop_back();
    text += fmt::format(",{}}}", more);
  }
  return text;
}

std::string text_of(JsonValue object, std::string_view name) {
  return std::string(object[name].string());
}

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

std::string entity_id(std::string_view name) { return joined_id("entity-", {name}); }

std::string observation_id(const GraphObservation& observation) {
  return joined_id("obs-", {observation.entity_name, observation.content});
}

std::string relation_id(const GraphRelation& relation) {
  return joined_id("rel-", {relation.from, relation.relation_type, relation.to});
}

std::string entity_json(const GraphEntity& entity, std::string_view more) {
  // A fact must say something; an entity without a type is still there.
  const std::string& content = entity.entity_type.empty() ? entity.name : entity.entity_type;
  return fact_json(entity_id(entity.name), entity.name, content, "entity",
                   texts_object({{"name", entity.name}, {"entityType", entity.entity_type}}), more);
}

std::string observation_json(const GraphObservation& observation, std::string_view more) {
  return fact_json(
      observation_id(observation), "",
      fmt::format("{}: {}", observation.entity_name, observation.content), "observation",
      texts_object({{"entityName", observation.entity_name}, {"content", observation.content}}),
      more);
}

std::string relation_json(const GraphRelation& relation, std::string_view more) {
  return fact_json(
      relation_id(relation), "",
      fmt::format("{} {} {}", relation.from, relation.relation_type, relation.to), "relation",
      texts_object(
          {{"from", relation.from}, {"to", relation.to}, {"relationType", relation.relation_type}}),
      more);
}

std::optional<GraphItem> graph_item_from(JsonValue entry) {
  if (const JsonValue entity = entry["entity"]; entity["name"].is_string()) {
    return GraphEntity{.name = text_of(entity, "name"),
                       .entity_type = text_of(entity, "entityType")};
  }
  if (const JsonValue observation = entry["observation"]; observation["entityName"].is_string()) {
    return GraphObservation{.entity_name = text_of(observation, "entityName"),
                            .content = text_of(observation, "content")};
  }
  if (const JsonValue relation = entry["relation"]; relation["from"].is_string()) {
    return GraphRelation{.from = text_of(relation, "from"),
                         .to = text_of(relation, "to"),
                         .relation_type = text_of(relation, "relationType")};
  }
  return std::nullopt;
}

void GraphBuilder::add(std::string_view id, GraphItem item) {
  const auto [place, is_new] = places_.try_emplace(std::string(id), items_.size());
  if (is_new) {
    items_.push_back(std::move(item));
  } else {
    items_[place->second] = std::move(item);
  }
}

Graph GraphBuilder::build() const {
  Graph graph;
  std::map<std::string, std::size_t, std::less<>> entities;
  for (const GraphItem& item : items_) {
    if (const auto* entity = std::get_if<GraphEntity>(&item)) {
      entities.try_emplace(entity->name, graph.entities.size());
      graph.entities.push_back(*entity);
    } else if (const auto* relation = std::get_if<GraphRelation>(&item)) {
      graph.relations.push_back(*relation);
    }
  }
  // Only now: a merge of two branches may have put an observation before its entity.
  for (const GraphItem& item : items_) {
    if (const auto* observation = std::get_if<GraphObservation>(&item)) {
      if (const auto found = entities.find(observation->entity_name); found != entities.end()) {
        graph.entities[found->second].observations.push_back(observation->content);
      }
    }
  }
  return graph;
}

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
