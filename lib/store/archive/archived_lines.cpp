#include "store/archived_lines.hpp"

#include <algorithm>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "store/deleted_entries.hpp"
#include "store/deletion_record.hpp"

namespace bmad_mem {

bool is_older_version(const EvictedLine& line) {
  return line.reason.starts_with("superseded by line ");  // As plans say it, since version 0.1.
}

bool GoneEntries::hold(const EvictedLine& line, std::string_view id) const {
  return ids.contains(id) || (session_until && line.evicted_at <= *session_until);
}

Result<GoneEntries> gone_entries(const Store& store, const std::string& session_id) {
  GoneEntries gone;
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store.files, session_id));
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> lines, read_deleted(*store.files, session_id));
  gone.ids.insert(record.purged_ids.begin(), record.purged_ids.end());
  gone.ids.insert(record.purging.begin(), record.purging.end());
  for (const Deletion& deletion : record.deletions) {
    if (deletion.whole_session) {
      gone.session_until =
          std::max(gone.session_until.value_or(deletion.deleted_at), deletion.deleted_at);
    }
  }
  JsonParser parser;
  for (const DeletedLine& line : lines) {
    if (line.is_damaged) {
      continue;
    }
    if (const Result<JsonValue> value = parser.parse(line.line)) {
      gone.ids.emplace(entry_id(*value));
    }
  }
  return gone;
}

Result<std::vector<ReturningLine>> archived_lines(const Store& store, const std::string& session_id,
                                                  std::span<const ArchivedFile> members) {
  BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store, session_id));
  BMAD_TRY_ASSIGN(const std::vector<EvictedLine> evicted, read_evicted(*store.files, session_id));
  std::set<std::pair<EntryType, std::string_view>> moved_out;
  for (const EvictedLine& line : evicted) {
    moved_out.emplace(line.type, line.line);
  }
  std::vector<ReturningLine> lines;
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    const auto log =
        std::ranges::find(members, entry_type_info(type).log_file, &ArchivedFile::name);
    std::string_view rest = log == members.end() ? std::string_view() : log->bytes;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      const Result<JsonValue> value = parser.parse(line);
      const bool is_gone = value && gone.ids.contains(entry_id(*value));
      if (!line.empty() && !is_gone && !moved_out.contains({type, line})) {
        lines.push_back({.type = type, .line = line});
      }
    }
  }
  return lines;
}

Result<bool> holds_more_than_folder(const Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const std::vector<ArchivedFile> members,
                  read_session_archive(*store.files, session_id));
  BMAD_TRY_ASSIGN(const std::vector<ReturningLine> lines,
                  archived_lines(store, session_id, members));
  return are_lines_missing(*store.files, session_id, lines);
}

}  // namespace bmad_mem
