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
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "bmad_mem/entry_watch.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"

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
    std::size_t kind = 0;  ///< Which of GraphItem's types the first version was.
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

// The knowledge graph of a memory, kept at hand and changed.
//
//   server-memory  server-memory-2  server-memory-w4q7m2s8  …     sessions (shared_session.hpp)
//        └───────────┴──────────────────┴── facts (graph.hpp), by time
//                                               └──> GraphBuilder, advanced by an EntryWatch
//
// A session holds 10 MB, above which compaction moves out what counts least; a graph must not lose
// any of it, so it goes on in another session long before, at kGraphSessionSize. Where two writers
// say different things of an entity, the later one counts.

/// Bytes of a session after which the graph goes on in the next one.
inline constexpr std::uint64_t kGraphSessionSize = 6U << 20U;

/// Whether a session of this name holds a part of a graph.
bool is_graph_session(std::string_view session_id);

/// Of all sessions there are, archived ones too, those that hold parts of the graph, oldest first.
Result<std::vector<std::string>> graph_sessions(const MemoryManager& memory);

/// The ids of all facts in these sessions, also of those that were deleted and can be restored.
Result<std::unordered_set<std::string>> graph_ids(const MemoryManager& memory);

/// The session to which the next items of a graph go; made when there is none.
/// Errors: as MemoryManager::create_session().
Result<std::string> writable_graph_session(MemoryManager& memory);

struct AddedObservations {
  std::string entity_name;
  std::vector<std::string> contents;
};

/// Not for several threads at once.
class GraphStore {
 public:
  /// `memory` must outlive this. Errors: as EntryWatch::open() and reading.
  static Result<GraphStore> open(MemoryManager& memory);

  /// The graph as it is now, by whatever process. Valid until the next call.
  Result<const Graph*> graph();

  /// Of the entities those whose name, type or an observation holds `query`, whatever the case, in
  /// the order of the graph; of the relations those that touch one of them.
  Result<Graph> search(std::string_view query);
  /// The entities of these names and the relations that touch them.
  Result<Graph> open_nodes(std::span<const std::string> names);

  /// Whether a graph from elsewhere is to be taken in: nothing is here yet, or taking one in was
  /// interrupted. Two events in the sessions of the graph tell.
  Result<bool> wants_graph();
  /// Adds all of it; what is here already stays once.
  Status take_in(const Graph& graph);

  // Each is durable on return. Errors: as MemoryManager::add_batch() and delete_entries(): nothing
  // was added, but by a call with more than a megabyte, which calling it again completes.

  /// Adds those whose names are not there; of one that comes twice the observations of both.
  /// Returns them.
  Result<std::vector<GraphEntity>> create_entities(std::span<const GraphEntity> entities);
  Result<std::vector<GraphRelation>> create_relations(std::span<const GraphRelation> relations);
  /// Errors also: E_INVALID_QUERY, "Entity with name X not found".
  Result<std::vector<AddedObservations>> add_observations(
      std::span<const AddedObservations> observations);
  /// With their observations, and the relations that touch them.
  Status delete_entities(std::span<const std::string> names);
  Status delete_observations(std::span<const AddedObservations> observations);
  Status delete_relations(std::span<const GraphRelation> relations);

 private:
  GraphStore(MemoryManager& memory, EntryWatch watch);

  Status refresh();
  Status load();
  Status take(const Entry& entry);
  Status find_session();
  Status append(std::span<const std::string> lines);
  Status append_at_once(std::span<const std::string> lines, std::uint64_t bytes);
  Status mark(std::string_view id);
  Status remove(std::vector<std::string> ids);

  void add(const std::string& id, GraphItem item);
  /// The id of the item whose texts, as given or as stored, make `id`; empty when there is none.
  [[nodiscard]] std::string find(const std::string& id) const;

  /// What is searched of an entity, as long as it stays as it was.
  struct Haystack {
    std::string type;
    std::size_t observation_count = 0;
    std::string text;  // In lower case, with NUL between name, type and observations.
  };

  MemoryManager* memory_;
  EntryWatch watch_;
  GraphBuilder live_;
  /// What redaction took out of a text is missing in the graph: whoever names an item as the graph
  /// shows it finds it by the id that these texts would have.
  std::unordered_map<std::string, std::string> other_ids_;
  std::vector<Haystack> haystacks_;  // Of the graph's entities from the front, as far as searched.
  bool is_loaded_ = false;
  std::pair<Timestamp, std::string> last_;  // Time and session of the item that came last.
  std::string session_;                     // Where the next items go; empty: not known yet.
  std::uint64_t room_bytes_ = 0;            // How much of them, before that is looked up again.
};

}  // namespace bmad_mem::cli
