// server_memory.cpp - the graph of the reference memory server: memory.jsonl.
//
//   line       becomes
//   entity     a fact, and one for each observation; see exchange/graph/graph.hpp
//   relation   a fact
//   others     nothing; counted
//
// The answer of its tool read_graph, {"entities":[…],"relations":[…]}, is read as well.
//
// All goes into the sessions of the graph (exchange/graph/graph.hpp), where `mcp --compat
// server-memory` finds it. The file names no times: the facts have that of the import, except where
// a fork of the server wrote createdAt.
#include <cassert>
#include <unordered_set>
#include <utility>
#include <variant>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/graph/graph.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

/// After so many bytes it is looked whether the session of the graph still has room.
constexpr std::uint64_t kGraphBytesAtOnce = 1U << 20U;

/// Whether it is what read_graph answers, rather than an item a line.
bool is_graph_document(std::string_view beginning) {
  const std::string_view front = beginning.substr(0, 4096);
  const std::string_view start = stripped(front.substr(front.find('{') + 1));
  return first_character(front) == '{' &&
         (start.starts_with("\"entities\"") || start.starts_with("\"relations\""));
}

bool looks_like_server_memory(std::string_view beginning) {
  const ParsedJson first = first_record(beginning);
  return (first && !std::holds_alternative<std::monostate>(graph_line_from(*first))) ||
         is_graph_document(beginning);
}

/// When an item of a fork was made; empty for the others.
std::string graph_time(JsonValue item) {
  for (const std::string_view key : {"createdAt", "created_at", "timestamp"}) {
    if (std::string time = python_time(item[key]); !time.empty()) {
      return time;
    }
  }
  return {};
}

class ServerMemoryImport final : public RecordImporter {
 public:
  explicit ServerMemoryImport(const ImportContext& context)
      : RecordImporter(context), is_graph_(session_.empty()) {}

  Status take(JsonValue record, std::string_view /*text*/, std::uint64_t line) override {
    const GraphLine item = graph_line_from(record);
    const std::string time = graph_time(record);
    const std::string more =
        json_members_of("timestamp", if_some(time), memory_origin("server-memory", file_, line));
    if (const auto* relation = std::get_if<GraphRelation>(&item)) {
      return put(relation_id(*relation), relation_json(*relation, more), line);
    }
    const auto* entity = std::get_if<GraphEntity>(&item);
    if (entity == nullptr) {
      sink_.skip(record_reason(record["type"].string()));
      return {};
    }
    BMAD_TRY(put(entity_id(entity->name), entity_json(*entity, more), line));
    for (const std::string& text : entity->observations) {
      const GraphObservation observation{.entity_name = entity->name, .content = text};
      BMAD_TRY(put(observation_id(observation), observation_json(observation, more), line));
    }
    return {};
  }

  Status take_member(std::string_view key, JsonValue value, std::string_view /*text*/) override {
    std::uint64_t number = 0;
    for (const JsonValue relation :
         key == "relations" ? value.elements() : JsonValue().elements()) {
      BMAD_TRY(take(relation, {}, ++number));
    }
    return {};
  }

 private:
  Status put(const std::string& id, std::string json, std::uint64_t line) {
    if (is_graph_) {
      if (!has_known_ && sink_.memory() != nullptr) {
        BMAD_TRY_ASSIGN(known_, graph_ids(*sink_.memory()));
        has_known_ = true;
      }
      if (known_.contains(id)) {
        ++sink_.report().known;
        return {};
      }
      if (session_.empty() || put_bytes_ > kGraphBytesAtOnce) {
        BMAD_TRY(choose_session());
      }
      put_bytes_ += json.size();
    }
    BMAD_TRY(need_session_called("server-memory"));
    return sink_.add(session_, EntryType::kFact, std::move(json), KnownEntries::kSkipId,
                     {.file = file_, .line = line});
  }

  /// The session of the graph that has room. What was put before is written first: else it would
  /// not count.
  Status choose_session() {
    assert(is_graph_ && "else the session is the one asked for");
    MemoryManager* const memory = sink_.memory();
    if (memory == nullptr) {
      session_ = kGraphSession;  // A dry run.
      return {};
    }
    BMAD_TRY(sink_.flush());
    BMAD_TRY_ASSIGN(session_, writable_graph_session(*memory));
    if (memory->in_repository()) {
      sink_.space_out(session_);
    }
    put_bytes_ = 0;
    return {};
  }

  bool is_graph_;  ///< Whether the sessions of the graph are chosen here.
  bool has_known_ = false;
  std::unordered_set<std::string> known_;  ///< Ids in all of them, and of what was deleted there.
  std::uint64_t put_bytes_ = 0;            ///< Since the session was chosen.
};

}  // namespace

const ImportReader kServerMemoryReader = {.looks_like = looks_like_server_memory,
                                          .make = make_importer<ServerMemoryImport>,
                                          .is_document = is_graph_document,
                                          .records_member = "entities"};

}  // namespace bmad_mem::cli
