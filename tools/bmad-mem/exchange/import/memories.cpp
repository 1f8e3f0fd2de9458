// memories.cpp - what other memories keep: mem0, and the reference memory server.
//
//   mem0: {"results":[{"id":…,"memory":…}]}, or the array alone
//
//   member                        becomes
//   id                            the fact's id
//   memory                        content
//   created_at, updated_at        timestamp, updated_at: a newer one is a newer version
//   agent_id                      agent_id
//   metadata, user_id, run_id,
//   actor_id, role,               members of the same name
//   expiration_date, categories
//   hash, score                   nothing: they are worked out from the rest
//
// All goes into the session "mem0", without a key: what mem0 holds is prose, and two statements
// are not two answers to one question.
//
//   server-memory: memory.jsonl
//
//   line       becomes
//   entity     a fact, and one for each observation; see exchange/graph/graph.hpp
//   relation   a fact
//   others     nothing; counted
//
// The answer of its tool read_graph, {"entities":[…],"relations":[…]}, is read as well.
//
// All goes into the sessions of the graph (exchange/graph/graph_store.hpp), where `mcp --compat
// server-memory` finds it. The file names no times: the facts have that of the import, except where
// a fork of the server wrote createdAt.
#include <array>
#include <unordered_set>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "exchange/git/shared_session.hpp"
#include "exchange/graph/graph_store.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 7> kKeptMembers = {
    "metadata", "user_id", "run_id", "actor_id", "role", "expiration_date", "categories"};
/// After so many bytes it is looked whether the session of the graph still has room.
constexpr std::uint64_t kGraphBytesAtOnce = 1U << 20U;

bool looks_like_mem0(std::string_view beginning) {
  const char first = first_character(beginning);
  const std::string_view front = beginning.substr(0, 4096);
  return front.contains("\"memory\"") &&
         ((first == '{' && front.contains("\"results\"")) || first == '[');
}

/// A time; one without a zone, as Python writes it by itself, is UTC. Empty for what is no time.
std::string python_time(JsonValue value) {
  auto time = try_parse_rfc3339(value.string());
  if (!time) {
    time = try_parse_rfc3339(std::string(value.string()) + "Z");
  }
  return time ? format_rfc3339(*time) : "";
}

class Mem0Import final : public RecordImporter {
 public:
  using RecordImporter::RecordImporter;

  Status take(JsonValue record, std::string_view text, std::uint64_t line) override {
    const std::string_view memory = stripped(record["memory"].string());
    if (memory.empty()) {
      sink_.skip("records without a memory");
      return {};
    }
    const std::string id(record["id"].string());
    const std::string created_at = python_time(record["created_at"]);
    JsonWriter json;
    json.begin_object().member("id", is_usable_id(id) ? id : content_id("fact-", memory));
    add_text(json, "timestamp", created_at);
    add_text(json, "agent_id", record["agent_id"].string());
    json.member("category", "project_fact").member("content", memory);
    for (const MemberText& member : json_members(text)) {
      if (is_among(kKeptMembers, member.key) && member.value != "null") {
        json.key(member.key).raw(json_compact(member.value));
      }
    }
    json.key("source").raw(kImportSource);
    json.key("imported_from").begin_object().member("format", "mem0");
    json.member("file", base_name(file_)).end_object();
    add_text(json, "updated_at", python_time(record["updated_at"]));
    json.end_object();
    BMAD_TRY(need_session_called("mem0"));
    return sink_.add(session_, EntryType::kFact, json.take(),
                     created_at.empty() ? KnownEntries::kSkipId : KnownEntries::kSkipIdentical,
                     {.file = file_, .line = line});
  }
};

/// Whether it is what read_graph answers, rather than an item a line.
bool is_graph_document(std::string_view beginning) {
  const std::string_view front = beginning.substr(0, 4096);
  const std::string_view start = stripped(front.substr(front.find('{') + 1));
  return first_character(front) == '{' &&
         (start.starts_with("\"entities\"") || start.starts_with("\"relations\""));
}

bool looks_like_server_memory(std::string_view beginning) {
  JsonParser parser;
  const Result<JsonValue> first = first_record(parser, beginning);
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
    std::string more = memory_origin("server-memory", file_, line);
    if (!time.empty()) {
      more = fmt::format("\"timestamp\":\"{}\",{}", time, more);
    }
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

const ImportClient kMem0Client = {.looks_like = looks_like_mem0,
                                  .make = make_importer<Mem0Import>,
                                  .is_document = [](std::string_view) { return true; }};
const ImportClient kServerMemoryClient = {.looks_like = looks_like_server_memory,
                                          .make = make_importer<ServerMemoryImport>,
                                          .is_document = is_graph_document,
                                          .records_member = "entities"};

}  // namespace bmad_mem::cli
