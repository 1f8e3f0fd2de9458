// sealed_reads.cpp - entries that only a key opens: no index has them, so that they are scanned.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "search/field_filter.hpp"
#include "search/reads.hpp"
#include "search/session_sources.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_sealing.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Most bytes of sealed lines that a question opens; behind them it says how much it left out.
constexpr std::uint64_t kSealedBytesMax = std::uint64_t{16} << 20U;

}  // namespace

Result<SealedEntries> sealed_entries(const Store& store, const EntryFilter& filter) {
  SealedEntries found;
  if (!store.sealing->is_on()) {
    return found;
  }
  const Timestamp now = store.clock.now();
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> sources,
                  session_sources(store, filter.sessions, filter.archived));
  JsonParser parser;
  JsonParser inner;
  std::uint64_t bytes = 0;
  for (const SessionSource& source : sources) {
    const Result<std::shared_ptr<FileSystem>> files = source.files(store);
    if (!files) {
      BMAD_TRY(source.leave_out(store, files.error()));
      continue;
    }
    for (const EntryType type :
         filter.types.empty() ? std::span<const EntryType>(kEntryTypes) : filter.types) {
      std::map<std::string, std::optional<TableEntry>> latest;  // None: the latest is clear.
      const auto take = [&](const ScannedEntry& scanned) {
        const auto known = latest.find(std::string(entry_id(scanned.value)));
        if (known != latest.end()) {
          known->second.reset();
        }
      };
      const auto open = [&](const ScannedEntry& scanned) {
        bytes += scanned.text.size();
        if (bytes > kSealedBytesMax) {
          ++found.unread;
          return;
        }
        Result<OpenedEntry> opened = open_entry(*store.sealing, source.session_id, scanned, inner);
        if (!opened) {
          ++found.closed;
          return;
        }
        TableEntry entry = to_table_entry(opened->entry);
        entry.archived = source.is_archived();
        entry.sealed = true;
        latest.insert_or_assign(entry.id, std::move(entry));
      };
      BMAD_TRY(scan_log(**files, session_file(source.session_id, entry_type_info(type).log_file),
                        type, parser, {.on_entry = take, .on_sealed = open}));
      for (auto& [id, entry] : latest) {
        if (entry && passes(filter, source.session_id, *entry) &&
            !has_expired(entry->expires_at, now)) {
          found.entries.push_back(to_entry(parser, source.session_id, *std::move(entry)));
        }
      }
    }
  }
  return found;
}

}  // namespace bmad_mem
