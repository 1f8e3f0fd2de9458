// repair.cpp - mends what can be mended and sets aside the rest. Nothing is dropped.
//
// Per session, under its lock: remove temporary files of interrupted rewrites; mend torn ends; copy
// damaged lines to the quarantine (durable) and only then put a log without them in place; make a
// new manifest from the entries when there is none that can be read. Each step is complete in
// itself: killed in between, the next run goes on.
#include "lifecycle/repair.hpp"

#include <algorithm>
#include <cassert>
#include <set>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "lifecycle/deletion.hpp"
#include "model/entry.hpp"
#include "search/archive_reader.hpp"
#include "search/root_index.hpp"
#include "store/append_log.hpp"
#include "store/atomic_file.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/return_lines.hpp"
#include "store/session_archive.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kTemporarySuffix = ".tmp";

/// Whether the line is an entry but for a byte order mark that an editor put in front of the file.
bool is_entry_behind_mark(File& log, EntryType type, const DamagedLine& line) {
  if (line.offset != 0 || line.size < kByteOrderMark.size() || line.size > kLineSizeMax) {
    return false;
  }
  std::string text(static_cast<std::size_t>(line.size), '\0');
  const Result<std::size_t> got = log.read_at(0, text);
  if (!got || *got != text.size() || !text.starts_with(kByteOrderMark)) {
    return false;
  }
  const ParsedJson value(std::string_view(text).substr(kByteOrderMark.size()));
  return value && !check_entry(type, *value);
}

/// Adds what was done to `path`.
void add_action(RepairReport& report, const FileSystem& files, const std::string& session_id,
                const std::string& path, std::string what, std::uint64_t count = 1) {
  report.actions.push_back({.session_id = session_id,
                            .path = files.display_path(path),
                            .what = std::move(what),
                            .count = count});
}

/// Removes what interrupted rewrites left in `folder`, if there is one. A folder or a link of such
/// a name is not ours.
Status remove_temporaries(FileSystem& files, const std::string& folder,
                          const std::string& session_id, RepairReport& report) {
  const Result<FileInfo> info = files.info(folder);
  if (!info || info->kind != FileKind::kDirectory) {
    return info || is_not_found(info.error()) ? Status() : Status(info.error());
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, files.list(folder));
  for (const std::string& name : names) {
    const std::string path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
    if (!name.ends_with(kTemporarySuffix)) {
      continue;
    }
    BMAD_TRY_ASSIGN(const FileInfo file, files.info(path));
    if (file.kind == FileKind::kRegular) {
      BMAD_TRY(files.remove(path));
      add_action(report, files, session_id, path, "removed what an interrupted rewrite left");
    }
  }
  return {};
}

using IsElsewhere = std::function<bool(const std::string& session_id)>;

class SessionRepair {
 public:
  SessionRepair(Store& store, std::string session_id, RepairReport& report,
                const IsElsewhere& is_elsewhere)
      : store_(store),
        session_id_(std::move(session_id)),
        report_(report),
        is_elsewhere_(is_elsewhere) {}

  Status run() {
    BMAD_TRY_ASSIGN(const FileInfo folder, store_.files->info(session_folder(session_id_)));
    if (folder.kind != FileKind::kDirectory) {
      return {};  // Left for a person; verify_store() names it afterwards.
    }
    const std::shared_ptr<OpenSession> session = store_.session(session_id_);
    const Result<FileLock::Guard> locked = session->writer.lock("repair");
    if (!locked && locked.error().code == ErrorCode::E_NEWER_VERSION) {
      return {};  // What is damage to this program may be none to the one that wrote it.
    }
    if (!locked) {
      return locked.error();
    }
    const FileLock::Guard& guard = *locked;
    for (const std::string& place :
         {session_folder(session_id_), session_file(session_id_, kArtifactsName)}) {
      BMAD_TRY(remove_temporaries(*store_.files, place, session_id_, report_));
    }
    for (const EntryType type : kEntryTypes) {
      BMAD_TRY(repair_log(session->writer, guard, type));
    }
    BMAD_TRY(add_from_copies(guard));
    session->manifest_known = false;
    return repair_manifest();
  }

 private:
  void did(const std::string& path, std::string what, std::uint64_t count = 1) {
    add_action(report_, *store_.files, session_id_, path, std::move(what), count);
  }

  Status repair_log(SessionWriter& writer, const FileLock::Guard& guard, EntryType type) {
    const std::string log_file(entry_type_info(type).log_file);
    const std::string path = session_file(session_id_, log_file);
    const Result<FileInfo> before = store_.files->info(path);
    if (!before) {
      return is_not_found(before.error()) ? Status() : Status(before.error());
    }
    if (before->kind != FileKind::kRegular || before->size == 0) {
      return {};  // Nothing in it, or left for a person; verify_store() names it afterwards.
    }
    BMAD_TRY_ASSIGN(const std::uint64_t size, writer.mend(guard, log_file));
    if (size != before->size) {
      did(path,
          size > before->size ? "ended the last line" : "set aside an unfinished line at the end",
          1);
    }
    std::vector<DamagedLine> damaged;
    JsonParser parser;
    BMAD_TRY(scan_log(*store_.files, path, type, parser,
                      {.on_entry = [](const ScannedEntry&) {},
                       .on_damage = [&](const DamagedLine& line) { damaged.push_back(line); }}));
    return damaged.empty() ? Status() : set_aside(path, log_file, type, damaged);
  }

  /// Lines that only a copy of a log has, as a cloud drive makes one when two machines wrote, come
  /// into the log; a copy of which it has all goes.
  Status add_from_copies(const FileLock::Guard& guard) {
    FileSystem& files = *store_.files;
    const std::string folder = session_folder(session_id_);
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, files.list(folder));
    for (const std::string& name : names) {
      const std::optional<EntryType> type = log_of_copy(name);
      const std::string path = fmt::format("{}/{}", folder, name);
      const auto text = type ? read_file(files, path, kLogSizeMax) : Result<std::string>("");
      if (!type || !text) {
        continue;  // Left for a person; verify_store() reports it.
      }
      BMAD_TRY_ASSIGN(const std::uint64_t left, add_from_copy(guard, *type, *text));
      if (left == 0) {
        BMAD_TRY(remove_durably(files, path));
      }
      did(path, left == 0 ? "added the missing lines, and removed it"
                          : fmt::format("added the missing lines, except those of entries that "
                                        "have other versions or were deleted: {}",
                                        left));
    }
    return {};
  }

  /// Returns how many lines the log has not now.
  Result<std::uint64_t> add_from_copy(const FileLock::Guard& guard, EntryType type,
                                      std::string_view text) {
    BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store_, session_id_));
    std::vector<ReturningLine> lines;
    std::uint64_t left = 0;
    JsonParser parser;
    for_each_text_line(text, [&](std::string_view line) {
      const Result<JsonValue> value = parser.parse(line);
      const bool is_entry = value && (!check_entry(type, *value) || is_encrypted(*value));
      if (is_entry && !gone.hold(entry_id(*value))) {
        lines.push_back({.type = type, .line = line});
      } else {
        left += is_blank(line) ? 0 : 1;
      }
    });
    BMAD_TRY_ASSIGN(const ReturnOutcome outcome,
                    bring_back_lines(store_, session_id_, guard, lines, {}));
    assert(outcome.is_back.size() == lines.size());
    return left + static_cast<std::uint64_t>(std::ranges::count(outcome.is_back, false));
  }

  Status set_aside(const std::string& path, const std::string& log_file, EntryType type,
                   const std::vector<DamagedLine>& damaged) {
    BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, store_.files->open(path, OpenMode::kRead));
    Quarantine quarantine(*store_.files, quarantine_path(session_id_));
    std::vector<ByteRange> gaps;
    std::uint64_t set_aside_count = 0;
    for (const DamagedLine& line : damaged) {
      assert(gaps.empty() || gaps.back().end <= line.offset);
      if (is_entry_behind_mark(*log, type, line)) {
        gaps.push_back({.begin = 0, .end = kByteOrderMark.size()});
        did(path, "removed a byte order mark");
        continue;
      }
      if (line.size > kTextLineMax) {
        continue;  // No command would read the quarantine then: left for a person.
      }
      BMAD_TRY(quarantine.keep(*log, log_file, line, store_.clock.now()));
      gaps.push_back({.begin = line.offset, .end = line.offset + line.size + 1});
      ++set_aside_count;
    }
    BMAD_TRY(quarantine.sync());
    BMAD_TRY(gaps.empty() ? Status() : rewrite_log_without(*store_.files, path, gaps));
    if (set_aside_count != 0) {
      did(path,
          fmt::format("set aside {} damaged line{} in {}", set_aside_count,
                      set_aside_count == 1 ? "" : "s", kQuarantineName),
          set_aside_count);
    }
    return {};
  }

  Status repair_manifest() {
    const std::string path = manifest_path(session_id_);
    const Result<Manifest> manifest = load_manifest(*store_.files, session_id_);
    if (manifest) {
      return {};
    }
    BMAD_TRY_ASSIGN(const auto info, if_there(store_.files->info(path)));
    if (!info && is_elsewhere_ && is_elsewhere_(session_id_)) {
      return {};  // It comes back with its branch.
    }
    if (info && info->kind != FileKind::kRegular) {
      return {};  // Left for a person.
    }
    if (manifest.error().os_error != 0 && !is_not_found(manifest.error())) {
      return manifest.error();  // The disk failed; the manifest may be as good as ever.
    }
    if (info && info->size != 0) {
      BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, store_.files->open(path, OpenMode::kRead));
      Quarantine quarantine(*store_.files, quarantine_path(session_id_));
      BMAD_TRY(quarantine.keep(*file, kManifestName,
                               {.size = info->size, .line = 1, .reason = manifest.error().message},
                               store_.clock.now()));
      BMAD_TRY(quarantine.sync());
    }
    BMAD_TRY_ASSIGN(const Manifest made, manifest_from_entries());
    BMAD_TRY(save_manifest(*store_.files, made));
    did(path, "made a new manifest from the entries");
    return {};
  }

  /// Who wrote and since when is known from the entries; user, project and tags are not.
  Result<Manifest> manifest_from_entries() {
    BMAD_TRY_ASSIGN(const std::vector<TableEntry> entries,
                    load_entries(*store_.files, session_id_, {}));
    std::set<std::string> agents;
    Timestamp created = store_.clock.now();
    for (const TableEntry& entry : entries) {
      created = std::min(created, entry.timestamp);
      if (!entry.who.empty()) {
        agents.insert(entry.who);
      }
    }
    return new_manifest({.session_id = session_id_,
                         .agent_ids = std::vector<std::string>(agents.begin(), agents.end())},
                        created);
  }

  Store& store_;
  std::string session_id_;
  RepairReport& report_;
  const IsElsewhere& is_elsewhere_;
};

/// What was left on purpose needs another remedy.
void explain_left(const IsElsewhere& is_elsewhere, RepairReport& report) {
  for (Finding& finding : report.left) {
    if (finding.kind == FindingKind::kMissingManifest && is_elsewhere &&
        is_elsewhere(finding.session_id)) {
      finding.reason = fmt::format(
          "session {} has no manifest here, and git has it on another branch: check that branch "
          "out, or write to the session",
          finding.session_id);
    }
  }
}

/// Removes what killed operations left of sessions outside their folders. The caller holds the
/// root's lock.
Status remove_all_leftovers(Store& store, RepairReport& report) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, all_session_ids(store));
  for (const std::string& session_id : sessions) {
    BMAD_TRY_ASSIGN(std::vector<std::string> paths, find_leftovers(*store.files, session_id));
    if (paths.empty()) {
      continue;
    }
    std::optional<FileLock::Guard> guard;
    const Result<FileInfo> folder = store.files->info(session_folder(session_id));
    if (folder && folder->kind == FileKind::kDirectory) {
      Result<FileLock::Guard> locked = store.lock_session(session_id, "repair");
      if (!locked && locked.error().code == ErrorCode::E_NEWER_VERSION) {
        continue;
      }
      BMAD_TRY_ASSIGN(guard, std::move(locked));
    }
    BMAD_TRY(remove_leftovers(*store.files, session_id));
    for (const std::string& path : paths) {
      add_action(report, *store.files, session_id, path,
                 "removed what an interrupted operation left");
    }
  }
  return {};
}

/// Makes the manifest of an archive from it again, and removes a damaged copy of it that version
/// 0.1 kept. The caller holds the root's lock.
Status repair_archive(Store& store, const std::string& session_id, RepairReport& report) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const bool has_folder, is_there(files, session_folder(session_id)));
  const Result<std::vector<ArchivedFile>> members = read_session_archive(files, session_id);
  if (has_folder || !members) {
    return {};  // verify_store() names what is wrong with the archive itself.
  }
  const Result<std::shared_ptr<FileSystem>> archive = archive_files(store, session_id);
  if (!archive) {
    return {};
  }
  const Result<Manifest> identity = load_manifest(**archive, session_id);
  const Result<ArchiveManifest> manifest = read_archive_manifest(files, session_id);
  const auto is_newer = [](const auto& read) {
    return !read && read.error().code == ErrorCode::E_NEWER_VERSION;
  };
  if (is_newer(identity) || is_newer(manifest)) {
    return {};
  }
  const bool is_lost = !manifest && (manifest.error().code == ErrorCode::E_SESSION_NOT_FOUND ||
                                     manifest.error().code == ErrorCode::E_SESSION_CORRUPT);
  if (is_lost && identity) {
    BMAD_TRY_ASSIGN(const FileInfo packed, files.info(archive_path(session_id)));
    BMAD_TRY(write_archive_manifest(files, identity->text, size_of_archive(*members, packed.size)));
    add_action(report, files, session_id, archive_manifest_path(session_id),
               "made from the archive");
  }
  const Result<std::vector<EvictedLine>> kept = read_retained(files, session_id);
  if (!kept && kept.error().code == ErrorCode::E_STORAGE_CORRUPT) {
    BMAD_TRY(remove_retained(files, session_id));
    add_action(report, files, session_id, retained_path(session_id),
               "removed: the archive holds what it held");
  }
  return {};
}

Status tidy_root(Store& store, RepairReport& report) {
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("repair"));
  for (const char* folder : {"", kSharedFolder}) {
    BMAD_TRY(remove_temporaries(*store.files, folder, {}, report));
  }
  const Result<FileInfo> sessions = store.files->info(kSessionsFolder);
  BMAD_TRY(sessions ? remove_unfinished_sessions(store) : Status());
  BMAD_TRY(remove_all_leftovers(store, report));
  BMAD_TRY_ASSIGN(const std::vector<std::string> archived, archived_session_ids(*store.files));
  for (const std::string& session_id : archived) {
    BMAD_TRY(repair_archive(store, session_id, report));
  }
  static_cast<void>(store.root_index->tidy());  // Derived: what fails here fails nothing.
  return {};
}

/// Adds what could not be mended and is no finding by itself, as when a lock is held too long.
void add_failures(const Store& store, std::span<const std::pair<std::string, Error>> failures,
                  RepairReport& report) {
  for (const auto& [session_id, error] : failures) {
    if (is_not_found(error) || error.code == ErrorCode::E_SESSION_NOT_FOUND) {
      continue;  // It was archived or deleted meanwhile, and may be back.
    }
    const auto is_it = [&](const Finding& finding) { return finding.session_id == session_id; };
    if (store.files->info(session_folder(session_id)) && std::ranges::none_of(report.left, is_it)) {
      report.left.push_back({.kind = FindingKind::kUnreadable,
                             .session_id = session_id,
                             .path = error.path,
                             .line = error.line,
                             .field = error.field,
                             .reason = error.message});
    }
  }
}

}  // namespace

Result<RepairReport> repair_store(Store& store, std::span<const std::string> wanted,
                                  const MemoryManager::Progress& on_progress,
                                  const IsElsewhere& is_elsewhere) {
  RepairReport report;
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.selected_sessions(wanted));
  if (wanted.empty()) {
    BMAD_TRY(tidy_root(store, report));
  }
  std::vector<std::pair<std::string, Error>> failures;  // The others are mended all the same.
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    Status done = SessionRepair(store, sessions[i], report, is_elsewhere).run();
    if (!done && wanted.size() == 1) {
      return std::move(done).error();
    }
    if (!done) {
      failures.emplace_back(sessions[i], std::move(done).error());
    }
    if (on_progress) {
      on_progress(i + 1, sessions.size());
    }
  }
  BMAD_TRY_ASSIGN(VerifyReport after, verify_store(store, wanted, {}));
  report.sessions = after.sessions;
  report.left = std::move(after.findings);
  explain_left(is_elsewhere, report);
  add_failures(store, failures, report);
  return report;
}

}  // namespace bmad_mem
