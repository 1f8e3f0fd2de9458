// ledger_care.cpp - the ledger of who wrote the lines stays about as long as there are lines.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "lifecycle/maintenance.hpp"
#include "search/session_sources.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Adds the tags of all lines of a session, sealed ones as they stand.
Status add_session_tags(const Store& store, const SessionSource& source, const OriginLedger& ledger,
                        std::vector<std::uint64_t>& tags) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, source.files(store));
  return scan_logs(*files, session_folder(source.session_id),
                   {.on_entry = [&](const ScannedEntry& entry) {
                     ledger.add_tags(source.session_id, entry.type, entry.text, tags);
                   }});
}

/// The tags of all lines that there are, in order; nothing when that is not known of each.
std::optional<std::vector<std::uint64_t>> live_tags(const Store& store,
                                                    const OriginLedger& ledger) {
  Result<std::vector<SessionSource>> sources = evicted_sources(store, {});
  const Result<std::vector<SessionSource>> sessions = session_sources(store, {});
  if (!sources || !sessions || store.sealing->is_on()) {  // What sealed lines say is not read.
    return std::nullopt;
  }
  std::ranges::copy(*sessions, std::back_inserter(*sources));
  std::vector<std::uint64_t> tags;
  for (const SessionSource& source : *sources) {
    if (!add_session_tags(store, source, ledger, tags)) {
      return std::nullopt;
    }
  }
  std::ranges::sort(tags);
  return tags;
}

}  // namespace

void compact_ledger(const Store& store, bool may_read_all) {
  const OriginLedger* const ledger = store.origins->ledger();
  if (ledger == nullptr) {
    return;
  }
  const std::int64_t today =
      std::chrono::floor<std::chrono::days>(store.clock.now()).time_since_epoch().count();
  if (!ledger->is_due(may_read_all ? std::optional(today) : std::nullopt)) {
    return;
  }
  const std::optional<std::vector<std::uint64_t>> live =
      may_read_all ? live_tags(store, *ledger) : std::nullopt;
  ledger->compact(live ? &*live : nullptr, today);
}

}  // namespace bmad_mem
