// server_memory.hpp - importing the file of the reference memory server (memory.jsonl).
//
//   line       becomes
//   entity     a fact, and one for each observation; see graph/graph_entries.hpp
//   relation   a fact
//   others     nothing; counted
//
// All goes into the sessions of the graph (graph/graph_store.hpp), where `mcp --compat
// server-memory` finds it. The file names no times: the facts have that of the import.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "bmad_mem/json_value.hpp"
#include "exchange/import/import_sink.hpp"
#include "exchange/import/record_importer.hpp"

namespace bmad_mem::cli {

/// Whether the beginning of a file looks like such a file.
bool looks_like_server_memory(std::string_view beginning);

class ServerMemoryImport final : public RecordImporter {
 public:
  /// `session_id`: where all goes; empty: into the sessions of the graph.
  ServerMemoryImport(ImportSink& sink, std::string file, const std::string& session_id,
                     std::string_view project);

  Status take(JsonValue record, std::string_view text, std::uint64_t line) override;
  Status finish() override { return {}; }

 private:
  Status put(const std::string& id, std::string json, std::uint64_t line);
  Status choose_session();
  [[nodiscard]] std::string origin(std::uint64_t line) const;

  ImportSink& sink_;
  std::string file_;
  std::string session_;
  std::string project_;
  bool is_graph_;  // Whether the sessions of the graph are chosen here.
  bool known_is_read_ = false;
  std::unordered_set<std::string> known_;  // Ids in all of them.
  std::uint64_t put_bytes_ = 0;            // Since the session was chosen.
};

}  // namespace bmad_mem::cli
