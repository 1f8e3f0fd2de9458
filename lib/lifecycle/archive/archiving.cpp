// archiving.cpp - a session counted into its manifest and closed, into its archive and back.
//
//   archive   lock root, session -> archive/{id}.tar.gz, read back -> its manifest -> rename the
//             folder away -> remove it -> what version 0.1 kept -> the index beside the archive
//   restore   lock root -> read the archive -> unpack into a hidden folder -> rename -> remove
//             archive, manifest, index and kept file
//
// At every moment the session is whole in its folder or in its archive. Both may be there after a
// crash, or when git brings a folder back: then the folder counts, and before the archive goes or
// is replaced, the folder takes in what only the archive holds.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "knowledge/knowledge_store.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "search/archive_reader.hpp"
#include "search/cached_indexes.hpp"
#include "search/indexing.hpp"
#include "search/reads.hpp"
#include "search/session_sources.hpp"
#include "store/atomic_file.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"
#include "store/return_lines.hpp"
#include "store/session_archive.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kMendArchive =
    "; bring the file back from git or from a backup, or move it away";

/// How many entries can be found in the archive as in the session.
Result<std::uint64_t> count_entries(FileSystem& files, const std::string& session_id) {
  std::uint64_t closed = 0;
  BMAD_TRY_ASSIGN(
      const std::vector<TableEntry> entries,
      load_entries(files, session_id, {}, Versions::kLatest, {}, /*encryption=*/nullptr, &closed));
  return entries.size() + closed;
}

ArchiveReport report_of(const FileSystem& files, const std::string& session_id,
                        const ArchiveSize& size, std::uint64_t kept) {
  return {.session_id = session_id,
          .path = files.display_path(archive_path(session_id)),
          .files = size.files,
          .original_bytes = size.original_bytes,
          .compressed_bytes = size.compressed_bytes,
          .kept = kept};
}

/// Renames the session's folder to a name that is no session's, and removes it. A writer that waits
/// for its lock finds out that it has gone.
Status take_folder_away(
    FileSystem& files, const std::string& session_id,
    const std::function<void()>& on_failure = [] {}) {
  const Result<std::string> aside =
      put_aside(files, session_folder(session_id), unfinished_session_folder(session_id));
  if (!aside) {
    on_failure();
    return aside.error();
  }
  return remove_tree(files, *aside);
}

/// Puts into the folder what only the archive beside it holds. A version of an entry of which the
/// folder has another one stays away. The caller holds the root's lock and the session's, `guard`.
/// Errors: E_STORAGE_CORRUPT when the archive can't be read; as the file system's.
Status take_in_archive(Store& store, const std::string& session_id, const FileLock::Guard& guard) {
  FileSystem& files = *store.files;
  Result<std::vector<ArchivedFile>> members =
      read_session_archive(files, session_id, ArchiveLimits{});
  if (!members) {
    members.error().message += kMendArchive;
    return std::move(members).error();
  }
  BMAD_TRY_ASSIGN(const std::vector<ReturningLine> lines,
                  archived_lines(store, session_id, *members));
  BMAD_TRY(bring_back_lines(store, session_id, guard, lines, {}));
  for (const ArchivedFile& member : *members) {
    assert(is_session_file(member.name) && "others are refused when the archive is read");
    const std::string path = fmt::format("{}/{}", session_folder(session_id), member.name);
    BMAD_TRY_ASSIGN(const bool is_known, is_there(files, path));
    if (!is_known) {
      BMAD_TRY(ensure_folder(files, parent_folder(path)));
      BMAD_TRY(replace_file(files, path, member.bytes));
    }
  }
  return {};
}

/// When the newest entry in a session's folder was written; nothing without entries.
Result<std::optional<Timestamp>> newest_in_folder(FileSystem& files,
                                                  const std::string& session_id) {
  std::vector<ArchivedFile> logs;
  for (const std::string& log_file : log_files()) {
    BMAD_TRY_ASSIGN(std::string bytes, read_if_there(files, session_file(session_id, log_file),
                                                     ArchiveLimits().bytes));
    logs.push_back({.name = log_file, .bytes = std::move(bytes)});
  }
  return size_of_archive(logs, 0).newest;
}

/// What version 0.1 archived has no title: its archive says it.
DerivedTitle title_of_archive(const Store& store, const ArchiveManifest& manifest) {
  if (manifest.title) {
    return *manifest.title;
  }
  const Result<std::vector<ArchivedFile>> members =
      read_session_archive(*store.files, manifest.session_id, question_limits(store));
  return members ? size_of_archive(*members, 0).title : DerivedTitle();
}

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

/// Adds the tags of all lines of a session, encrypted ones as they stand.
Status add_session_tags(const Store& store, const SessionSource& source,
                        const ProvenanceLog& provenance, std::vector<std::uint64_t>& tags) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, source.files(store));
  return scan_logs(*files, session_folder(source.session_id),
                   {.on_entry = [&](const ScannedEntry& entry) {
                     provenance.add_tags(source.session_id, entry.type, entry.text, tags);
                   }});
}

/// The tags of all lines that there are, in order; nothing when that is not known of each.
std::optional<std::vector<std::uint64_t>> live_tags(const Store& store,
                                                    const ProvenanceLog& provenance) {
  Result<std::vector<SessionSource>> sources = evicted_sources(store, {});
  const Result<std::vector<SessionSource>> sessions = session_sources(store, {});
  if (!sources || !sessions ||
      store.encryption->is_on()) {  // What encrypted lines say is not read.
    return std::nullopt;
  }
  std::ranges::copy(*sessions, std::back_inserter(*sources));
  std::vector<std::uint64_t> tags;
  for (const SessionSource& source : *sources) {
    if (!add_session_tags(store, source, provenance, tags)) {
      return std::nullopt;
    }
  }
  std::ranges::sort(tags);
  return tags;
}

}  // namespace

Result<bool> clear_remains(Store& store, const std::string& session_id) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const bool before, is_remains(files, session_id));
  if (!before) {
    return false;
  }
  if (files.remove_directory(session_folder(session_id))) {
    return true;  // There was nothing in it.
  }
  // A process that waits for this lock finds that its folder has gone.
  const Result<FileLock::Guard> guard = store.lock_session(session_id, "tidy");
  if (!guard) {
    return guard.error().code == ErrorCode::E_SESSION_NOT_FOUND ? Result<bool>(false)
                                                                : guard.error();
  }
  BMAD_TRY_ASSIGN(const bool still, is_remains(files, session_id));
  BMAD_TRY(still ? take_folder_away(files, session_id) : Status());
  return still;
}

Status remove_archive(FileSystem& files, const std::string& session_id) {
  BMAD_TRY(remove_retained(files, session_id));
  BMAD_TRY(remove_durably(files, archive_index_path(session_id)));
  BMAD_TRY(remove_durably(files, archive_known_path(session_id)));
  BMAD_TRY(remove_durably(files, archive_manifest_path(session_id)));
  BMAD_TRY(remove_durably(files, archive_local_path(session_id)));
  return remove_durably(files, archive_path(session_id));
}

Status check_undamaged(const Store& store, const std::string& session_id, std::string& notice) {
  const LineHashCheck check = check_line_hashes(store, session_id);
  notice = line_hash_notice(check);
  if (check.damage.empty()) {
    return {};
  }
  return path_error(
      ErrorCode::E_STORAGE_CORRUPT, check.damage.front().path,
      fmt::format("session {} is not archived, which would hide its damage: {}; restore the file "
                  "from git or a backup, or keep it with `bmad-mem repair --accept`",
                  session_id, notice));
}

Result<ArchiveReport> archive_session(Store& store, const std::string& session_id,
                                      const ArchiveOptions& options) {
  BMAD_TRY(check_session(store, session_id));
  FileSystem& files = *store.files;
  if (options.dry_run) {
    BMAD_TRY_ASSIGN(const std::uint64_t found, count_entries(files, session_id));
    BMAD_TRY_ASSIGN(const ArchiveSize size, measure_session_archive(files, session_id));
    return report_of(files, session_id, size, found);
  }
  static_cast<void>(
      look_for_hand_edits(store, HandLook::kChanged));  // New line hashes would hide them.
  std::string notice;
  BMAD_TRY(check_undamaged(store, session_id, notice));
  BMAD_TRY_ASSIGN(const FileLock::Guard root_guard, store.lock_root("archive"));
  ArchiveReport report;
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "archive"));
    BMAD_TRY_ASSIGN(const Manifest manifest, load_manifest(files, session_id));
    assert(manifest.session_id == session_id);
    BMAD_TRY(is_archived(store, session_id) ? take_in_archive(store, session_id, guard) : Status());
    BMAD_TRY_ASSIGN(const std::uint64_t found, count_entries(files, session_id));
    const LocalAudit audit(/*is_on=*/true);  // When it was packed is nothing of the archive's.
    BMAD_TRY(append_audit(store, {.session_id = session_id, .action = "archive", .count = 1}));
    BMAD_TRY_ASSIGN(const ArchiveSize size,
                    write_session_archive(files, session_id, {}, store.tracked.any()));
    BMAD_TRY(write_archive_manifest(files, manifest.text, size));
    BMAD_TRY(take_folder_away(files, session_id, [&] {
      if (is_session_there(files, session_id).value_or(false)) {  // As it was: the folder counts.
        static_cast<void>(remove_archive(files, session_id));
      }
    }));
    BMAD_TRY(remove_retained(files, session_id));
    report = report_of(files, session_id, size, found);
  }
  store.forget_session(session_id);
  index_archive(store, session_id);
  report.notice = std::move(notice);
  return report;
}

Result<Session> restore_session(Store& store, const std::string& session_id) {
  BMAD_TRY(check_session_id(session_id));
  FileSystem& files = *store.files;
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("restore"));
    BMAD_TRY_ASSIGN(const bool is_live, is_session_there(files, session_id));
    // git may have taken away all of a folder but its events: they join what is in the archive.
    BMAD_TRY_ASSIGN(const bool has_events, is_there(files, session_file(session_id, kEventsName)));
    if (!is_live && !has_events) {
      Result<std::vector<ArchivedFile>> members =
          read_session_archive(files, session_id, ArchiveLimits{});
      if (!members) {
        const bool is_damaged = members.error().code == ErrorCode::E_STORAGE_CORRUPT;
        members.error().message += is_damaged ? kMendArchive : "";
        return std::move(members).error();
      }
      BMAD_TRY(remove_unfinished_sessions(store));
      BMAD_TRY(clear_remains(store, session_id));
      BMAD_TRY(unpack_session_archive(files, session_id, *members));
      BMAD_TRY(append_audit(store, {.session_id = session_id, .action = "restore", .count = 1}));
    } else if (!is_archived(store, session_id)) {
      return path_error(ErrorCode::E_CONCURRENT_MOD, files.display_path(session_folder(session_id)),
                        fmt::format("session {} is not archived; it is there", session_id));
    } else {
      BMAD_TRY_ASSIGN(const FileLock::Guard session_guard,
                      store.lock_session(session_id, "restore"));
      BMAD_TRY(take_in_archive(store, session_id, session_guard));
    }
    BMAD_TRY(remove_archive(files, session_id));
  }
  store.forget_session(session_id);
  return titled_session(store, session_id);
}

Result<bool> settle_session(Store& store, const std::string& session_id) {
  BMAD_TRY(check_session_id(session_id));
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const std::vector<ArchivedFile> members,
                  read_session_archive(files, session_id, ArchiveLimits{}));
  BMAD_TRY_ASSIGN(const std::optional<Timestamp> in_folder, newest_in_folder(files, session_id));
  const bool is_archive_later = size_of_archive(members, 0).newest > in_folder;
  BMAD_TRY_ASSIGN(const bool has_folder, is_there(files, session_folder(session_id)));
  BMAD_TRY_ASSIGN(const bool has_manifest, is_there(files, manifest_path(session_id)));
  const auto manifest = std::ranges::find(members, kManifestName, &ArchivedFile::name);
  if (has_folder && !has_manifest && manifest != members.end()) {  // The other side had removed it.
    BMAD_TRY(replace_file(files, manifest_path(session_id), manifest->bytes));
  }
  BMAD_TRY(restore_session(store, session_id));
  return is_archive_later && archive_session(store, session_id).has_value();
}

Result<std::vector<ArchivedSession>> list_archived(const Store& store) {
  const Result<std::vector<std::string>> ids = archived_session_ids(*store.files);
  std::vector<ArchivedSession> sessions;
  if (!ids) {
    if (ids.error().code != ErrorCode::E_STORAGE_CORRUPT) {
      return ids.error();
    }
    // What is in the folder's place hides all archives, and no session.
    store.note_problem(kArchiveFolder, store.files->info(kArchiveFolder).value_or(FileInfo{}),
                       ids.error());
    return sessions;
  }
  for (const std::string& id : *ids) {
    ArchivedSession session{.session_id = id};
    const Result<ArchiveManifest> manifest = read_archive_manifest(*store.files, id);
    if (manifest) {
      session.created_at = manifest->created_at;
      session.archived_at = manifest->archived_at;
      session.original_bytes = manifest->original_size_bytes;
      session.compressed_bytes = manifest->compressed_size_bytes;
      session.manifest = manifest->text;
      if (const Result<Manifest> whose = parse_manifest(manifest->text, id)) {
        add_title(store, *whose, title_of_archive(store, *manifest), session);
      }
    }
    sessions.push_back(std::move(session));
  }
  return sessions;
}
Result<Session> close_session(Store& store, const std::string& session_id) {
  BMAD_TRY(check_session(store, session_id));
  const std::shared_ptr<OpenSession> session = store.session(session_id);
  static_cast<void>(
      look_for_hand_edits(store, HandLook::kChanged));  // New line hashes would hide them.
  std::string notice =
      line_hash_notice(check_line_hashes(store, session_id));  // May run git: before the lock.
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("close"));
    BMAD_TRY_ASSIGN(Manifest manifest, load_manifest(*store.files, session_id));
    assert(manifest.session_id == session_id && "the manifest of another session is refused");
    manifest.updated_at = store.clock.now();
    manifest.closed_at = store.clock.now();
    BMAD_TRY(count_into(store, manifest));
    BMAD_TRY(save_manifest(*store.files, manifest));
    session->manifest_known = false;
    static_cast<void>(hash_session(store, session_id, false));
    static_cast<void>(write_readable_index(store, *session_index(store, session_id)));
  }
  maintain_index(store, kEncodeAtTheEnd, FlushWhen::kAny);
  write_missing_views(store);
  BMAD_TRY_ASSIGN(Session closed, titled_session(store, session_id));
  closed.notice = std::move(notice);
  return closed;
}

// The provenance log of who wrote the lines stays about as long as there are lines.

void compact_provenance(const Store& store, bool may_read_all) {
  const ProvenanceLog* const provenance = store.origins->provenance();
  if (provenance == nullptr) {
    return;
  }
  const std::int64_t today =
      std::chrono::floor<std::chrono::days>(store.clock.now()).time_since_epoch().count();
  if (!provenance->is_due(may_read_all ? std::optional(today) : std::nullopt)) {
    return;
  }
  const std::optional<std::vector<std::uint64_t>> live =
      may_read_all ? live_tags(store, *provenance) : std::nullopt;
  provenance->compact(live ? &*live : nullptr, today);
}

}  // namespace bmad_mem
