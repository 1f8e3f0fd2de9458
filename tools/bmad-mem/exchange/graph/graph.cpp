// graph.cpp - converts entities, observations and relations to facts and back.
#include "exchange/graph/graph.hpp"

#include <algorithm>
#include <cassert>
#include <initializer_list>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/json.hpp"
#include "cli/json_text.hpp"
#include "exchange/ids.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// An id from several texts. NUL stands in none of them: the store refuses it.
std::string joined_id(std::string_view prefix, std::initializer_list<std::string_view> texts) {
  return content_id(prefix, fmt::format("{}", fmt::join(texts, std::string_view("\0", 1))));
}

using Texts = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// A fact; its member `name` has the texts that tell what it is.
std::string fact_json(const std::string& id, std::string_view key, std::string_view content,
                      std::string_view name, Texts texts, std::string_view more) {
  assert(!more.starts_with('{') && !more.starts_with(',') && "members without braces");
  JsonWriter json;
  json.begin_object().member("id", id).member("category", "project_fact");
  json.member_unless_empty("key", key);
  json.member("content", content).key(name).begin_object();
  for (const auto& [member, text] : texts) {
    json.member(member, text);
  }
  json.end_object();
  return fmt::format("{}{}{}}}", json.text(), more.empty() ? "" : ",", more);
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
                   {{"name", entity.name}, {"entityType", entity.entity_type}}, more);
}

std::string observation_json(const GraphObservation& observation, std::string_view more) {
  const auto& [name, content] = observation;
  return fact_json(observation_id(observation), "", fmt::format("{}: {}", name, content),
                   "observation", {{"entityName", name}, {"content", content}}, more);
}

std::string relation_json(const GraphRelation& relation, std::string_view more) {
  const auto& [from, to, type] = relation;
  return fact_json(relation_id(relation), "", fmt::format("{} {} {}", from, type, to), "relation",
                   {{"from", from}, {"to", to}, {"relationType", type}}, more);
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
  const auto [found, is_new] = places_.try_emplace(std::string(id), Place{.kind = item.index()});
  Place& place = found->second;
  if (!is_new && place.kind != item.index()) {
    return;  // An id says what it is of: only a hand or a stranger gives it to something else.
  }
  if (auto* const observation = std::get_if<GraphObservation>(&item);
      observation != nullptr && !entities_.contains(observation->entity_name)) {
    early_[observation->entity_name].emplace_back(id, std::move(*observation));
    return;
  }
  std::visit([&](auto& each) { add(place, std::move(each)); }, item);
}

void GraphBuilder::add(Place& place, GraphEntity entity) {
  const auto [known, is_new] = entities_.try_emplace(entity.name, graph_.entities.size());
  place.index = known->second;
  if (!is_new) {
    graph_.entities[place.index].entity_type = std::move(entity.entity_type);
    return;
  }
  const std::string name = entity.name;
  graph_.entities.push_back(std::move(entity));
  if (auto early = early_.extract(name)) {
    for (auto& [id, observation] : early.mapped()) {
      add(places_[id], std::move(observation));
    }
  }
}

void GraphBuilder::add(Place& place, GraphObservation observation) {
  if (place.index == kNowhere) {
    place.index = entities_.at(observation.entity_name);
    place.observation = graph_.entities[place.index].observations.size();
    graph_.entities[place.index].observations.emplace_back();
  }
  graph_.entities[place.index].observations[place.observation] = std::move(observation.content);
}

void GraphBuilder::add(Place& place, GraphRelation relation) {
  if (place.index == kNowhere) {
    place.index = graph_.relations.size();
    graph_.relations.emplace_back();
  }
  graph_.relations[place.index] = std::move(relation);
}

std::string js_json(std::string_view json) {
  std::string out;
  while (true) {
    const std::size_t at = std::min(json.find('\\'), json.size());
    out += json.substr(0, at);
    json.remove_prefix(at);
    if (json.empty()) {
      return out;
    }
    assert(json.size() >= 2 && "the text is JSON, so that a character is escaped");
    const bool is_short = json.starts_with("\\u0008") || json.starts_with("\\u000c");
    out += is_short ? (json[5] == '8' ? "\\b" : "\\f") : json.substr(0, 2);
    json.remove_prefix(is_short ? 6 : 2);
  }
}

std::string graph_file_text(const Graph& graph) {
  std::string out;
  const auto add = [&](std::string_view type, const auto& item) {
    out += (out.empty() ? "" : "\n") + js_json(json_object("type", type, item));
  };
  for (const GraphEntity& entity : graph.entities) {
    add("entity", shaped(shape::graph_entity, entity));
  }
  for (const GraphRelation& relation : graph.relations) {
    add("relation", shaped(shape::graph_relation, relation));
  }
  return out;
}

GraphLine graph_line_from(JsonValue line) {
  std::string_view type = line["type"].string();
  if (!line["type"].present()) {  // As read_graph answers.
    type = first_text(line, {"entityType", "entity_type"})       ? "entity"
           : first_text(line, {"relationType", "relation_type"}) ? "relation"
                                                                 : "";
  }
  if (type == "entity") {
    const std::optional<std::string> name = first_text(line, {"name", "entityName", "id"});
    if (!name) {
      return {};
    }
    GraphEntity entity = {
        .name = *name, .entity_type = first_text(line, {"entityType", "entity_type"}).value_or("")};
    for (const JsonValue observation : line["observations"].elements()) {
      const JsonValue text = observation.is_object() ? observation["content"] : observation;
      if (text.is_string()) {
        entity.observations.emplace_back(text.string());
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
