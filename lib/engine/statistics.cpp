// statistics.cpp - what is in a session, counted by the index where that knows all lines, else from
// its logs.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>

#include "bmad_mem/json_parser.hpp"
#include "index/entry_scanner.hpp"
#include "model/entry.hpp"
#include "root_index.hpp"
#include "storage/layout.hpp"
#include "storage/line_reader.hpp"
#include "store.hpp"

namespace bmad_mem {
namespace {

std::uint64_t sum(const std::array<TypeStatistics, kEntryTypeCount>& types,
                  std::uint64_t TypeStatistics::* member) {
  std::uint64_t total = 0;
  for (const TypeStatistics& type : types) {
    total += type.*member;
  }
  return total;
}

Result<std::uint64_t> count_lines(FileSystem& files, const std::string& path) {
  const Result<std::unique_ptr<File>> file = files.open(path, OpenMode::kRead);
  if (!file) {
    if (is_not_found(file.error())) {
      return std::uint64_t{0};
    }
    return file.error();
  }
  LineReader reader(**file, kEntrySizeMax);
  Line line;
  std::uint64_t count = 0;
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, reader.next(line));
    if (!more) {
      return count;
    }
    ++count;
  }
}

/// Fills in what a segment counts, and whether that is all: where a line is damaged, blank, torn or
/// superseded, only the logs tell.
bool count_by_index(const Store& store, SessionStatistics& statistics) {
  RootIndex::Candidate candidate{.id = statistics.session_id};
  const auto parts = store.root_index->sweep({&candidate, 1});
  const std::optional<SessionBase> base =
      candidate.is_covered ? store.root_index->base_of(candidate.id) : std::nullopt;
  if (!base) {
    return false;
  }
  IndexedSession& session = *base->part->sessions().front();
  if (!session.load()) {
    return false;
  }
  const SlotView slots = session.slots();
  SessionStatistics counted = statistics;
  for (std::uint32_t slot = 0; slot < slots.size(); ++slot) {
    const Timestamp time = session.timestamp(slots.ordinal(slot));
    counted.oldest = std::min(counted.oldest.value_or(time), time);
    counted.newest = std::max(counted.newest.value_or(time), time);
    ++counted.types[static_cast<std::size_t>(flag_type(slots.flags[slot]))].entries;
  }
  for (std::size_t i = 0; i < kEntryTypeCount; ++i) {
    const LogCover& cover = base->covers[static_cast<std::size_t>(kEntryTypes[i])];
    TypeStatistics& type = counted.types[i];
    if (cover.lines != type.entries || cover.bytes != cover.file.size) {
      return false;
    }
    type.type = kEntryTypes[i];
    type.versions = type.entries;
    type.bytes = cover.bytes;
  }
  if (!base->part->status()) {
    return false;
  }
  statistics = counted;
  return true;
}

Status count_by_logs(const Store& store, SessionStatistics& statistics) {
  JsonParser parser;
  for (std::size_t i = 0; i < kEntryTypeCount; ++i) {
    const EntryType type = kEntryTypes[i];
    std::unordered_set<std::string> ids;
    const auto take = [&](const ScannedEntry& entry) {
      ids.emplace(entry_id(entry.value));
      const Timestamp time = entry_timestamp(entry.value);
      statistics.oldest = std::min(statistics.oldest.value_or(time), time);
      statistics.newest = std::max(statistics.newest.value_or(time), time);
    };
    const std::string path = session_file(statistics.session_id, entry_type_info(type).log_file);
    BMAD_TRY_ASSIGN(const LogScan scan,
                    scan_log(*store.files, path, type, parser, {.on_entry = take}));
    statistics.types[i] = {.type = type,
                           .entries = ids.size(),
                           .versions = scan.entries,
                           .damaged_lines = scan.damaged,
                           .bytes = scan.whole_end + scan.torn_size,
                           .torn_bytes = scan.torn_size};
  }
  return {};
}

}  // namespace

std::uint64_t SessionStatistics::entries() const { return sum(types, &TypeStatistics::entries); }
std::uint64_t SessionStatistics::versions() const { return sum(types, &TypeStatistics::versions); }
std::uint64_t SessionStatistics::damaged_lines() const {
  return sum(types, &TypeStatistics::damaged_lines);
}

Result<SessionStatistics> count_session(const Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  SessionStatistics statistics;
  statistics.session_id = session_id;
  statistics.size_max_bytes = store.config.max_session_size_bytes();
  if (!count_by_index(store, statistics)) {
    BMAD_TRY(count_by_logs(store, statistics));
  }
  BMAD_TRY_ASSIGN(const SessionFootprint footprint,
                  session_footprint(*store.files, session_id, log_files()));
  statistics.size_bytes = footprint.size;
  BMAD_TRY_ASSIGN(statistics.quarantined, count_lines(*store.files, quarantine_path(session_id)));
  return statistics;
}

}  // namespace bmad_mem
