// exported_session.cpp - a session that comes from an export: who it was, and when.

#include "store/manifest.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// The identity as it may be written: an export may come from a memory with other rules.
Session redacted(const Store& store, Session identity) {
  redact_identity(store, identity);
  if (store.redaction != nullptr) {
    identity.title = store.redaction->redact_text(identity.title, identity.session_id);
  }
  return identity;
}

SessionParams params_of(const Session& identity) {
  return {.session_id = identity.session_id,
          .user_id = identity.user_id,
          .agent_ids = identity.agent_ids,
          .project_name = identity.project_name,
          .session_type = identity.session_type,
          .tags = identity.tags};
}

/// Puts the identity into the manifest; false when it was there already.
Result<bool> take_over(const Store& store, const Session& identity, Manifest& manifest) {
  const std::string before = manifest.to_text();
  manifest.created_at = identity.created_at;
  manifest.closed_at = identity.closed_at;
  manifest.user_id = identity.user_id;
  manifest.agent_ids = identity.agent_ids;
  manifest.project_name = identity.project_name;
  manifest.session_type = identity.session_type;
  manifest.tags = identity.tags;
  if (identity.title_from == TitleSource::kChosen) {
    manifest.title = identity.title;
  }
  BMAD_TRY(change_manifest(store, {.metadata_json = identity.metadata_json}, manifest));
  return manifest.to_text() != before;
}

}  // namespace

Status adopt_session(Store& store, const Session& identity) {
  Status there = check_session(store, identity.session_id);
  if (there) {
    const Result<Manifest> manifest = load_manifest(*store.files, identity.session_id);
    there = manifest ? Status() : Status(manifest.error());
  }
  if (!there && there.error().code != ErrorCode::E_SESSION_NOT_FOUND) {
    return there;
  }
  if (!there) {
    BMAD_TRY(create_session(store, params_of(identity)));
  }
  const std::shared_ptr<OpenSession> session = store.session(identity.session_id);
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("import"));
  BMAD_TRY_ASSIGN(Manifest manifest, load_manifest(*store.files, identity.session_id));
  BMAD_TRY_ASSIGN(const bool is_new, take_over(store, redacted(store, identity), manifest));
  if (!is_new) {
    return {};
  }
  manifest.updated_at = store.clock.now();
  session->manifest_known = false;
  return save_manifest(*store.files, manifest);
}

}  // namespace bmad_mem
