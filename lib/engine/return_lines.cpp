#include "return_lines.hpp"

#include <algorithm>

#include "bmad_mem/json_parser.hpp"
#include "index/entry_scanner.hpp"
#include "model/entry.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

std::string id_of(JsonParser& parser, std::string_view line) {
  const Result<JsonValue> value = parser.parse(line);
  return value ? std::string(entry_id(*value)) : std::string();
}

}  // namespace

Result<std::set<std::string>> ids_in_log(FileSystem& files, const std::string& session_id,
                                         EntryType type) {
  std::set<std::string> ids;
  JsonParser parser;
  const auto take = [&](const ScannedEntry& entry) { ids.emplace(entry_id(entry.value)); };
  BMAD_TRY(scan_log(files, session_file(session_id, entry_type_info(type).log_file), type, parser,
                    {.on_entry = take}));
  return ids;
}

Result<ReturnOutcome> bring_back_lines(Store& store, const std::string& session_id,
                                       const FileLock::Guard& guard,
                                       std::span<const ReturningLine> lines,
                                       std::span<const std::string> ids) {
  ReturnOutcome outcome;
  outcome.is_back.resize(lines.size());
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    if (std::ranges::find(lines, type, &ReturningLine::type) == lines.end()) {
      continue;
    }
    BMAD_TRY_ASSIGN(const std::set<std::string> in_use, ids_in_log(*store.files, session_id, type));
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].type != type) {
        continue;
      }
      const std::string id = id_of(parser, lines[i].line);
      if (!ids.empty() && std::ranges::find(ids, id) == ids.end()) {
        continue;
      }
      if (in_use.contains(id)) {
        outcome.in_use_ids.push_back(id);
        continue;
      }
      text.append(lines[i].line).push_back('\n');
      outcome.is_back[i] = true;
    }
    if (!text.empty()) {
      const std::string log_file(entry_type_info(type).log_file);
      BMAD_TRY_ASSIGN(const AppendLog::Written written,
                      store.session(session_id).writer.append(guard, log_file, text));
      BMAD_TRY(AppendLog::sync(written));
    }
  }
  return outcome;
}

}  // namespace bmad_mem
