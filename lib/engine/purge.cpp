// purge.cpp - entries gone for good, wherever a copy of them is.
//
//   which ids? logs, deleted/, archive/, shared/kept -> note them as "purging", durable -> index
//   and temporary files -> logs -> quarantine, summary, artifacts, access -> evicted, archive,
//   kept, deleted -> note them as purged -> audit
//
// The note comes first: a purge that was killed is finished by the next one. Where there is no room
// for a copy, lines are overwritten with blanks.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "deletion.hpp"
#include "lifecycle/archive_manifest.hpp"
#include "lifecycle/evicted_file.hpp"
#include "lifecycle/kept_file.hpp"
#include "lifecycle/session_archive.hpp"
#include "model/entry.hpp"
#include "privacy/audit_log.hpp"
#include "privacy/deletion_record.hpp"
#include "privacy/entry_matcher.hpp"
#include "storage/access_log.hpp"
#include "storage/atomic_file.hpp"
#include "storage/layout.hpp"
#include "store.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kTextFileSizeMax = 256U << 20U;

Status remove_if_there(FileSystem& files, const std::string& path) {
  Status removed = files.remove(path);
  return removed || is_not_found(removed.error()) ? Status() : removed;
}

/// The lines of `text` for which `stays` says so; `gone` counts the others.
template <typename Stays>
std::string lines_that_stay(std::string_view text, const Stays& stays, std::uint64_t& gone) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t size = std::min(text.size(), text.find('\n') + 1);
    const std::string_view line = text.substr(0, size == 0 ? text.size() : size);
    if (stays(line)) {
      kept += line;
    } else {
      ++gone;
    }
    text.remove_prefix(line.size());
  }
  return kept;
}

/// Purges in one session, live, archived or deleted.
class SessionPurge {
 public:
  SessionPurge(Store& store, std::string session_id, const DeletionCriteria& criteria,
               DeletionReport& report)
      : store_(store),
        files_(*store.files),
        session_id_(std::move(session_id)),
        criteria_(criteria),
        matcher_(criteria),
        report_(report) {}

  /// Looks which entries it is about, in all places.
  Status look() {
    BMAD_TRY_ASSIGN(record_, load_deletion_record(files_, session_id_));
    is_live_ = files_.info(session_folder(session_id_)).has_value();
    if (is_live_) {
      BMAD_TRY_ASSIGN(lines_, find_doomed_lines(files_, session_id_, criteria_));
      for (const LogLine& line : lines_) {
        ids_.insert(line.id);
      }
    }
    BMAD_TRY_ASSIGN(evicted_, read_evicted(files_, session_id_));
    BMAD_TRY_ASSIGN(kept_, read_kept(files_, session_id_));
    BMAD_TRY_ASSIGN(deleted_, read_deleted(files_, session_id_));
    if (files_.info(archive_path(session_id_))) {
      BMAD_TRY_ASSIGN(archived_, read_session_archive(files_, session_id_));
    }
    BMAD_TRY(read_deleted_sessions());
    ids_.insert(record_.purging.begin(), record_.purging.end());
    note_ids(evicted_);
    note_ids(kept_);
    note_ids(deleted_);
    for (const ArchivedFile& file : archived_) {
      note_ids_of_log(file);
    }
    for (const auto& [path, file] : deleted_sessions_) {
      note_ids_of_log(file);
    }
    return {};
  }

  [[nodiscard]] bool finds_nothing() const { return ids_.empty() && !finds_text_elsewhere(); }

  Status describe(std::string_view reason, bool with_headlines) {
    BMAD_TRY(describe_doomed(files_, session_id_, lines_, reason, with_headlines, report_));
    count_elsewhere(evicted_path(session_id_), evicted_);
    count_elsewhere(kept_path(session_id_), kept_);
    count_elsewhere(deleted_entries_path(session_id_), deleted_);
    std::uint64_t in_archive = 0;
    for (const ArchivedFile& file : archived_) {
      std::uint64_t gone = 0;
      static_cast<void>(without_purged(file, gone));
      in_archive += gone;
    }
    add_elsewhere(archive_path(session_id_), in_archive);
    for (const auto& [path, file] : deleted_sessions_) {
      std::uint64_t gone = 0;
      static_cast<void>(without_purged(file, gone));
      add_elsewhere(path, gone);
    }
    return {};
  }

  /// The caller holds the root's lock and, for a live session, the session's.
  Status carry_out() {
    BMAD_TRY(note_begin());
    if (is_live_) {
      BMAD_TRY(remove_derived());
      BMAD_TRY(take_out_lines(files_, session_id_, lines_, FullDisk::kBlanks));
      BMAD_TRY(purge_beside_logs());
    }
    BMAD_TRY(purge_moved());
    BMAD_TRY(purge_archive());
    BMAD_TRY(purge_deleted_sessions());
    return note_end();
  }

  [[nodiscard]] bool is_live() const { return is_live_; }

 private:
  [[nodiscard]] bool is_doomed(EntryType type, std::string_view line) {
    const Result<JsonValue> value = parser_.parse(line);
    return value &&
           (ids_.contains(std::string(entry_id(*value))) || matcher_.matches(type, *value, line));
  }

  template <typename Line>
  void note_ids(const std::vector<Line>& lines) {
    for (const Line& line : lines) {
      const Result<JsonValue> value = parser_.parse(line.line);
      if (value && matcher_.matches(line.type, *value, line.line)) {
        ids_.emplace(entry_id(*value));
      }
    }
  }

  void note_ids_of_log(const ArchivedFile& file) {
    const std::optional<EntryType> type = log_type(file.name);
    if (!type) {
      return;
    }
    std::uint64_t unused = 0;
    lines_that_stay(
        file.bytes,
        [&](std::string_view line) {
          const Result<JsonValue> value = parser_.parse(line);
          if (value && matcher_.matches(*type, *value, line)) {
            ids_.emplace(entry_id(*value));
          }
          return true;
        },
        unused);
  }

  static std::optional<EntryType> log_type(std::string_view name) {
    for (const EntryType type : kEntryTypes) {
      if (entry_type_info(type).log_file == name) {
        return type;
      }
    }
    return std::nullopt;
  }

  /// Whether a line that is no entry (quarantine, summary, access) speaks of what is purged.
  [[nodiscard]] bool names_purged(std::string_view line) const {
    if (!criteria_.match.empty() && line.find(criteria_.match) != std::string_view::npos) {
      return true;
    }
    return std::ranges::any_of(
        ids_, [&](const std::string& id) { return line.find(id) != std::string_view::npos; });
  }

  /// Damaged lines and prose hold texts that no entry has.
  [[nodiscard]] bool finds_text_elsewhere() const {
    if (criteria_.match.empty() || !is_live_) {
      return false;
    }
    for (const char* name : {kQuarantineName, kSummaryName}) {
      const Result<std::string> text =
          read_file(files_, session_file(session_id_, name), kTextFileSizeMax);
      if (text && text->find(criteria_.match) != std::string::npos) {
        return true;
      }
    }
    return false;
  }

  void add_elsewhere(const std::string& path, std::uint64_t lines) {
    if (lines > 0) {
      report_.elsewhere.push_back({.path = files_.display_path(path), .lines = lines});
    }
  }

  template <typename Line>
  void count_elsewhere(const std::string& path, const std::vector<Line>& lines) {
    add_elsewhere(path, static_cast<std::uint64_t>(std::ranges::count_if(
                            lines, [&](const Line& l) { return is_doomed(l.type, l.line); })));
  }

  Status note_begin() {
    add_ids(record_.purging, {ids_.begin(), ids_.end()});
    Status saved = save_deletion_record(files_, record_);
    // A full disk must not keep anybody from purging: the note only helps after a crash.
    return !saved && saved.error().code == ErrorCode::E_STORAGE_FULL ? Status() : saved;
  }

  Status note_end() {
    record_.purging.clear();
    add_ids(record_.purged_ids, {ids_.begin(), ids_.end()});
    BMAD_TRY(save_deletion_record(files_, record_));
    return audit_lines(store_, session_id_, "purge", id_lines(), criteria_kinds(criteria_));
  }

  [[nodiscard]] std::vector<LogLine> id_lines() const {
    std::vector<LogLine> lines;
    for (const std::string& id : ids_) {
      lines.push_back({.id = id});
    }
    return lines;
  }

  /// What is made from the logs holds the purged words too, and gives room on a full disk.
  Status remove_derived() {
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, files_.list(session_folder(session_id_)));
    for (const std::string& name : names) {
      if (name == kIndexName || name.ends_with(".tmp")) {
        BMAD_TRY(files_.remove(session_file(session_id_, name)));
      }
    }
    for (const char* path : {kUserPreferencesFile, kAgentKnowledgeFile}) {
      BMAD_TRY(remove_if_there(files_, path));
    }
    return {};
  }

  Status purge_beside_logs() {
    for (const char* name : {kQuarantineName, kSummaryName, kAccessName}) {
      BMAD_TRY(purge_text_file(session_file(session_id_, name)));
    }
    bool removed_artifact = false;
    for (const std::string& id : ids_) {
      const std::string path = artifact_path(session_id_, id);
      if (files_.info(path)) {
        BMAD_TRY(files_.remove(path));
        add_elsewhere(path, 1);
        removed_artifact = true;
      }
    }
    return removed_artifact ? files_.sync_directory(session_file(session_id_, kArtifactsName))
                            : Status();
  }

  Status purge_text_file(const std::string& path) {
    const Result<std::string> text = read_file(files_, path, kTextFileSizeMax);
    if (!text) {
      return is_not_found(text.error()) ? Status() : Status(text.error());
    }
    std::vector<ByteRange> gaps;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t newline = text->find('\n', at);
      const std::size_t end = newline == std::string::npos ? text->size() : newline + 1;
      if (names_purged(std::string_view(*text).substr(at, end - at))) {
        gaps.push_back({.begin = at, .end = end});
      }
      at = end;
    }
    add_elsewhere(path, gaps.size());
    return gaps.empty() ? Status() : remove_lines(files_, path, gaps);
  }

  /// Evicted, kept and deleted lines.
  Status purge_moved() {
    const auto gone = [this](const auto& line) { return is_doomed(line.type, line.line); };
    if (std::erase_if(evicted_, gone) > 0) {
      BMAD_TRY(replace_evicted(files_, session_id_, evicted_));
    }
    if (std::erase_if(kept_, gone) > 0) {
      BMAD_TRY(write_kept(files_, session_id_, kept_));
    }
    if (std::erase_if(deleted_, gone) > 0) {
      BMAD_TRY(replace_deleted(files_, session_id_, deleted_));
      BMAD_TRY(drop_finished_deletions(files_, session_id_, deleted_));
      const std::vector<std::string> purging = record_.purging;
      BMAD_TRY_ASSIGN(record_, load_deletion_record(files_, session_id_));
      record_.purging = purging;
    }
    return {};
  }

  std::string without_purged(const ArchivedFile& file, std::uint64_t& gone) {
    const std::optional<EntryType> type = log_type(file.name);
    if (file.name == kManifestName || file.name == kAuditName) {
      return file.bytes;
    }
    return lines_that_stay(
        file.bytes,
        [&](std::string_view line) {
          return type ? !is_doomed(*type, line) && !(names_damaged_purged(line))
                      : !names_purged(line);
        },
        gone);
  }

  /// A damaged line of a log with the text in it.
  [[nodiscard]] bool names_damaged_purged(std::string_view line) const {
    return !criteria_.match.empty() && line.find(criteria_.match) != std::string_view::npos;
  }

  Status purge_archive() {
    std::uint64_t gone = 0;
    std::vector<ArchivedFile> members;
    for (const ArchivedFile& file : archived_) {
      const bool is_artifact = file.name.starts_with(std::string(kArtifactsName) + "/");
      if (is_artifact && is_artifact_of_purged(file.name)) {
        ++gone;
        continue;
      }
      members.push_back(
          {.name = file.name, .bytes = without_purged(file, gone), .mtime_s = file.mtime_s});
    }
    if (gone == 0) {
      return {};
    }
    BMAD_TRY_ASSIGN(const ArchiveManifest manifest, read_archive_manifest(files_, session_id_));
    BMAD_TRY_ASSIGN(const ArchiveSize size, rewrite_session_archive(files_, session_id_, members));
    return write_archive_manifest(files_, manifest.text, size, manifest.archived_at);
  }

  /// The files of sessions that were deleted as a whole, with their paths.
  Status read_deleted_sessions() {
    for (const Deletion& deletion : record_.deletions) {
      const std::string folder = deleted_session_folder(session_id_, deletion.deletion_id);
      for (const std::string& inside : {std::string(), std::string("/") + kArtifactsName}) {
        const Result<std::vector<std::string>> names = files_.list(folder + inside);
        for (const std::string& name : names.value_or(std::vector<std::string>())) {
          const std::string path = folder + inside + "/" + name;
          const Result<FileInfo> info = files_.info(path);
          if (info && info->kind == FileKind::kRegular) {
            BMAD_TRY_ASSIGN(std::string bytes, read_file(files_, path, kTextFileSizeMax));
            const std::string member = inside.empty() ? name : path.substr(folder.size() + 1);
            deleted_sessions_.push_back({path, {.name = member, .bytes = std::move(bytes)}});
          }
        }
      }
    }
    return {};
  }

  Status purge_deleted_sessions() {
    for (const auto& [path, file] : deleted_sessions_) {
      if (file.name == kIndexName || is_artifact_of_purged(file.name)) {
        BMAD_TRY(files_.remove(path));
        continue;
      }
      std::uint64_t gone = 0;
      const std::string kept = without_purged(file, gone);
      if (gone > 0) {
        BMAD_TRY(replace_file(files_, path, kept));
      }
    }
    return {};
  }

  [[nodiscard]] bool is_artifact_of_purged(std::string_view name) const {
    return std::ranges::any_of(ids_, [&](const std::string& id) {
      return name == fmt::format("{}/{}.md", kArtifactsName, id);
    });
  }

  Store& store_;
  FileSystem& files_;
  std::string session_id_;
  const DeletionCriteria& criteria_;
  EntryMatcher matcher_;
  DeletionReport& report_;
  JsonParser parser_;

  bool is_live_ = false;
  DeletionRecord record_;
  std::set<std::string> ids_;
  std::vector<LogLine> lines_;
  std::vector<EvictedLine> evicted_;
  std::vector<KeptLine> kept_;
  std::vector<DeletedLine> deleted_;
  std::vector<ArchivedFile> archived_;
  std::vector<std::pair<std::string, ArchivedFile>> deleted_sessions_;  // By path.
};

}  // namespace

Result<std::vector<std::string>> all_session_ids(const Store& store) {
  std::vector<std::string> ids;
  BMAD_TRY_ASSIGN(std::vector<std::string> live, store.session_ids());
  BMAD_TRY_ASSIGN(std::vector<std::string> archived, archived_session_ids(*store.files));
  BMAD_TRY_ASSIGN(std::vector<std::string> deleted, sessions_with_deletions(*store.files));
  add_ids(ids, std::move(live));
  add_ids(ids, std::move(archived));
  add_ids(ids, std::move(deleted));
  return ids;
}

Result<DeletionReport> purge_entries(Store& store, const DeletionCriteria& criteria,
                                     const DeleteOptions& options) {
  for (const std::string& session_id : criteria.sessions) {
    BMAD_TRY(check_session_id(session_id));
  }
  std::vector<std::string> sessions = criteria.sessions;
  if (sessions.empty()) {
    BMAD_TRY_ASSIGN(sessions, all_session_ids(store));
  }
  DeletionReport report;
  for (const std::string& session_id : sessions) {
    SessionPurge first(store, session_id, criteria, report);
    BMAD_TRY(first.look());
    if (first.finds_nothing()) {
      continue;
    }
    if (options.dry_run) {
      BMAD_TRY(first.describe("would be purged", true));
      continue;
    }
    {
      FileLock lock = store.root_lock();
      BMAD_TRY_ASSIGN(
          const FileLock::Guard root_guard,
          lock.acquire(
              {.operation = "purge", .agent_id = store.agent_id, .timeout = store.lock_timeout}));
      std::optional<FileLock::Guard> guard;
      if (first.is_live()) {
        BMAD_TRY_ASSIGN(guard, store.session(session_id).writer.lock("purge"));
      }
      SessionPurge purge(store, session_id, criteria, report);
      BMAD_TRY(purge.look());
      BMAD_TRY(purge.describe("purged", false));
      BMAD_TRY(purge.carry_out());
    }
    refresh_index(store, session_id);
  }
  return report;
}

}  // namespace bmad_mem
