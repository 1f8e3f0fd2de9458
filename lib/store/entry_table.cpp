#include "store/entry_table.hpp"

#include <unordered_map>

#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

TableEntry to_table_entry(const ScannedEntry& scanned) {
  const EntryHead head = entry_head(scanned.type, scanned.value);
  TableEntry entry{.type = scanned.type,
                   .id = std::string(head.id),
                   .text = std::string(scanned.text),
                   .who = std::string(head.who),
                   .tags = {},
                   .timestamp = head.timestamp,
                   .line = scanned.line,
                   .versions = 1,
                   .pinned = head.pinned,
                   .sensitive = head.sensitive};
  for (const JsonValue tag : head.tags.elements()) {
    entry.tags.emplace_back(tag.string());
  }
  return entry;
}

namespace {

Status load_log(FileSystem& files, const std::string& path, EntryType type, Versions versions,
                JsonParser& parser, const OnDamage& on_damage, std::vector<TableEntry>& entries) {
  std::unordered_map<std::string, std::size_t> latest;  // Id to position in `entries`.
  const auto take = [&](const ScannedEntry& scanned) {
    TableEntry entry = to_table_entry(scanned);
    const auto [known, is_new] = latest.try_emplace(entry.id, entries.size());
    if (is_new) {
      entries.push_back(std::move(entry));
      return;
    }
    entry.versions = entries[known->second].versions + 1;
    if (versions == Versions::kLatest) {
      entries[known->second] = std::move(entry);
    } else {
      known->second = entries.size();
      entries.push_back(std::move(entry));
    }
  };
  ScanHandlers handlers{.on_entry = take};
  if (on_damage) {
    handlers.on_damage = [&](const DamagedLine& line) { on_damage(type, line); };
  }
  const Result<LogScan> scan = scan_log(files, path, type, parser, handlers);
  if (!scan) {
    return scan.error();
  }
  return {};
}

}  // namespace

Result<std::vector<TableEntry>> load_entries(FileSystem& files, std::string_view session_id,
                                             std::span<const EntryType> types, Versions versions,
                                             const OnDamage& on_damage) {
  std::vector<TableEntry> entries;
  JsonParser parser;
  for (const EntryType type : types.empty() ? std::span<const EntryType>(kEntryTypes) : types) {
    BMAD_TRY(load_log(files, session_file(session_id, entry_type_info(type).log_file), type,
                      versions, parser, on_damage, entries));
  }
  return entries;
}

}  // namespace bmad_mem
