#include "exchange/import/server_memory.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "exchange/graph/graph_file.hpp"
#include "exchange/graph/graph_store.hpp"
#include "exchange/import/json_repair.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

/// After so many bytes it is looked whether the session still has room.
constexpr std::uint64_t kBytesAtOnce = 1U << 20U;

}  // namespace

bool looks_like_server_memory(std::string_view beginning) {
  beginning.remove_prefix(std::min(beginning.find_first_not_of(" \t\r\n"), beginning.size()));
  JsonParser parser;
  const Result<JsonValue> first =
      parser.parse(repaired_json(beginning.substr(0, beginning.find('\n'))));
  return first && !std::holds_alternative<std::monostate>(graph_line_from(*first));
}

ServerMemoryImport::ServerMemoryImport(ImportSink& sink, std::string file,
                                       const std::string& session_id, std::string_view project)
    : sink_(sink),
      file_(std::move(file)),
      session_(session_id),
      project_(project),
      is_graph_(session_id.empty()) {}

std::string ServerMemoryImport::origin(std::uint64_t line) const {
  return fmt::format(
      R"("source":{},"imported_from":{{"format":"server-memory","file":{},"line":{}}})",
      kImportSource, json_quoted(base_name(file_)), line);
}

/// The session of the graph that has room. What was put before is written first: else it would not
/// count.
Status ServerMemoryImport::choose_session() {
  MemoryManager* const memory = sink_.memory();
  if (memory == nullptr) {
    session_ = kGraphSession;  // A dry run.
    return {};
  }
  if (!known_is_read_) {
    BMAD_TRY_ASSIGN(known_, graph_ids(*memory));
    known_is_read_ = true;
  }
  BMAD_TRY(sink_.flush());
  TrackedSessions tracked(memory->root());
  BMAD_TRY_ASSIGN(session_, writable_graph_session(*memory, tracked));
  if (tracked.in_repository()) {
    sink_.space_out(session_);
  }
  put_bytes_ = 0;
  return {};
}

Status ServerMemoryImport::put(const std::string& id, std::string json, std::uint64_t line) {
  if (is_graph_) {
    if (session_.empty() || put_bytes_ > kBytesAtOnce) {
      BMAD_TRY(choose_session());
    }
    if (known_.contains(id)) {
      ++sink_.report().known;
      return {};
    }
    put_bytes_ += json.size();
  }
  if (!sink_.has_session(session_)) {
    BMAD_TRY(sink_.need_session({.session_id = session_,
                                 .project_name = project_,
                                 .session_type = "server-memory",
                                 .tags = {"imported"}}));
  }
  return sink_.add(session_, EntryType::kFact, std::move(json), KnownEntries::kSkipId,
                   {.file = file_, .line = line});
}

Status ServerMemoryImport::take(JsonValue record, std::string_view /*text*/, std::uint64_t line) {
  const GraphLine item = graph_line_from(record);
  const std::string more = origin(line);
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

}  // namespace bmad_mem::cli
