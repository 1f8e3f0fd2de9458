#include "lost_entries.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// Versions of entries. A rewrite may change a line, as decay does, but neither of these.
using EntryVersions = std::set<std::pair<std::string, Timestamp>>;

void note_version(EntryVersions& versions, JsonValue entry) {
  versions.emplace(entry_id(entry), entry_timestamp(entry));
}

template <typename Line>
void note_lines(EntryVersions& versions, EntryType type, const std::vector<Line>& lines) {
  JsonParser parser;
  for (const Line& line : lines) {
    const Result<JsonValue> value = parser.parse(line.line);
    if (line.type == type && value) {
      note_version(versions, *value);
    }
  }
}

Result<EntryVersions> kept_versions(const Store& store, const std::string& session_id,
                                    EntryType type) {
  FileSystem& files = *store.files;
  EntryVersions versions;
  JsonParser parser;
  BMAD_TRY(scan_log(
      files, log_path(session_id, type), type, parser,
      {.on_entry = [&](const ScannedEntry& entry) { note_version(versions, entry.value); },
       .on_sealed = [&](const ScannedEntry& entry) { note_version(versions, entry.value); }}));
  if (const Result<std::vector<EvictedLine>> evicted = read_evicted(files, session_id)) {
    note_lines(versions, type, *evicted);
  }
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> deleted, read_deleted(files, session_id));
  note_lines(versions, type, deleted);
  return versions;
}

}  // namespace

Result<std::vector<CompleteEntry>> lost_entries(const Store& store, const std::string& session_id,
                                                EntryType type,
                                                std::span<const CompleteEntry> entries) {
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store.files, session_id));
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(*store.files, session_id));
  if (!is_live && std::ranges::any_of(record.deletions, &Deletion::whole_session)) {
    return std::vector<CompleteEntry>();  // They went along.
  }
  BMAD_TRY_ASSIGN(const EntryVersions kept, kept_versions(store, session_id, type));
  std::vector<CompleteEntry> lost;
  JsonParser parser;
  for (const CompleteEntry& entry : entries) {
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.line));
    if (!kept.contains({entry.id, entry_timestamp(value)}) &&
        !is_purged_id(store, record.purged_ids, entry.id)) {
      lost.push_back(entry);
    }
  }
  return lost;
}

}  // namespace bmad_mem
