// layout.hpp - the names of everything on disk, where the memory root is, which version it
// has, and whether a session is in its place.
//
//   {project}/.bmad/memory/                       the root; every path below is relative to it
//   ├── config.json  layout.json  sealing.json  .gitignore  catalog.json  maintenance.json
//   ├── sessions/{session-id}/
//   │   ├── manifest.json  index.json  summary.md  artifacts/{entry-id}.md
//   │   ├── conversation.jsonl  decisions.jsonl  …    one log a type; the model names them
//   │   ├── access.jsonl  audit.jsonl  quarantine.jsonl
//   │   └── .lock  .lock.json
//   ├── shared/   user-preferences.json  agent-knowledge.json  kept/{session-id}.jsonl
//   ├── archive/  {session-id}.tar.gz  .manifest.json  .evicted.jsonl.gz  .evicted.2.jsonl.gz …
//   │             .index.json  .known.jsonl
//   ├── index/    CURRENT  {number}.seg  .lock  .lock.json
//   ├── hub/      state.json  policy.toml  sessions/{session-id}.json  .lock  .lock.json
//   └── deleted/{session-id}/  deletion-record.json  entries.jsonl  audit.jsonl  {deletion-id}/
//
// No other file spells these names. They are what FileSystem takes: '/' between names, no '/' in
// front.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

// const char*, so that they turn into the std::string that FileSystem takes.
inline constexpr const char* kRootFolder = ".bmad/memory";  ///< Relative to the project.

inline constexpr const char* kConfigFile = "config.json";
inline constexpr const char* kLayoutFile = "layout.json";  ///< See kLayoutVersion.
/// Which entries are encrypted, and with which key; there while any are. See
/// bmad_mem/encryption.hpp.
inline constexpr const char* kEncryptionFile = "sealing.json";
inline constexpr const char* kGitignoreFile = ".gitignore";
/// What the hashes in placeholders are made with; there when placeholders are linkable.
inline constexpr const char* kRedactionKeyFile = ".redaction-key";
inline constexpr const char* kMaintenanceFile = "maintenance.json";  ///< What ran when, and is due.
inline constexpr const char* kMaintenanceLockName = ".lock.maintain";  ///< Who maintains.
inline constexpr const char* kMaintenanceLockInfoName = ".lock.maintain.json";
/// What is known of a program or a server that encodes; see encoder/external/external_encoder.hpp.
inline constexpr const char* kEncoderStateName = ".lock.encoder.json";
/// When candidates were last mentioned to the person.
inline constexpr const char* kWaitingStateName = ".lock.waiting.json";
inline constexpr const char* kSessionsFolder = "sessions";
inline constexpr const char* kSharedFolder = "shared";
inline constexpr const char* kUserPreferencesFile = "shared/user-preferences.json";
inline constexpr const char* kAgentKnowledgeFile = "shared/agent-knowledge.json";
inline constexpr const char* kRetainedFolder = "shared/kept";
inline constexpr const char* kArchiveFolder = "archive";
inline constexpr const char* kDeletedFolder = "deleted";
inline constexpr const char* kIndexFolder = "index";  ///< Of the whole memory; derived.
inline constexpr const char* kIndexCurrentFile = "index/CURRENT";
/// Ignores its own folder: roots of older versions have no rule for it.
inline constexpr const char* kIndexIgnoreFile = "index/.gitignore";
/// What a mirror of a hub knows of it; local, and ignores itself as index/ does.
inline constexpr const char* kHubFolder = "hub";
inline constexpr const char* kHubStateFile = "hub/state.json";
inline constexpr const char* kHubPolicyFile = "hub/policy.toml";  ///< The rules of the hub.
inline constexpr const char* kHubIgnoreFile = "hub/.gitignore";
inline constexpr const char* kHubSessionsFolder = "hub/sessions";
inline constexpr const char* kHubLockName = "hub/.lock";  ///< Who synchronizes.
inline constexpr const char* kHubLockInfoName = "hub/.lock.json";
/// Which packed files can't be read.
inline constexpr const char* kRefusedFile = "archive/.lock.refused.jsonl";
/// What is derived in kArchiveFolder, for .gitignore.
inline constexpr const char* kArchiveIndexes = "/archive/*.index.json";
inline constexpr const char* kArchiveKnown = "/archive/*.known.jsonl";

// Names inside a session's folder, for session_file().
inline constexpr const char* kManifestName = "manifest.json";
inline constexpr const char* kIndexName = "index.json";
inline constexpr const char* kSummaryName = "summary.md";
inline constexpr const char* kAccessName = "access.jsonl";
inline constexpr const char* kEventsName = "events.jsonl";  ///< A log that git may ignore.
inline constexpr const char* kAuditName = "audit.jsonl";
inline constexpr const char* kQuarantineName = "quarantine.jsonl";
inline constexpr const char* kLockName = ".lock";
inline constexpr const char* kLockInfoName = ".lock.json";
inline constexpr const char* kIndexLockInfoName = ".lock.index.json";   ///< Of version 0.1.
inline constexpr const char* kSummaryStateName = ".lock.summary.json";  ///< Who writes a summary.
inline constexpr const char* kSummaryLogName = ".lock.summary-log.jsonl";
inline constexpr const char* kLearningStateName = ".lock.learning.json";  ///< How far was looked.
inline constexpr const char* kCompactedName = ".lock.compacted";  ///< The size that was left.
inline constexpr const char* kToldName = ".lock.told";  ///< What an agent was told in the session.
inline constexpr const char* kLineHashesName =
    ".lock.seal.json";  ///< What the logs held; see line_hashes.hpp.
inline constexpr const char* kArtifactsName = "artifacts";

// The functions below take ids that passed check_session_id() (and is_entry_id()), and file names
// of our own: they assert it. Text from outside is checked where it comes in.

/// "{folder}/{session_id}{suffix}".
std::string in_folder(const char* folder, std::string_view session_id, std::string_view suffix);

/// "sessions/{session_id}".
inline std::string session_folder(std::string_view id) {
  return in_folder(kSessionsFolder, id, "");
}
/// "sessions/{session_id}/{name}": a log, or one of the names above.
std::string session_file(std::string_view session_id, std::string_view name);
/// Of its log of `type`.
std::string log_path(std::string_view session_id, EntryType type);

inline std::string manifest_path(std::string_view id) { return session_file(id, kManifestName); }
inline std::string index_path(std::string_view id) { return session_file(id, kIndexName); }
inline std::string lock_path(std::string_view id) { return session_file(id, kLockName); }
inline std::string line_hashes_path(std::string_view id) {
  return session_file(id, kLineHashesName);
}
inline std::string lock_info_path(std::string_view id) { return session_file(id, kLockInfoName); }
inline std::string quarantine_path(std::string_view id) {
  return session_file(id, kQuarantineName);
}
inline std::string audit_path(std::string_view id) { return session_file(id, kAuditName); }
inline std::string access_path(std::string_view id) { return session_file(id, kAccessName); }

/// "sessions/{session_id}/artifacts/{entry_id}.md".
std::string artifact_path(std::string_view session_id, std::string_view entry_id);
/// "shared/kept/{session_id}.jsonl": what outlives an archived session.
inline std::string retained_path(std::string_view id) {
  return in_folder(kRetainedFolder, id, ".jsonl");
}
/// "hub/sessions/{session_id}.json": which of its lines a hub has.
inline std::string hub_session_path(std::string_view id) {
  return in_folder(kHubSessionsFolder, id, ".json");
}
/// "archive/{session_id}.tar.gz".
inline std::string archive_path(std::string_view id) {
  return in_folder(kArchiveFolder, id, ".tar.gz");
}
/// What git ignores of an archived session, where git may track the archive itself.
std::string archive_local_path(std::string_view session_id);
/// "archive/{session_id}.manifest.json".
inline std::string archive_manifest_path(std::string_view id) {
  return in_folder(kArchiveFolder, id, ".manifest.json");
}
/// "archive/{session_id}.evicted.jsonl.gz": what compaction moved out; then
/// "archive/{session_id}.evicted.2.jsonl.gz" and so on.
std::string evicted_path(std::string_view session_id, std::uint32_t part = 1);
/// "archive/{session_id}.index.json": what is in the archive, for people.
inline std::string archive_index_path(std::string_view id) {
  return in_folder(kArchiveFolder, id, ".index.json");
}
/// "archive/{session_id}.known.jsonl": its preferences and facts, unpacked.
inline std::string archive_known_path(std::string_view id) {
  return in_folder(kArchiveFolder, id, ".known.jsonl");
}
/// "archive/{session_id}.evicted.jsonl.index.json": an index of version 0.1.
inline std::string evicted_index_path(std::string_view id) {
  return in_folder(kArchiveFolder, id, ".evicted.jsonl.index.json");
}
/// "deleted/{session_id}": the folder of what can still be brought back.
inline std::string deleted_folder(std::string_view id) { return in_folder(kDeletedFolder, id, ""); }
/// "deleted/{session_id}/deletion-record.json".
inline std::string deletion_record_path(std::string_view id) {
  return deleted_folder(id) + "/deletion-record.json";
}
/// "deleted/{session_id}/entries.jsonl": the lines that were deleted.
inline std::string deleted_entries_path(std::string_view id) {
  return deleted_folder(id) + "/entries.jsonl";
}
/// "deleted/{session_id}/audit.jsonl": what was done to a session that is gone.
std::string deleted_audit_path(std::string_view session_id);
/// "deleted/{session_id}/{deletion_id}": a session that was deleted as a whole.
std::string deleted_session_folder(std::string_view session_id, std::string_view deletion_id);

/// The memory root to work on: `explicit_root` (--root) if given, else `env_value`
/// ($BMAD_MEMORY_ROOT) if given, else the nearest folder .bmad/memory in `working_directory` (an
/// absolute path) or above it. A worktree of git has that of the main worktree instead, unless
/// memory_config.worktrees there is "own", as the user trusts it by `state_folder`. A relative
/// `explicit_root` or `env_value` starts at the working directory. Whether a root that was named
/// exists is not looked at: opening it tells. Cost: one stat a folder on the way up; links are
/// followed, nothing is resolved. Errors: E_SESSION_NOT_FOUND when there is none; E_STORAGE_IO when
/// a folder may not be searched.
Result<std::string> find_root(std::string_view explicit_root, std::string_view env_value,
                              const std::string& working_directory,
                              const std::string& state_folder = {});

/// The root in the checkout of the worktree at `working_directory`, where `root`, the main one's,
/// is in its place; else empty.
std::string checkout_root(const std::string& root, const std::string& working_directory,
                          const std::string& state_folder = {});

/// Why a worktree at `working_directory` has no memory of a main one, as a sentence; else empty.
std::string worktree_problem(const std::string& working_directory);

/// The root that `init` makes: as find_root(), but without a name it is .bmad/memory right in the
/// working directory, and nothing is looked for.
std::string root_to_create(std::string_view explicit_root, std::string_view env_value,
                           const std::string& working_directory);

/// What init writes into .gitignore: that which is derived, local or deleted.
std::string_view gitignore_text();

// Which version of the format a root has, and what an older program may do.
//
//   layout.json   {"layout_version": 2}      tracked; a root without it has version 1
//
// Version 2 has encrypted lines, which version 1 takes for damage.
//
// Who changes the format on disk so that an older program would read it wrongly, or damage it,
// raises kLayoutVersion and writes the file. A program that finds a higher number than its own
// reads what it can and writes nothing, not even a lock.

inline constexpr int kLayoutVersion = 2;

/// Why nothing may be written into the root: E_NEWER_VERSION when a newer program made it, or when
/// its version can't be read. Nothing when this program knows it. Errors: as the file system's.
Result<std::optional<Error>> newer_layout(FileSystem& files);

/// `files`, of which every call that changes something fails with `why`.
std::unique_ptr<FileSystem> read_only_files(std::unique_ptr<FileSystem> files, Error why);

// The folder of a session on its way in or out.
//
//   sessions/.{id}.tmp/   being filled or emptied      no session: the name is no session id
//   sessions/{id}/        whole                        comes and goes by one rename
//
// A crash can leave the first behind; whoever holds the root's lock removes it.

/// "sessions/.{session_id}.tmp".
std::string unfinished_session_folder(std::string_view session_id);

/// Whether `name`, from the list of sessions/, is that of a folder being filled or emptied.
bool is_unfinished_session_name(std::string_view name);

// Whether the folder of a session holds one.
//
//   manifest.json …                         a session
//   conversation.jsonl …, no manifest       a damaged session: `repair` mends it
//   .lock  index.json  access.jsonl  *.tmp  remains: no session, and nobody is told of them
//   the same and events.jsonl               remains, too; they stay, since no other file has events
//
// git leaves remains when it takes a session away (checkout, stash, clean): it removes what it
// tracks and keeps what it ignores.

/// Whether `name` in a session's folder is one that git ignores, or that an editor left: worth
/// nothing without the rest.
bool is_local_name(std::string_view name);

/// "4913" and ".facts.jsonl.swp" of vim, "#facts.jsonl#" and "facts.jsonl~" of others, and what
/// file managers leave.
bool is_editor_leftover(std::string_view name);

/// Whether session `session_id` has a folder that holds nothing but local files and events. False
/// without one.
/// Cost: one look at the manifest when that is there.
Result<bool> is_remains(FileSystem& files, std::string_view session_id);

/// Whether something is in the session's place that is more than remains.
Result<bool> is_session_there(FileSystem& files, std::string_view session_id);

/// E_SESSION_NOT_FOUND.
Error no_session(std::string_view session_id, std::string path);

}  // namespace bmad_mem
