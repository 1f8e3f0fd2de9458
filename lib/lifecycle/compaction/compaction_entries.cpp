#include "compaction_entries.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "bmad_mem/entry_links.hpp"
#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// Hash of type and line, without the id wherever it stands as a string of its own.
std::uint64_t hash_without_id(EntryType type, std::string_view text, std::string_view id) {
  const std::string quoted = '"' + std::string(id) + '"';
  std::string rest(1, static_cast<char>('0' + static_cast<int>(type)));
  std::size_t from = 0;
  for (std::size_t at = text.find(quoted); at != std::string_view::npos;
       at = text.find(quoted, from)) {
    rest.append(text, from, at - from);
    from = at + quoted.size();
  }
  rest.append(text, from);
  return xxh3(rest);
}

bool is_one_of(std::string_view text, std::string_view a, std::string_view b) {
  return text == a || text == b;
}

CompactionEntry to_compaction_entry(const ScannedEntry& scanned, const CompactionRules& rules) {
  const EntryHead head = entry_head(scanned.type, scanned.value);
  CompactionEntry entry;
  entry.type = scanned.type;
  entry.id = head.id;
  entry.who = head.who;
  for (const std::string_view id : entry_citations(scanned.value)) {
    entry.references.emplace_back(id);
  }
  entry.line = scanned.line;
  entry.offset = scanned.offset;
  entry.size = scanned.line_size;
  entry.content_hash = hash_without_id(scanned.type, scanned.text, head.id);
  entry.timestamp = head.timestamp;
  entry.must_stay = must_stay(scanned.type, scanned.value);
  entry.is_settled = scanned.type == EntryType::kFinding &&
                     is_one_of(scanned.value["status"].string(), "resolved", "dismissed");
  const double importance = importance_of(scanned.type, head.severe, head.approved);
  const Access* access = rules.accesses == nullptr ? nullptr : rules.accesses->find(head.id);
  std::optional<Timestamp> accessed = head.last_accessed;
  if (access != nullptr) {
    accessed = std::max(accessed, std::optional(access->last));
  }
  entry.decay_factor =
      effective_decay(rules.decay,
                      {.type = scanned.type,
                       .timestamp = head.timestamp,
                       .initial_factor = head.decay_factor,
                       .importance = importance,
                       .pinned = head.pinned,
                       .access_count = head.access_count + (access == nullptr ? 0 : access->count),
                       .last_accessed = accessed},
                      rules.now);
  entry.relevance = relevance_of(entry.decay_factor, importance, accessed, rules.now);
  return entry;
}

}  // namespace

bool must_stay(EntryType type, JsonValue entry) {
  const EntryHead head = entry_head(type, entry);
  if (head.pinned) {
    return true;
  }
  if (type == EntryType::kFinding) {
    return is_one_of(entry["severity"].string(), "high", "critical") &&
           !is_one_of(entry["status"].string(), "resolved", "dismissed");
  }
  return type == EntryType::kDecision && head.approved;
}

Result<std::vector<CompactionEntry>> load_compaction_entries(FileSystem& files,
                                                             std::string_view session_id,
                                                             const CompactionRules& rules) {
  std::vector<CompactionEntry> entries;
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    const auto take = [&](const ScannedEntry& scanned) {
      entries.push_back(to_compaction_entry(scanned, rules));
    };
    BMAD_TRY(scan_log(files, session_file(session_id, entry_type_info(type).log_file), type, parser,
                      {.on_entry = take}));
  }
  return entries;
}

}  // namespace bmad_mem
