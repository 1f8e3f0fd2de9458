// closing.cpp - a session counted into its manifest, and closed.
#include <fmt/format.h>

#include "knowledge/knowledge_store.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "search/held_indexes.hpp"
#include "search/indexing.hpp"
#include "search/reads.hpp"
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

}  // namespace

Result<Session> close_session(Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  const std::shared_ptr<OpenSession> session = store.session(session_id);
  static_cast<void>(look_for_hand_edits(store, HandLook::kChanged));  // A seal would hide them.
  std::string notice = seal_notice(check_seal(store, session_id));  // May run git: before the lock.
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("close"));
    BMAD_TRY_ASSIGN(Manifest manifest, load_manifest(*store.files, session_id));
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
