// graph_store.cpp - keeps the knowledge graph of a memory up to date, and changes it.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <functional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "bmad_mem/exports.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/text.hpp"
#include "exchange/git/shared_session.hpp"
#include "exchange/graph/graph.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::uint64_t kBytesAtOnce = 1U << 20U;

// Ids of events; never changed.
constexpr std::string_view kTakingIn = "graph-taking-in";
constexpr std::string_view kTakenIn = "graph-taken-in";

/// The id that the texts of `item`, as they are stored, would have.
std::string natural_id(const GraphItem& item) {
  if (const auto* entity = std::get_if<GraphEntity>(&item)) {
    return entity_id(entity->name);
  }
  if (const auto* relation = std::get_if<GraphRelation>(&item)) {
    return relation_id(*relation);
  }
  return observation_id(std::get<GraphObservation>(item));
}

/// The entities at the places that are wanted, and the relations that touch one of them.
Graph part_of(const Graph& whole, const std::function<bool(std::size_t)>& is_wanted) {
  Graph part;
  std::unordered_set<std::string_view> names;
  for (std::size_t place = 0; place < whole.entities.size(); ++place) {
    if (is_wanted(place)) {
      part.entities.push_back(whole.entities[place]);
      names.insert(whole.entities[place].name);
    }
  }
  for (const GraphRelation& relation : whole.relations) {
    if (names.contains(relation.from) || names.contains(relation.to)) {
      part.relations.push_back(relation);
    }
  }
  return part;
}

/// Gathers the facts of the graph, in the order of their logs.
class GraphLoader : public ExportVisitor {
 public:
  struct Item {
    Timestamp time{};  ///< Not before that of the item above it in the log.
    std::string session_id;
    std::string id;
    GraphItem item;
  };

  Status on_session(const Session& /*session*/) override {
    time_ = {};
    return {};
  }
  Status on_entry(const Entry& entry) override {
    BMAD_TRY_ASSIGN(const JsonValue value, parser_.parse(entry.json));
    time_ = std::max(time_, entry.timestamp);
    if (std::optional<GraphItem> item = graph_item_from(value)) {
      items_.push_back({time_, entry.session_id, entry.id, std::move(*item)});
    }
    return {};
  }
  void on_problem(const Error& /*problem*/) override {}  // `verify` tells; the rest is the graph.

  /// By time: whoever merged, the same graph.
  std::vector<Item> take() {
    std::ranges::stable_sort(items_, {}, &Item::time);
    return std::move(items_);
  }

 private:
  std::vector<Item> items_;
  Timestamp time_{};
  JsonParser parser_;
};

}  // namespace

bool is_graph_session(std::string_view session_id) {
  return is_shared_session(session_id, kGraphSession);
}

Result<std::vector<std::string>> graph_sessions(const MemoryManager& memory) {
  return shared_sessions(memory, kGraphSession);
}

Result<std::unordered_set<std::string>> graph_ids(const MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const auto deleted, deleted_of_shared(memory, kGraphSession));
  std::unordered_set<std::string> ids(deleted.begin(), deleted.end());
  EntryFilter filter{.types = {EntryType::kFact}, .with_outdated = true, .limit = 0};
  BMAD_TRY_ASSIGN(filter.sessions, graph_sessions(memory));
  if (!filter.sessions.empty()) {
    BMAD_TRY_ASSIGN(const std::vector<Entry> entries, memory.list(filter));
    for (const Entry& entry : entries) {
      ids.insert(entry.id);
    }
  }
  return ids;
}

Result<std::string> writable_graph_session(MemoryManager& memory) {
  return writable_session(
      memory, {.session_id = std::string(kGraphSession), .session_type = "knowledge_graph"},
      kGraphSessionSize);
}

GraphStore::GraphStore(MemoryManager& memory, EntryWatch watch)
    : memory_(&memory), watch_(std::move(watch)) {}

Result<GraphStore> GraphStore::open(MemoryManager& memory) {
  // Watched before it is read: what comes in between is seen twice, and counts once.
  BMAD_TRY_ASSIGN(EntryWatch watch, EntryWatch::open(memory, {.types = {EntryType::kFact}}));
  return GraphStore(memory, std::move(watch));
}

void GraphStore::add(const std::string& id, GraphItem item) {
  if (std::string natural = natural_id(item); natural != id) {
    other_ids_.try_emplace(std::move(natural), id);
  }
  if (live_.has(id)) {
    haystacks_.clear();  // A newer version.
  }
  live_.add(id, std::move(item));
}

std::string GraphStore::find(const std::string& id) const {
  if (live_.has(id)) {
    return id;
  }
  const auto other = other_ids_.find(id);
  return other == other_ids_.end() ? std::string() : other->second;
}

Status GraphStore::load() {
  live_ = {};
  other_ids_.clear();
  haystacks_.clear();
  last_ = {};
  ExportOptions options{
      .filter = {.types = {EntryType::kFact}}, .archived = true, .all_versions = true};
  BMAD_TRY_ASSIGN(options.filter.sessions, graph_sessions(*memory_));
  if (!options.filter.sessions.empty()) {
    GraphLoader loader;
    BMAD_TRY(memory_->export_entries(options, loader));
    for (GraphLoader::Item& each : loader.take()) {
      add(each.id, std::move(each.item));
      last_ = {each.time, std::move(each.session_id)};
    }
  }
  is_loaded_ = true;
  return {};
}

Status GraphStore::take(const Entry& entry) {
  if (!is_graph_session(entry.session_id)) {
    return {};
  }
  const auto& [time, session] = last_;
  if (entry.timestamp < time || (entry.timestamp == time && entry.session_id != session)) {
    is_loaded_ = false;  // A merge brought what is older: all is put in order again.
    return {};
  }
  last_ = {entry.timestamp, entry.session_id};
  BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(entry.json));
  if (std::optional<GraphItem> item = graph_item_from(*value)) {
    add(entry.id, std::move(*item));
  }
  return {};
}

Status GraphStore::refresh() {
  while (true) {
    const Result<std::vector<Entry>> entries = watch_.wait(std::chrono::milliseconds(0));
    if (watch_.take_rewritten() || !entries) {
      is_loaded_ = false;  // After an error nobody knows what was missed.
    }
    if (!entries) {
      return entries.error();
    }
    if (!is_loaded_) {
      BMAD_TRY(load());
      continue;
    }
    if (entries->empty()) {
      return {};
    }
    for (const Entry& entry : *entries) {
      BMAD_TRY(is_loaded_ ? take(entry) : Status());
    }
  }
}

Result<const Graph*> GraphStore::graph() {
  BMAD_TRY(refresh());
  return &live_.graph();
}

Result<Graph> GraphStore::search(std::string_view query) {
  BMAD_TRY_ASSIGN(const Graph* now, graph());
  const std::string lower = lower_case(query);
  haystacks_.resize(now->entities.size());
  return part_of(*now, [&](std::size_t place) {
    const GraphEntity& entity = now->entities[place];
    Haystack& stack = haystacks_[place];
    if (stack.text.empty() || stack.type != entity.entity_type ||
        stack.observation_count != entity.observations.size()) {
      std::string text = entity.name + '\0' + entity.entity_type;
      for (const std::string& observation : entity.observations) {
        (text += '\0') += observation;
      }
      stack = {entity.entity_type, entity.observations.size(), lower_case(text)};
    }
    return stack.text.contains(lower);
  });
}

Result<Graph> GraphStore::open_nodes(std::span<const std::string> names) {
  BMAD_TRY_ASSIGN(const Graph* now, graph());
  const std::unordered_set<std::string_view> wanted(names.begin(), names.end());
  return part_of(*now,
                 [&](std::size_t place) { return wanted.contains(now->entities[place].name); });
}

/// Looked up only now and then: a memory may have many sessions.
Status GraphStore::find_session() {
  BMAD_TRY_ASSIGN(session_, writable_graph_session(*memory_));
  BMAD_TRY_ASSIGN(const Session session, memory_->load_session(session_));
  // Others may write as well, so a part of the room at a time.
  room_bytes_ = (kGraphSessionSize - std::min(session.size_bytes, kGraphSessionSize)) / 8 + 1;
  return {};
}

/// More than a megabyte goes in pieces, so that a session with a little room isn't overfilled.
Status GraphStore::append(std::span<const std::string> lines) {
  std::size_t first = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bytes += lines[i].size();
    if (bytes > kBytesAtOnce || i + 1 == lines.size()) {
      BMAD_TRY(append_at_once(lines.subspan(first, i + 1 - first), bytes));
      first = i + 1;
      bytes = 0;
    }
  }
  assert(first == lines.size() && "all lines are appended");
  return {};
}

Status GraphStore::append_at_once(std::span<const std::string> lines, std::uint64_t bytes) {
  if (session_.empty() || room_bytes_ == 0 || memory_->is_tracked(session_)) {
    BMAD_TRY(find_session());
  }
  const std::vector<std::string_view> views(lines.begin(), lines.end());
  // Two branches may delete neighbours.
  const BatchOptions options{.spaced = memory_->in_repository()};
  Result<BatchReport> added = memory_->add_batch(session_, EntryType::kFact, views, options);
  if (!added && added.error().code == ErrorCode::E_SESSION_NOT_FOUND) {
    BMAD_TRY(find_session());  // Somebody has deleted it.
    added = memory_->add_batch(session_, EntryType::kFact, views, options);
  }
  if (!added) {
    return added.error();
  }
  room_bytes_ -= std::min(bytes, room_bytes_);
  return {};
}

Status GraphStore::mark(std::string_view id) {
  BMAD_TRY_ASSIGN(const std::string session, writable_graph_session(*memory_));
  const std::string line =
      fmt::format(R"({{"id":"{}","kind":"import","content":"a graph was taken in"}})", id);
  const std::string_view view = line;
  BMAD_TRY(memory_->add_batch(session, EntryType::kEvent, {&view, 1}));
  return {};
}

Result<bool> GraphStore::wants_graph() {
  BMAD_TRY_ASSIGN(const Graph* now, graph());
  EntryFilter filter{.types = {EntryType::kEvent}, .limit = 0};
  BMAD_TRY_ASSIGN(filter.sessions, graph_sessions(*memory_));
  if (filter.sessions.empty()) {
    return true;
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> events, memory_->list(filter));
  const auto has = [&](std::string_view id) {
    return std::ranges::any_of(events, [&](const Entry& event) { return event.id == id; });
  };
  return !has(kTakenIn) && (has(kTakingIn) || (now->entities.empty() && now->relations.empty()));
}

Status GraphStore::take_in(const Graph& graph) {
  BMAD_TRY(mark(kTakingIn));
  BMAD_TRY(create_entities(graph.entities));
  // Of an entity that came before an interruption, what was to follow.
  BMAD_TRY(add_observations(mapped(graph.entities, [](const GraphEntity& entity) {
    return AddedObservations{.entity_name = entity.name, .contents = entity.observations};
  })));
  BMAD_TRY(create_relations(graph.relations));
  return mark(kTakenIn);
}

Status GraphStore::remove(std::vector<std::string> ids) {
  std::ranges::transform(ids, ids.begin(), [&](const std::string& id) { return find(id); });
  std::erase_if(ids, [](const std::string& id) { return id.empty(); });
  if (ids.empty()) {
    return {};
  }
  DeletionCriteria criteria{.ids = std::move(ids)};
  BMAD_TRY_ASSIGN(criteria.sessions, graph_sessions(*memory_));
  DeleteOptions options;
  if (memory_->in_repository()) {
    BMAD_TRY(find_session());  // Two branches must not write to the same audit.
    options.audit_session = session_;
  }
  BMAD_TRY(memory_->delete_entries(criteria, options));
  return {};
}

Result<std::vector<GraphEntity>> GraphStore::create_entities(
    std::span<const GraphEntity> entities) {
  BMAD_TRY(refresh());
  std::vector<GraphEntity> added;
  std::vector<std::string> lines;
  std::unordered_set<std::string> written;  // Ids.
  const auto write = [&](const std::string& id, std::string json) {
    if (written.insert(id).second) {
      lines.push_back(std::move(json));
    }
  };
  for (const GraphEntity& entity : entities) {
    if (!find(entity_id(entity.name)).empty()) {
      continue;
    }
    added.push_back(entity);
    write(entity_id(entity.name), entity_json(entity));
    for (const std::string& content : entity.observations) {
      const GraphObservation observation{.entity_name = entity.name, .content = content};
      write(observation_id(observation), observation_json(observation));
    }
  }
  BMAD_TRY(append(lines));
  return added;
}

Result<std::vector<GraphRelation>> GraphStore::create_relations(
    std::span<const GraphRelation> relations) {
  BMAD_TRY(refresh());
  std::vector<GraphRelation> added;
  std::vector<std::string> lines;
  std::unordered_set<std::string> written;
  for (const GraphRelation& relation : relations) {
    const std::string id = relation_id(relation);
    if (find(id).empty() && written.insert(id).second) {
      added.push_back(relation);
      lines.push_back(relation_json(relation));
    }
  }
  BMAD_TRY(append(lines));
  return added;
}

Result<std::vector<AddedObservations>> GraphStore::add_observations(
    std::span<const AddedObservations> observations) {
  BMAD_TRY(refresh());
  std::vector<AddedObservations> added;
  std::vector<std::string> lines;
  std::unordered_set<std::string> written;
  for (const AddedObservations& wanted : observations) {
    if (find(entity_id(wanted.entity_name)).empty()) {
      return Error{.code = ErrorCode::E_INVALID_QUERY,
                   .message = fmt::format("Entity with name {} not found", wanted.entity_name)};
    }
    AddedObservations& result = added.emplace_back(AddedObservations{wanted.entity_name, {}});
    for (const std::string& content : wanted.contents) {
      const GraphObservation observation{.entity_name = wanted.entity_name, .content = content};
      const std::string id = observation_id(observation);
      if (find(id).empty() && written.insert(id).second) {
        result.contents.push_back(content);
        lines.push_back(observation_json(observation));
      }
    }
  }
  BMAD_TRY(append(lines));
  return added;
}

Status GraphStore::delete_entities(std::span<const std::string> names) {
  BMAD_TRY_ASSIGN(const Graph* now, graph());
  const std::unordered_set<std::string> gone(names.begin(), names.end());
  std::vector<std::string> ids;
  for (const GraphEntity& entity : now->entities) {
    if (gone.contains(entity.name)) {
      ids.push_back(entity_id(entity.name));
      for (const std::string& content : entity.observations) {
        ids.push_back(observation_id({.entity_name = entity.name, .content = content}));
      }
    }
  }
  for (const GraphRelation& relation : now->relations) {
    if (gone.contains(relation.from) || gone.contains(relation.to)) {
      ids.push_back(relation_id(relation));
    }
  }
  return remove(std::move(ids));
}

Status GraphStore::delete_observations(std::span<const AddedObservations> observations) {
  BMAD_TRY(refresh());
  std::vector<std::string> ids;
  for (const AddedObservations& unwanted : observations) {
    for (const std::string& content : unwanted.contents) {
      ids.push_back(observation_id({.entity_name = unwanted.entity_name, .content = content}));
    }
  }
  return remove(std::move(ids));
}

Status GraphStore::delete_relations(std::span<const GraphRelation> relations) {
  BMAD_TRY(refresh());
  return remove(mapped(relations, relation_id));
}

}  // namespace bmad_mem::cli
