// mem0.hpp - importing what mem0 exports: {"results":[{"id":…,"memory":…}]}, or the array alone.
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
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "exchange/import/import_sink.hpp"
#include "exchange/import/record_importer.hpp"

namespace bmad_mem::cli {

/// Whether the beginning of a file looks like such an export.
bool looks_like_mem0(std::string_view beginning);

class Mem0Import final : public RecordImporter {
 public:
  /// `session_id`: where all goes; empty: into "mem0".
  Mem0Import(ImportSink& sink, std::string file, const std::string& session_id,
             std::string_view project);

  Status take(JsonValue record, std::string_view text, std::uint64_t line) override;
  Status finish() override { return {}; }

 private:
  ImportSink& sink_;
  std::string file_;
  std::string session_;
  std::string project_;
};

}  // namespace bmad_mem::cli
