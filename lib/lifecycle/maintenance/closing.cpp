// closing.cpp - a session counted into its manifest, and closed.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "knowledge/knowledge_store.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "search/held_indexes.hpp"
#include "search/indexing.hpp"
#include "search/reads.hpp"
#include "search/session_sources.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Counts what git tracks of the session into its manifest. The caller holds the session's lock.
Status count_into(Store& store, Manifest& manifest) {
  BMAD_TRY_ASSIGN(const SessionStatistics counted, count_session(store, manifest.session_id));
  for (const TypeStatistics& type : counted.types) {
    const std::string_view name =
        type.type == EntryType::kConversation ? "messages" : entry_type_info(type.type).plural;
    if (type.type != EntryType::kEvent) {
      manifest.set_total(fmt::format("{}{}", kTotalPrefix, name),
                         static_cast<std::int64_t>(type.entries));
    }
  }
  return {};
}

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

Result<Session> close_session(Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  const std::shared_ptr<OpenSession> session = store.session(session_id);
  static_cast<void>(look_for_hand_edits(store, HandLook::kChanged));  // A seal would hide them.
  std::string notice = seal_notice(check_seal(store, session_id));  // May run git: before the lock.
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("close"));
    BMAD_TRY_ASSIGN(Manifest manifest, load_manifest(*store.files, session_id));
    assert(manifest.session_id == session_id && "the manifest of another session is refused");
    manifest.updated_at = store.clock.now();
    manifest.closed_at = store.clock.now();
    BMAD_TRY(count_into(store, manifest));
    BMAD_TRY(save_manifest(*store.files, manifest));
    session->manifest_known = false;
    static_cast<void>(seal_session(store, session_id, false));
    static_cast<void>(write_readable_index(store, *session_index(store, session_id)));
  }
  tend_index(store, kEncodeAtTheEnd, SealWhen::kAny);
  write_missing_views(store);
  BMAD_TRY_ASSIGN(Session closed, titled_session(store, session_id));
  closed.notice = std::move(notice);
  return closed;
}

// The ledger of who wrote the lines stays about as long as there are lines.

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
