// own_export.hpp - importing what `export --format jsonl` wrote: the same store again.
//
// Sessions that are not there are made with the identity that they had, entries keep ids, times and
// versions. Importing again changes nothing, and an export that has grown adds what is new: the
// versions of each entry are compared, one after the other, with those that are there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "exchange/import/import_sink.hpp"

namespace bmad_mem::cli {

class OwnExportImport {
 public:
  /// `memory` is null in a dry run. `session_id`: where all entries go; empty: where each says.
  OwnExportImport(ImportSink& sink, MemoryManager* memory, std::string file,
                  std::string session_id);

  /// One line. What is neither session nor entry is refused, and the import goes on.
  /// Errors: those of ImportSink::add() and of MemoryManager::adopt_session().
  Status take(std::string_view text, JsonValue value, std::uint64_t line);
  /// Must follow the last line.
  Status finish();

 private:
  /// The versions of one entry that are there, and how many of them the export named so far.
  struct Versions {
    std::vector<std::string> lines;
    std::size_t next = 0;
  };
  using Key = std::pair<EntryType, std::string>;
  enum class Verdict : std::uint8_t { kKnown, kOlder, kNew, kAgain };

  Status begin_session(JsonValue identity, const ImportOrigin& origin);
  Status need_session(const std::string& session_id, const ImportOrigin& origin);
  Status end_session();
  Status read_known();
  Verdict judge(EntryType type, const std::string& id, const std::string& json, JsonValue value);
  [[nodiscard]] bool holds_nothing_else() const;

  ImportSink& sink_;
  MemoryManager* memory_;
  std::string file_;
  std::string session_id_;
  std::string current_;              ///< The session that lines go into; empty: none yet.
  std::optional<Session> identity_;  ///< Of the current one, as the export has it.
  std::map<Key, Versions> known_;    ///< Of the current one.
};

}  // namespace bmad_mem::cli
