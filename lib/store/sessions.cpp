// sessions.cpp - creating, describing and closing sessions.
#include "store/sessions.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

Status make_logs(FileSystem& files, const std::string& folder) {
  for (const EntryType type : kEntryTypes) {
    const EntryTypeInfo& info = entry_type_info(type);
    if (info.created_with_session) {
      const std::string path = folder + "/" + std::string(info.log_file);
      BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path, OpenMode::kAppend));
    }
  }
  return {};
}

/// Makes the session in a folder that is there: logs in it stay, what was derived from others goes.
/// The manifest comes first, so that a killed process leaves a session or none.
Status fill_folder_in_place(Store& store, const Manifest& manifest) {
  FileSystem& files = *store.files;
  const std::string& id = manifest.session_id;
  const std::shared_ptr<OpenSession> session = store.session(id);
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("session new"));
  for (const char* derived : {kIndexName, kLineHashesName}) {
    BMAD_TRY(remove_durably(files, session_file(id, derived)));
  }
  session->manifest_known = false;
  BMAD_TRY(save_manifest(files, manifest));
  BMAD_TRY(make_logs(files, session_folder(id)));
  return files.sync_directory(session_folder(id));
}

/// Makes the folder of a session. The caller holds the root's lock.
Status make_session_folder(Store& store, const Manifest& manifest) {
  FileSystem& files = *store.files;
  const std::string& id = manifest.session_id;
  BMAD_TRY_ASSIGN(const bool has_folder, is_there(files, session_folder(id)));
  if (has_folder) {
    Status filled = fill_folder_in_place(store, manifest);
    if (filled || !is_not_found(filled.error())) {
      return filled;  // Else it has gone meanwhile, as by `git clean`.
    }
  }
  const std::string unfinished = unfinished_session_folder(id);
  BMAD_TRY(files.make_directory(unfinished));
  BMAD_TRY(make_logs(files, unfinished));
  BMAD_TRY(replace_file(files, unfinished + "/" + kManifestName, manifest.to_text()));
  BMAD_TRY(files.rename(unfinished, session_folder(id)));
  return files.sync_directory(kSessionsFolder);
}

Error id_taken(const Store& store, const std::string& session_id) {
  return path_error(ErrorCode::E_CONCURRENT_MOD,
                    store.files->display_path(session_folder(session_id)),
                    fmt::format("there is a session {} already; choose another id, or leave "
                                "it out to get a new one",
                                session_id));
}

/// Writes .gitignore where git took it away, together with config.json, for a branch that has no
/// memory. Who wants no .gitignore keeps config.json. The caller holds the root's lock.
Status bring_back_gitignore(FileSystem& files) {
  for (const char* name : {kConfigFile, kGitignoreFile}) {
    BMAD_TRY_ASSIGN(const bool has_file, is_there(files, name));
    if (has_file) {
      return {};
    }
  }
  return replace_file(files, kGitignoreFile, gitignore_text());
}

/// The root's lock, and what a session that is made needs.
Result<FileLock::Guard> lock_for_new(Store& store) {
  BMAD_TRY_ASSIGN(FileLock::Guard guard, store.lock_root("session new"));
  BMAD_TRY(ensure_folder(*store.files, kSessionsFolder));
  BMAD_TRY(bring_back_gitignore(*store.files));
  BMAD_TRY(remove_unfinished_sessions(store));
  return guard;
}

/// The id asked for, or a new one. The caller holds the root's lock.
Result<std::string> free_session_id(Store& store, const std::string& wanted) {
  constexpr int kTries = 8;  // 30 random bits a day: the second try is already unlikely.
  for (int i = 0; i < kTries; ++i) {
    std::string id = wanted.empty() ? store.ids.session_id() : wanted;
    BMAD_TRY_ASSIGN(const auto folder, if_there(store.files->info(session_folder(id))));
    BMAD_TRY_ASSIGN(const bool has_manifest, is_there(*store.files, manifest_path(id)));
    // A folder without a manifest is what git left, or a disk: the session is made in it.
    const bool is_free = !folder || (folder->kind == FileKind::kDirectory && !has_manifest);
    BMAD_TRY_ASSIGN(const bool has_archive, is_there(*store.files, archive_path(id)));
    if (!has_archive && (wanted.empty() ? !folder : is_free)) {
      return id;
    }
    if (!wanted.empty() && has_archive) {
      return path_error(ErrorCode::E_CONCURRENT_MOD, store.files->display_path(archive_path(id)),
                        fmt::format("session {} is archived; `bmad-mem session restore {}` "
                                    "brings it back, or choose another id",
                                    id, id));
    }
    if (!wanted.empty()) {
      break;
    }
  }
  return id_taken(store, wanted);
}

/// What the last whole line of a log says of its time; nothing without a line that does.
std::optional<Timestamp> last_time(FileSystem& files, const std::string& path) {
  constexpr std::uint64_t kTailSize = std::uint64_t{4} << 10U;
  const Result<std::unique_ptr<File>> log = files.open(path, OpenMode::kRead);
  const Result<FileInfo> info = log ? (*log)->info() : Result<FileInfo>(log.error());
  const std::uint64_t size = info ? info->size : 0;
  for (std::uint64_t wanted = kTailSize; size > 0 && wanted <= kTextLineMax; wanted *= 8) {
    std::string tail = read_range(**log, size - std::min(wanted, size), wanted).value_or("");
    tail.resize(tail.rfind('\n') + 1);  // What is torn is no line; npos + 1 is 0.
    const std::size_t end = tail.find_last_not_of("\r\n");
    const std::size_t begin = tail.rfind('\n', end);
    if (end != std::string::npos && (begin != std::string::npos || wanted >= size)) {
      thread_local JsonParser parser;  // Its buffers cost more to make than a line to parse.
      const Result<JsonValue> line =
          parser.parse(std::string_view(tail).substr(begin + 1, end - begin));  // npos + 1 is 0.
      const Timestamp time = line ? entry_version_time(*line) : Timestamp();
      return time == Timestamp() ? std::nullopt : std::optional(time);
    }
    if (wanted >= size) {
      break;
    }
  }
  return std::nullopt;
}

/// A folder of that name must be possible wherever the project is cloned.
Status check_new_session_id(const std::string& id) {
  BMAD_TRY(check_session_id(id));
  if (is_portable_session_id(id)) {
    return {};
  }
  return field_error(ErrorCode::E_INVALID_FORMAT, "session_id",
                     fmt::format("Windows can have no folder {}: it ends with '.', or names a "
                                 "device; choose another id",
                                 id));
}

/// When something last happened in the session of `manifest`, by what its files say and not by
/// their times, which git changes: of a closed one its close, else the last line of each log in
/// `files`. Reads only the ends of the logs.
Timestamp last_activity(FileSystem& files, const Manifest& manifest) {
  if (manifest.closed_at) {
    return std::max(manifest.created_at, *manifest.closed_at);
  }
  Timestamp last = manifest.created_at;
  for (const std::string& log : log_files()) {
    last = std::max(last, last_time(files, session_file(manifest.session_id, log)).value_or(last));
  }
  assert(last >= manifest.created_at);
  return last;
}

Status check_document(const ArtifactEntry& entry, std::string_view document) {
  if (document.size() > MemoryManager::kArtifactSizeMax) {
    return path_error(ErrorCode::E_SIZE_LIMIT, entry.path,
                      fmt::format("the document has {} bytes, and the maximum is {}; point "
                                  "to it with `bmad-mem add artifact` instead",
                                  document.size(), MemoryManager::kArtifactSizeMax));
  }
  if (utf8_valid_size(document) != document.size() ||
      document.find('\0') != std::string_view::npos) {
    return path_error(ErrorCode::E_INVALID_FORMAT, entry.path,
                      "is not UTF-8 text; only texts are stored");
  }
  return {};
}

/// The identity as it may be written: an export may come from a memory with other rules.
Session redacted(const Store& store, Session identity) {
  redact_identity(store, identity);
  if (store.redaction != nullptr) {
    identity.title = store.redaction->redact_text(identity.title, identity.session_id);
  }
  return identity;
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

Result<std::string> create_session(Store& store, const SessionParams& params) {
  if (!params.session_id.empty()) {
    BMAD_TRY(check_new_session_id(params.session_id));
  }
  if (store.redaction != nullptr && store.redaction->has_secret(params.session_id)) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "the session id looks like a secret; choose another one"};
  }
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, lock_for_new(store));
  BMAD_TRY_ASSIGN(std::string id, free_session_id(store, params.session_id));
  SessionParams session = params;
  session.session_id = id;
  redact_identity(store, session);
  Manifest manifest = new_manifest(std::move(session), store.clock.now());
  BMAD_TRY(change_manifest(store, {.title = params.title, .metadata_json = params.metadata_json},
                           manifest));
  BMAD_TRY(make_session_folder(store, manifest));
  return id;
}

Status make_session(Store& store, const Manifest& manifest) {
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, lock_for_new(store));
  BMAD_TRY(free_session_id(store, manifest.session_id));
  return make_session_folder(store, manifest);
}

Status check_may_encrypt(const Store& store, std::string_view session_id) {
  constexpr std::string_view kEntry = "{}";
  if (!store.encryption->is_on_for_writes()) {
    return {};
  }
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(kEntry));
  const auto encrypted = store.encryption->encrypt(session_id, EntryType::kEvent, *entry, kEntry);
  return encrypted ? Status() : Status(encrypted.error());
}

Result<UsualSession> usual_session(Store& store, const SessionParams& fresh,
                                   const std::function<Result<bool>()>& is_needed) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, store.session_ids());
  UsualSession usual;
  Timestamp newest{};
  for (const std::string& id : ids) {
    const Result<Session> session = describe_session(store, id);
    if (!session || session->closed_at) {
      continue;
    }
    ++usual.open_sessions;
    if (usual.session_id.empty() || session->last_write >= newest) {
      usual.session_id = id;
      newest = session->last_write;
    }
  }
  if (usual.session_id.empty()) {
    BMAD_TRY_ASSIGN(const bool needed, is_needed ? is_needed() : Result<bool>(true));
    if (!needed) {
      return usual;
    }
    BMAD_TRY(check_may_encrypt(store, fresh.session_id));
    BMAD_TRY_ASSIGN(usual.session_id, create_session(store, fresh));
  }
  return usual;
}

Status remove_unfinished_sessions(Store& store) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, store.files->list(kSessionsFolder));
  for (const std::string& name : names) {
    if (is_unfinished_session_name(name)) {
      const std::string folder = fmt::format("{}/{}", kSessionsFolder, name);
      BMAD_TRY_ASSIGN(const FileInfo info, store.files->info(folder));
      if (info.kind == FileKind::kDirectory) {
        BMAD_TRY(remove_tree(*store.files, folder));
      }
    }
  }
  return {};
}

Result<Session> describe_session(const Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  return describe_session(*store.files, session_id);
}

Result<Session> describe_session(FileSystem& files, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const Manifest manifest, load_manifest(files, session_id));
  assert(manifest.session_id == session_id && "load_manifest() compares them");
  BMAD_TRY_ASSIGN(const std::uint64_t footprint, session_footprint(files, session_id, log_files()));
  return Session{.session_id = session_id,
                 .created_at = manifest.created_at,
                 .last_write = last_activity(files, manifest),
                 .closed_at = manifest.closed_at,
                 .user_id = manifest.user_id,
                 .agent_ids = manifest.agent_ids,
                 .project_name = manifest.project_name,
                 .session_type = manifest.session_type,
                 .tags = manifest.tags,
                 .title = manifest.title,
                 .title_from = manifest.title.empty() ? TitleSource::kDay : TitleSource::kChosen,
                 .metadata_json = manifest.free_metadata(),
                 .size_bytes = footprint,
                 .manifest = manifest.text};
}

Result<Session> titled_session(const Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(Session session, describe_session(store, session_id));
  add_title(store, *store.files, session);
  return session;
}

const char* session_state_name(SessionState state) {
  static constexpr std::array<const char*, 4> kNames = {"active", "idle", "archived", "deleted"};
  assert(static_cast<std::size_t>(state) < kNames.size());
  return kNames[static_cast<std::size_t>(state)];
}

SessionState state_of(const Store& store, const Session& session) {
  const std::chrono::hours idle_after(store.config.lifecycle.idle_after_hours);
  const bool is_idle = session.closed_at || session.last_write + idle_after <= store.clock.now();
  return is_idle ? SessionState::kIdle : SessionState::kActive;
}

// Documents that are kept beside the logs.
//
// The document is durable before the entry that points to it. A crash between the two leaves a file
// that nothing points to: it goes with the session.

Result<std::string> add_artifact_document(Store& store, const std::string& session_id,
                                          ArtifactEntry entry, std::string_view document) {
  BMAD_TRY(check_document(entry, document));
  BMAD_TRY(check_session_id(session_id));
  BMAD_TRY(check_write(store, EntryType::kArtifact));
  const std::string text = store.redaction == nullptr
                               ? std::string(document)
                               : store.redaction->redact_text(document, session_id);
  std::string& id = entry.common.id;
  if (id.empty()) {
    id = store.ids.entry_id(entry_type_info(EntryType::kArtifact).id_prefix);
  } else if (!is_entry_id(id)) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "id",
                       "is not an id: use 1 to 128 letters, digits and _.:@+=~-");
  }
  if (is_archived(store, session_id)) {
    assert(store.above.restore != nullptr);
    BMAD_TRY(store.above.restore(store, session_id));
  }
  BMAD_TRY(check_session(store, session_id));
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "add artifact"));
    BMAD_TRY(ensure_folder(*store.files, session_file(session_id, kArtifactsName)));
    const std::string whole = document_line(id, text, entry.common.sensitive);
    BMAD_TRY_ASSIGN(const ParsedJson object, parse_json(whole));
    BMAD_TRY_ASSIGN(const std::optional<std::string> encrypted,
                    store.encryption->encrypt(session_id, EntryType::kArtifact, *object, whole));
    BMAD_TRY(replace_file(*store.files, artifact_path(session_id, id),
                          encrypted ? *encrypted + '\n' : text));
  }
  const std::string line = to_json(entry);
  const std::string_view view = line;
  BMAD_TRY_ASSIGN(const BatchReport report,
                  add_lines(store, session_id, EntryType::kArtifact, {&view, 1}, {}));
  assert(report.ids.size() == 1 && "an entry that is appended has its id");
  return report.ids.front();
}

// A session that comes from an export: who it was, and when.

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
    BMAD_TRY(create_session(store, {.session_id = identity.session_id}));
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
