#include "import/server_memory.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "graph/graph_file.hpp"
#include "import/claude_code_text.hpp"
#include "import/json_repair.hpp"

namespace bmad_mem::cli {

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
      session_(session_id.empty() ? std::string(kGraphSession) : session_id),
      project_(project) {}

std::string ServerMemoryImport::origin(std::uint64_t line) const {
  return fmt::format(
      R"("source":{},"imported_from":{{"format":"server-memory","file":{},"line":{}}})",
      kImportSource, json_quoted(base_name(file_)), line);
}

Status ServerMemoryImport::put(std::string json, std::uint64_t line) {
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
    return put(relation_json(*relation, more), line);
  }
  const auto* entity = std::get_if<GraphEntity>(&item);
  if (entity == nullptr) {
    sink_.skip(record_reason(record["type"].string()));
    return {};
  }
  BMAD_TRY(put(entity_json(*entity, more), line));
  for (const std::string& observation : entity->observations) {
    BMAD_TRY(
        put(observation_json({.entity_name = entity->name, .content = observation}, more), line));
  }
  return {};
}

}  // namespace bmad_mem::cli
