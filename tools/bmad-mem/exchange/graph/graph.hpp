// graph.hpp - a knowledge graph of entities, observations and relations: as facts, and as the file
// of the reference memory server.
//
//   item                    id                            beside "content"
//   entity Ann, a person    entity-hash(Ann)              "key":"Ann", "entity":{name, entityType}
//   Ann "Says"              obs-hash(Ann \0 Says)         "observation":{entityName, content}
//   Ann knows Ben           rel-hash(Ann \0 knows \0 Ben) "relation":{from, to, relationType}
//
// All lie in the session kGraphSession, in the order in which they were added. The content is what
// a person searches and reads ("Ann: Says"); the member named last has the exact texts. Only
// entities have a key: two observations of one entity are no contradiction, so recall must not take
// the newer for the one that holds.
//
// The ids come from the texts as they were given. What redaction takes out of a text does not
// change its id, so adding the same text again adds nothing.
//
//   {"type":"entity","name":"Ann","entityType":"person","observations":["Says hello"]}
//   {"type":"relation","from":"Ann","to":"Ben","relationType":"knows"}
//
// The file: all entities, then all relations; keys in this order, nothing between the tokens; '\n'
// between the lines and none behind the last; an empty graph is an empty file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "bmad_mem/json_value.hpp"

namespace bmad_mem::cli {

inline constexpr std::string_view kGraphSession = "server-memory";

struct GraphEntity {
  std::string name;
  std::string entity_type;
  std::vector<std::string> observations = {};  ///< In the order in which they were added.
};

struct GraphObservation {
  std::string entity_name;
  std::string content;
};

struct GraphRelation {
  std::string from;
  std::string to;
  std::string relation_type;
};

struct Graph {
  std::vector<GraphEntity> entities;
  std::vector<GraphRelation> relations;
};

std::string entity_id(std::string_view name);
std::string observation_id(const GraphObservation& observation);
std::string relation_id(const GraphRelation& relation);

// Each as one fact, for MemoryManager::add_batch(). `more`: further members of the entry, without
// braces, such as "\"source\":{\"kind\":\"import\"}"; may be empty.

/// The entity alone, without its observations.
std::string entity_json(const GraphEntity& entity, std::string_view more = {});
std::string observation_json(const GraphObservation& observation, std::string_view more = {});
std::string relation_json(const GraphRelation& relation, std::string_view more = {});

/// The way back; the entity comes without observations. Nothing for any other entry.
using GraphItem = std::variant<GraphEntity, GraphObservation, GraphRelation>;
std::optional<GraphItem> graph_item_from(JsonValue entry);

/// Puts items together again, given in the order of their log. An item that comes again as a newer
/// version keeps its place. Observations of an entity that is not there are left out.
class GraphBuilder {
 public:
  /// `id`: of the entry that `item` was made from.
  void add(std::string_view id, GraphItem item);
  [[nodiscard]] bool has(const std::string& id) const { return places_.contains(id); }
  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
  /// Where in graph_ an item lies: in its list, and an observation in that of its entity.
  struct Place {
    std::size_t index = kNowhere;
    std::size_t observation = 0;
  };

  void add(Place& place, GraphEntity entity);
  void add(Place& place, GraphObservation observation);
  void add(Place& place, GraphRelation relation);

  Graph graph_;
  std::unordered_map<std::string, Place> places_;          ///< By id.
  std::unordered_map<std::string, std::size_t> entities_;  ///< By name, in graph_.entities.
  /// Observations whose entity is still to come, by its name: a merge of two branches may have put
  /// them in front of it.
  std::unordered_map<std::string, std::vector<std::pair<std::string, GraphObservation>>> early_;
};

/// The file, byte for byte as the reference server writes it.
std::string graph_file_text(const Graph& graph);

/// `json`, compact, as JavaScript's JSON.stringify writes it: that has short escapes for \b and \f.
std::string js_json(std::string_view json);

/// One line of such a file: an entity with its observations, or a relation. Other names that were
/// in use for the members are understood (entityName, from_id, …). Nothing for any other line.
using GraphLine = std::variant<std::monostate, GraphEntity, GraphRelation>;
GraphLine graph_line_from(JsonValue line);

}  // namespace bmad_mem::cli
