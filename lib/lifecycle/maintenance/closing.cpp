// closing.cpp - a session counted into its manifest, and closed.
#include <algorithm>
#include <array>

#include "knowledge/knowledge_store.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "search/held_indexes.hpp"
#include "search/indexing.hpp"
#include "search/reads.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

std::string_view total_name(EntryType type) {
  static constexpr std::array<std::string_view, kEntryTypeCount> kNames = {
      "total_messages", "total_decisions", "total_findings",     "total_preferences",
      "total_facts",    "total_events",    "total_agent_states", "total_artifacts"};
  return kNames[static_cast<std::size_t>(type)];
}

/// Counts what the session holds into its manifest. The caller holds the session's lock and saves
/// the manifest, which must be that on the disk.
Status count_into(Store& store, Manifest& manifest) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const SessionStatistics counted, count_session(store, manifest.session_id));
  ManifestStatistics& statistics = manifest.statistics;
  for (const TypeStatistics& type : counted.types) {
    statistics.set_total(total_name(type.type), static_cast<std::int64_t>(type.entries));
  }
  // By what entries say, and not by the file system: every clone counts the same.
  if (counted.newest) {
    statistics.last_accessed = std::max(statistics.last_accessed, counted.newest);
    manifest.updated_at = std::max(manifest.updated_at, *counted.newest);
  }
  BMAD_TRY_ASSIGN(const FileInfo before, files.info(manifest_path(manifest.session_id)));
  const std::uint64_t others = counted.size_bytes - std::min(before.size, counted.size_bytes);
  constexpr int kRounds = 3;  // The manifest counts itself, and grows with the digits.
  for (int i = 0; i < kRounds; ++i) {
    statistics.size_bytes = static_cast<std::int64_t>(others + manifest.to_text().size());
  }
  return {};
}

}  // namespace

Result<bool> refresh_manifest(Store& store, const std::string& session_id) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const Manifest before, load_manifest(files, session_id));
  BMAD_TRY_ASSIGN(const SessionFootprint footprint,
                  session_footprint(files, session_id, log_files()));
  const bool holds_nothing = footprint.last_write_ns == 0 &&
                             std::ranges::all_of(before.statistics.totals,
                                                 [](const auto& each) { return each.count == 0; });
  if (holds_nothing || before.statistics.size_bytes == static_cast<std::int64_t>(footprint.size)) {
    return false;
  }
  const std::shared_ptr<OpenSession> session = store.session(session_id);
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("maintain"));
  BMAD_TRY_ASSIGN(Manifest manifest, load_manifest(files, session_id));
  BMAD_TRY(count_into(store, manifest));
  session->manifest_known = false;
  BMAD_TRY(save_manifest(files, manifest));
  return true;
}

Result<Session> close_session(Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  const std::shared_ptr<OpenSession> session = store.session(session_id);
  std::string notice = seal_notice(check_seal(store, session_id));  // May run git: before the lock.
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("close"));
    BMAD_TRY_ASSIGN(Manifest manifest, load_manifest(*store.files, session_id));
    manifest.statistics.last_accessed = store.clock.now();
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

}  // namespace bmad_mem
