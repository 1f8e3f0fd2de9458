// own_entries.hpp - importing JSONL of our own types: what `--json` prints, and logs.
//
//   {"type":"decision","session_id":"sess-1","id":"dec-1","timestamp":"…","decision":"…"}
//
// The type is the line's "type", else what the file's name says (decisions.jsonl). The session is
// the one asked for, else the line's "session_id", else for a log the folder it lies in.
//
// Importing again adds nothing. A line with id and timestamp is a version of that entry, and is
// left out when that very version is there. A line without a timestamp is left out when its id is
// there. A line without an id gets one made from its content, so equal lines without id are one
// entry.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "exchange/import/import_sink.hpp"

namespace bmad_mem::cli {

class OwnEntriesImport {
 public:
  /// `session_id`: where all entries go; empty: where each says. `fallback_session`: where those go
  /// that say nothing; may be empty.
  OwnEntriesImport(ImportSink& sink, std::string file, std::string session_id,
                   std::string fallback_session);

  /// One line. What is no entry is refused, and the import goes on.
  /// Errors: those of ImportSink::add().
  Status take(std::string_view text, JsonValue value, std::uint64_t line);

 private:
  ImportSink& sink_;
  std::string file_;
  std::string session_id_;
  std::string fallback_session_;
  std::optional<EntryType> file_type_;
  std::string file_session_;
};

}  // namespace bmad_mem::cli
