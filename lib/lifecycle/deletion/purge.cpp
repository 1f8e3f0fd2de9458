// purge.cpp - removes entries permanently from every file that holds a copy of them.
#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "deletion_steps.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/summary_file.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/log_lines.hpp"
#include "lifecycle/session_copies.hpp"
#include "model/entry.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"
#include "store/access_log.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/line_reader.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

// Entries gone for good, wherever a copy of them is.
//
//   which ids? logs, deleted/, archive/, shared/kept -> note them as "purging", durable -> index
//   and temporary files -> logs -> quarantine, summary, artifacts, access -> evicted, archive,
//   kept, deleted -> note them as purged -> audit
//
// The note comes first: a purge that was killed is finished by the next one. Where there is no room
// for a copy, lines are overwritten with blanks.

namespace {

constexpr std::uint64_t kTextFileSizeMax = 256U << 20U;

/// A full disk must not keep anybody from purging: what could not be written only helps later.
Status unless_full(Status written) {
  return !written && written.error().code == ErrorCode::E_STORAGE_FULL ? Status() : written;
}

/// Purges in one session, live, archived or deleted.
class SessionPurge {
 public:
  SessionPurge(Store& store, std::string session_id, const DeletionCriteria& criteria,
               const std::string& detail, DeletionReport& report)
      : store_(store),
        files_(*store.files),
        session_id_(std::move(session_id)),
        criteria_(criteria),
        detail_(detail),
        encrypted_(store, session_id_),
        target_(criteria, &encrypted_),
        report_(report) {}

  /// Looks which entries it is about, in all places.
  Status look() {
    BMAD_TRY_ASSIGN(seen_, look_at_logs(files_, session_id_));
    BMAD_TRY_ASSIGN(record_, load_deletion_record(files_, session_id_));
    BMAD_TRY_ASSIGN(is_live_, is_session_there(files_, session_id_));
    if (is_live_) {
      BMAD_TRY(look_into_logs());
    }
    BMAD_TRY_ASSIGN(copies_, SessionCopies::read(files_, session_id_, record_));
    copies_.note_ids(target_);
    target_.add_all(record_.purging);
    BMAD_TRY_ASSIGN(told_, forget_in_records(copies_, /*dry_run=*/true));
    return look_for_counts();
  }

  [[nodiscard]] bool finds_nothing() const {
    return target_.ids().empty() && lines_.empty() && damaged_.empty() && told_.empty() &&
           !finds_text_beside_logs();
  }

  /// Whether lines may have come or gone while it looked, such as from the evicted ones to a log.
  Result<bool> was_disturbed() {
    BMAD_TRY_ASSIGN(const bool holds, still_holds(files_, session_id_, seen_));
    return !holds;
  }

  Status describe(std::string_view reason, bool with_headlines) {
    BMAD_TRY(describe_doomed(files_, session_id_, lines_, reason, with_headlines, report_));
    for (const EntryType type : kEntryTypes) {
      add_count(report_.elsewhere, files_, log_path(session_id_, type),
                static_cast<std::uint64_t>(std::ranges::count(damaged_, type, &LogLine::type)));
    }
    BMAD_TRY_ASSIGN(const std::vector<FileCount> in_copies,
                    SessionCopies(copies_).purge(files_, /*dry_run=*/true, target_));
    std::ranges::copy(in_copies, std::back_inserter(report_.elsewhere));
    std::ranges::copy(told_, std::back_inserter(report_.elsewhere));
    return {};
  }

  /// The caller holds the root's lock and, for a live session, the session's.
  Status carry_out() {
    BMAD_TRY(note_begin());
    BMAD_TRY(remove_leftovers(files_, session_id_));
    BMAD_TRY(cut_torn_ends(files_, session_id_));
    if (is_live_) {
      BMAD_TRY(drop_rule_summary(files_, session_id_));  // Before what it quotes goes.
      BMAD_TRY(remove_derived());
      BMAD_TRY(take_out_lines(files_, session_id_, all_lines(), FullDisk::kBlanks));
      BMAD_TRY(purge_beside_logs());
    }
    BMAD_TRY(copies_.purge(files_, /*dry_run=*/false, target_));
    BMAD_TRY(store_.root_index->remove({&session_id_, 1}));
    BMAD_TRY(note_end());
    BMAD_TRY_ASSIGN(SessionCopies left, SessionCopies::read(files_, session_id_, record_));
    const Result<std::vector<FileCount>> told =
        forget_in_records(std::move(left), /*dry_run=*/false);
    return told ? Status() : unless_full(told.error());
  }

  [[nodiscard]] bool is_live() const { return is_live_; }
  /// How many encrypted entries it could not look into.
  [[nodiscard]] std::uint64_t closed() const { return encrypted_.closed.size(); }

 private:
  Status look_into_logs() {
    BMAD_TRY_ASSIGN(lines_, find_doomed_lines(files_, session_id_, criteria_, &encrypted_));
    for (const LogLine& line : lines_) {
      target_.add(line.id);
    }
    BMAD_TRY_ASSIGN(DamagedFinds damaged, find_damaged_lines(files_, session_id_, criteria_));
    damaged_ = std::move(damaged.lines);
    target_.add_all(damaged.ids);
    return {};
  }

  /// A line that counts folded calls of tools goes with any of them: it names their files; and a
  /// candidate with what it is from.
  Status look_for_counts() {
    DeletionCriteria counts{.ids = copies_.ids_of_counts(target_)};
    JsonParser parser;
    const auto take = [&](const ScannedEntry& each) {
      if (target_.is_candidate_of(each.type, each.value)) {
        add_ids(counts.ids, {std::string(entry_id(each.value))});
      }
    };
    BMAD_TRY(scan_log(files_, log_path(session_id_, EntryType::kFact), EntryType::kFact, parser,
                      {.on_entry = take}));
    target_.add_all(counts.ids);
    if (counts.ids.empty() || !is_live_) {
      return {};
    }
    BMAD_TRY_ASSIGN(const std::vector<LogLine> found,
                    find_doomed_lines(files_, session_id_, counts));
    std::ranges::copy_if(found, std::back_inserter(lines_), [&](const LogLine& line) {
      return std::ranges::none_of(lines_, [&](const LogLine& known) {
        return known.type == line.type && known.offset == line.offset;
      });
    });
    return {};
  }

  /// In the order in which they leave the logs.
  [[nodiscard]] std::vector<LogLine> all_lines() const {
    std::vector<LogLine> all = lines_;
    all.insert(all.end(), damaged_.begin(), damaged_.end());
    std::ranges::sort(all, [](const LogLine& a, const LogLine& b) {
      return a.type != b.type ? a.type < b.type : a.offset < b.offset;
    });
    return all;
  }

  /// What an editor or a merge left of a file.
  static bool is_backup(std::string_view name) {
    return is_editor_leftover(name) || name.ends_with(".orig") || name.ends_with(".bak");
  }

  /// Prose, what lies in quarantine and backups hold texts that no entry has.
  [[nodiscard]] std::vector<std::string> names_beside_logs() const {
    std::vector<std::string> names =
        list_if_there(files_, session_folder(session_id_)).value_or(std::vector<std::string>());
    std::erase_if(names, [](const std::string& name) {
      return name != kQuarantineName && name != kSummaryName && !is_backup(name);
    });
    return names;
  }

  [[nodiscard]] bool finds_text_beside_logs() const {
    return is_live_ && std::ranges::any_of(names_beside_logs(), [&](const std::string& name) {
             const Result<std::string> text =
                 read_file(files_, session_file(session_id_, name), kTextFileSizeMax);
             return text ? target_.is_text_in(*text)
                         : !is_not_found(text.error());  // Purging says why.
           });
  }

  /// The text in what tells of entries and sessions: audits, the record of deletions, manifests,
  /// also those that are packed. Returns where it stood.
  Result<std::vector<FileCount>> forget_in_records(SessionCopies copies, bool dry_run) {
    std::vector<FileCount> counts;
    if (criteria_.match.empty()) {
      return counts;
    }
    Status hidden;
    const HideId hide = [&](std::string_view id) {
      if (dry_run || store_.above.hide_id == nullptr) {
        return std::string(kHiddenIdPrefix);
      }
      Result<std::string> other = store_.above.hide_id(store_, id, /*makes_key=*/true);
      hidden = other || !hidden ? hidden : Status(other.error());
      return other ? *std::move(other) : std::string(kHiddenIdPrefix);
    };
    const FileChange change = [&](std::string_view name, std::string& bytes) {
      const bool is_record = name == kAuditName || name.ends_with(kManifestName);
      return is_record ? forget_in_json(bytes, criteria_.match, hide) : 0;
    };
    BMAD_TRY_ASSIGN(counts, copies.rewrite(
                                files_, dry_run,
                                [](EntryType, std::string_view) { return std::nullopt; }, change));
    for (const std::string& path :
         {audit_path(session_id_), manifest_path(session_id_), deleted_audit_path(session_id_),
          deletion_record_path(session_id_)}) {
      BMAD_TRY_ASSIGN(auto bytes, if_there(read_file(files_, path, kTextFileSizeMax)));
      if (!bytes) {
        continue;
      }
      const std::uint64_t count = forget_in_json(*bytes, criteria_.match, hide);
      add_count(counts, files_, path, count);
      BMAD_TRY(count == 0 || dry_run ? Status() : replace_file(files_, path, *bytes));
    }
    BMAD_TRY(std::move(hidden));
    return counts;
  }

  Status note_begin() {
    assert(std::ranges::is_sorted(record_.purging));
    add_ids(record_.purging, {target_.ids().begin(), target_.ids().end()});
    return unless_full(save_deletion_record(files_, record_));
  }

  Status note_end() {
    BMAD_TRY_ASSIGN(record_, load_deletion_record(files_, session_id_));  // Purging changed it.
    record_.purging.clear();
    add_ids(record_.purged_ids, {target_.ids().begin(), target_.ids().end()});
    BMAD_TRY(unless_full(save_deletion_record(files_, record_)));
    const std::vector<LogLine> lines =
        mapped(target_.ids(), [](const std::string& id) { return LogLine{.id = id}; });
    return unless_full(audit_lines(store_, session_id_, "purge", lines,
                                   detail_.empty() ? criteria_kinds(criteria_) : detail_));
  }

  /// What is made from the logs holds the purged words too, and gives room on a full disk.
  Status remove_derived() {
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, files_.list(session_folder(session_id_)));
    for (const std::string& name : names) {
      if (name == kIndexName || name.ends_with(".tmp")) {
        BMAD_TRY(files_.remove(session_file(session_id_, name)));
      }
    }
    return drop_knowledge_views(store_);
  }

  Status purge_beside_logs() {
    for (const std::string& name : names_beside_logs()) {
      BMAD_TRY(purge_text_file(session_file(session_id_, name), is_backup(name)));
    }
    BMAD_TRY(purge_accesses());
    bool removed_artifact = false;
    for (const std::string& id : target_.ids()) {
      const std::string path = artifact_path(session_id_, id);
      BMAD_TRY_ASSIGN(const bool has_artifact, is_there(files_, path));
      if (has_artifact) {
        BMAD_TRY(files_.remove(path));
        add_count(report_.elsewhere, files_, path, 1);
        removed_artifact = true;
      }
    }
    return removed_artifact ? files_.sync_directory(session_file(session_id_, kArtifactsName))
                            : Status();
  }

  /// Takes the lines out of it; a backup goes as a whole.
  Status purge_text_file(const std::string& path, bool goes_whole) {
    BMAD_TRY_ASSIGN(const std::string text, read_if_there(files_, path, kTextFileSizeMax));
    std::vector<ByteRange> gaps;
    std::size_t at = 0;
    for_each_text_line(text, [&](std::string_view line) {
      const std::size_t end = std::min(at + line.size() + 1, text.size());
      if (target_.is_named_in(line)) {
        gaps.push_back({.begin = at, .end = end});
      }
      at = end;
    });
    assert(at == text.size());
    add_count(report_.elsewhere, files_, path, gaps.size());
    return goes_whole && !gaps.empty() ? remove_durably(files_, path)
           : gaps.empty()              ? Status()
                                       : remove_lines(files_, path, gaps);
  }

  /// A log that can't be folded goes as a whole: it only helps the ranking.
  Status purge_accesses() {
    const std::string path = access_path(session_id_);
    BMAD_TRY_ASSIGN(const std::string text, read_if_there(files_, path, kTextFileSizeMax));
    if (!target_.is_id_in(text)) {
      return {};
    }
    std::uint64_t gone = 0;
    const Status folded = fold_accesses(files_, session_id_, [&](std::string_view id) {
      const bool goes = target_.ids().contains(id);
      gone += goes ? 1 : 0;
      return !goes;
    });
    add_count(report_.elsewhere, files_, path, std::max<std::uint64_t>(gone, 1));
    return folded ? Status() : files_.remove(path);
  }

  Store& store_;
  FileSystem& files_;
  std::string session_id_;
  const DeletionCriteria& criteria_;
  const std::string& detail_;
  EncryptedWords encrypted_;
  PurgeTarget target_;
  DeletionReport& report_;

  bool is_live_ = false;
  LogMarks seen_;
  DeletionRecord record_;
  std::vector<LogLine> lines_;
  std::vector<LogLine> damaged_;  // No entries.
  std::vector<FileCount> told_;   // Where the text stands in what tells of them.
  SessionCopies copies_;
};

/// Purges in one session, or describes it. `closed` grows by the encrypted entries that were not
/// looked into.
Status purge_in_session(Store& store, const std::string& session_id,
                        const DeletionCriteria& criteria, bool dry_run, const std::string& detail,
                        DeletionReport& report, std::uint64_t& closed) {
  {
    // With this lock a session stays where it is: in its folder, its archive or under deleted/.
    std::optional<FileLock::Guard> root_guard;
    if (!dry_run) {
      BMAD_TRY_ASSIGN(root_guard, store.lock_root("purge"));
    }
    bool is_live = false;
    {
      SessionPurge first(store, session_id, criteria, detail, report);
      BMAD_TRY(first.look());
      if (dry_run) {
        closed += first.closed();
        return first.finds_nothing() ? Status() : first.describe("would be purged", true);
      }
      BMAD_TRY_ASSIGN(const bool was_disturbed, first.was_disturbed());
      if (first.finds_nothing() && !was_disturbed) {
        closed += first.closed();
        return {};
      }
      is_live = first.is_live();
    }
    std::optional<FileLock::Guard> guard;
    if (is_live) {
      BMAD_TRY_ASSIGN(guard, store.lock_session(session_id, "purge"));
    }
    SessionPurge purge(store, session_id, criteria, detail, report);
    BMAD_TRY(purge.look());
    closed += purge.closed();
    if (purge.finds_nothing()) {
      return {};
    }
    BMAD_TRY(purge.describe("purged", false));
    BMAD_TRY(purge.carry_out());
  }
  refresh_index(store, session_id);
  return {};
}

/// Whether it asks for a text and for nothing that only entries have.
bool is_text_alone(const DeletionCriteria& criteria) {
  DeletionCriteria rest = criteria;
  rest.match.clear();
  return !criteria.match.empty() && rest.is_empty() && criteria.sessions.empty();
}

/// What waits for its key outside the project, and would come in later.
Status purge_waiting(const Store& store, const DeletionCriteria& criteria, bool dry_run,
                     DeletionReport& report) {
  const EntryMatcher matcher(criteria);
  const auto goes = [&](std::string_view session, EntryType type, JsonValue entry,
                        std::string_view text) {
    return (criteria.sessions.empty() || is_among(criteria.sessions, session)) &&
           matcher.matches(type, entry, text);
  };
  BMAD_TRY_ASSIGN(const std::uint64_t gone, drop_waiting(store, goes, dry_run));
  if (gone > 0) {
    report.entries += gone;
    report.elsewhere.push_back(
        {.path = store.origins->state_file(RootOrigins::kWaitingName), .lines = gone});
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> all_session_ids(const Store& store) {
  std::vector<std::string> ids;
  BMAD_TRY_ASSIGN(std::vector<std::string> live, store.session_ids());
  BMAD_TRY_ASSIGN(std::vector<std::string> archived, archived_session_ids(*store.files));
  BMAD_TRY_ASSIGN(std::vector<std::string> deleted, sessions_with_deletions(*store.files));
  // Once more: one may have come back from there before it was looked for.
  BMAD_TRY_ASSIGN(std::vector<std::string> back, store.session_ids());
  for (std::vector<std::string>* each : {&live, &archived, &deleted, &back}) {
    add_ids(ids, std::move(*each));
  }
  return ids;
}

Result<DeletionReport> purge_entries(Store& store, const DeletionCriteria& criteria,
                                     const DeleteOptions& options, const std::string& detail) {
  for (const std::string& session_id : criteria.sessions) {
    BMAD_TRY(check_session_id(session_id));
  }
  assert(!criteria.is_empty() && "without criteria every entry would go");
  std::vector<std::string> sessions = criteria.sessions;
  if (sessions.empty()) {
    BMAD_TRY_ASSIGN(sessions, all_session_ids(store));
  }
  DeletionReport report;
  if (is_text_alone(criteria)) {  // First: no query shows that a crash left them behind.
    std::optional<FileLock::Guard> guard;
    if (!options.dry_run) {
      BMAD_TRY_ASSIGN(guard, store.lock_root("purge"));
    }
    BMAD_TRY(purge_beside_sessions(store, criteria.match, options.dry_run, report));
  }
  BMAD_TRY(purge_waiting(store, criteria, options.dry_run, report));
  Status first_failure;
  std::uint64_t closed = 0;  // Encrypted entries that could not be looked into.
  std::uint64_t looked_at = 0;
  for (const std::string& session_id : sessions) {
    if (options.on_progress) {
      options.on_progress(looked_at++, sessions.size());
    }
    Status done =
        purge_in_session(store, session_id, criteria, options.dry_run, detail, report, closed);
    if (!done && first_failure) {
      first_failure = std::move(done);  // What is in the others goes all the same.
    }
  }
  Status mirrored = purge_mirrored(store, criteria, options.dry_run, report);
  if (first_failure) {
    first_failure = std::move(mirrored);
  }
  BMAD_TRY(std::move(first_failure));
  if (!criteria.match.empty() && closed > 0) {
    return invalid_query(
        "match",
        fmt::format("{} could not be searched without the key and may still hold the text; what "
                    "else holds it {}. Run this again with the key, or delete them by id",
                    closed == 1 ? "1 encrypted entry" : fmt::format("{} encrypted entries", closed),
                    options.dry_run ? "would be purged" : "is purged"));
  }
  return report;
}

}  // namespace bmad_mem
