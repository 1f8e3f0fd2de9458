// maintenance.cpp - what is due by the schedule, without a daemon: called by opening and closing
// sessions and by `bmad-mem maintain`.
//
// maintenance.json says when what was done last, and how far the clock is trusted. When nothing is
// due, reading it is all that happens. One process at a time; a dry run takes no lock.
#include "lifecycle/maintenance.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/compaction_plan.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance_state.hpp"
#include "lifecycle/repair.hpp"
#include "search/indexing.hpp"
#include "store/access_log.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/session_archive.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Access logs below are not worth a rewrite.
constexpr std::uint64_t kAccessLogWorthFolding = 64U << 10U;
/// Bytes of the smallest call: id, time, kind and tool.
constexpr std::uint64_t kToolEventSizeMin = 90;
/// How many sessions further the check of the line hashes begins each day.
constexpr std::size_t kHashCheckStride = 61;
/// How long entries are encoded, where somebody comes by the way and where somebody asked.
constexpr std::chrono::milliseconds kEncodeByTheWay{500};
constexpr std::chrono::seconds kEncodeAsked{10};

/// Notes since when what is deleted can be purged later.
Status note_graces(const Store& store, MaintenanceState& state, Timestamp now) {
  BMAD_TRY_ASSIGN(const std::vector<Deletion> deletions, list_deletions(store));
  update_graces(state.graces, deletions, state.clock, now);
  return {};
}

/// How many statements stay of what went.
std::string statements_text(std::uint64_t count) {
  return count == 0 ? std::string()
                    : fmt::format("; {} statement{} kept", count, count == 1 ? "" : "s");
}

class Maintenance {
 public:
  Maintenance(Store& store, const MaintainOptions& options)
      : store_(store),
        options_(options),
        begin_(std::chrono::steady_clock::now()),
        now_(store.clock.now()) {}

  Result<MaintenanceReport> run() {
    BMAD_TRY_ASSIGN(plan_, maintenance_plan(store_.config));
    BMAD_TRY_ASSIGN(state_, load_maintenance(*store_.files));
    if (!options_.only_due || is_due(plan_, state_, now_)) {
      BMAD_TRY(options_.dry_run ? do_jobs() : do_jobs_alone());
    }
    report_.next_due = next_due(plan_, state_).value_or(Timestamp::max());
    if (report_.next_due == Timestamp{}) {
      report_.next_due = now_;  // Some job never ran.
    }
    return report_;
  }

 private:
  /// Who comes by the way leaves it to another process that is at it.
  Status do_jobs_alone() {
    FileLock lock(*store_.files, store_.clock, kMaintenanceLockName, kMaintenanceLockInfoName);
    const Result<FileLock::Guard> guard = lock.acquire(
        {.operation = "maintain",
         .agent_id = store_.agent_id,
         .timeout = options_.only_due ? std::chrono::milliseconds(0) : store_.lock_timeout});
    if (!guard) {
      const bool is_busy = guard.error().code == ErrorCode::E_LOCK_TIMEOUT;
      return is_busy && options_.only_due ? Status() : Status(guard.error());
    }
    BMAD_TRY_ASSIGN(state_, load_maintenance(*store_.files));
    BMAD_TRY(do_jobs());
    if (!is_time_up()) {
      maintain_index(store_, options_.only_due ? kEncodeByTheWay : kEncodeAsked, FlushWhen::kAny,
                     OtherVectors::kReplace);
      write_missing_views(store_);
    }
    update_head(store_);
    return save_maintenance(*store_.files, plan_, state_);
  }

  Status do_jobs() {
    const LocalAudit audit(store_.tracked.any());
    const SteadyTime trusted = advance_clock(state_.clock, now_);
    trusted_ = trusted.time;
    if (trusted.is_held) {
      report_.held_back = fmt::format(
          "{}; what depends on age waits until a run at least a day later confirms "
          "the time",
          state_.clock.last_seen ? "the clock went on further than expected"
                                 : "first run with this clock");
    }
    if (!options_.dry_run) {
      BMAD_TRY(note_graces(store_, state_, now_));
    }
    BMAD_TRY_ASSIGN(sessions_, store_.session_ids());
    assert(std::ranges::is_sorted(sessions_));
    if (!options_.dry_run) {
      static_cast<void>(
          look_for_hand_edits(store_, HandLook::kChanged));  // New line hashes would hide them.
    }
    check_hashes();
    tidy_away();
    job(MaintenanceJob::kDecay, [&] { fold_and_compact(); });
    job(MaintenanceJob::kArchive, [&] { archive_idle(); });
    job(MaintenanceJob::kRetention, [&] { remove_expired(); });
    job(MaintenanceJob::kPurge, [&] { purge_expired(); });
    if (!options_.dry_run) {
      state_.clock = trusted.state;
    }
    return {};
  }

  template <typename Work>
  void job(MaintenanceJob which, const Work& work) {
    if (options_.only_due ? !is_due(plan_, state_, which, now_)
                          : !next_due(plan_, state_, which).has_value()) {
      return;
    }
    was_cut_short_ = false;
    work();
    if (!was_cut_short_ && !options_.dry_run) {  // Otherwise it goes on in the next run.
      state_.set_done(which, now_);
    }
  }

  /// Calls `use(session_id)` for the sessions as long as there is time, but until it had something
  /// to do once: so that every run gets on.
  template <typename Use>
  void for_each_session(std::span<const std::string> sessions, const Use& use) {
    std::uint64_t done = 0;
    for (const std::string& session_id : sessions) {
      if (options_.on_progress) {
        options_.on_progress(done++, sessions.size());
      }
      if (use(session_id) && options_.time_limit.count() > 0 &&
          std::chrono::steady_clock::now() - begin_ > options_.time_limit) {
        was_cut_short_ = &session_id != &sessions.back();
        return;
      }
    }
  }

  void did(MaintenanceJob which, const std::string& session_id, std::uint64_t count,
           std::string what) {
    report_.done.push_back({.task = std::string(maintenance_job_name(which)),
                            .session_id = session_id,
                            .count = count,
                            .what = std::move(what)});
  }

  template <typename T>
  bool went_well(const Result<T>& result) {
    if (!result) {
      report_.problems.push_back(result.error());
    }
    return result.has_value();
  }

  /// Each run begins elsewhere, so that short ones come round, too.
  void check_hashes() {
    const auto day = static_cast<std::size_t>(
        std::chrono::floor<std::chrono::days>(now_).time_since_epoch().count());
    for (std::size_t i = 0; i < sessions_.size() && !is_time_up(); ++i) {
      const std::string& session_id = sessions_[(day * kHashCheckStride + i) % sessions_.size()];
      const LineHashCheck check = check_line_hashes(store_, session_id);
      if (std::string notice = line_hash_notice(check); !notice.empty()) {
        report_.done.push_back({.task = "line hashes",
                                .session_id = session_id,
                                .count = check.damage.size() + check.changes.size(),
                                .what = std::move(notice)});
      }
      if (options_.dry_run || is_recorded(store_, session_id)) {
        continue;
      }
      if (const Result<FileLock::Guard> guard = store_.lock_session(session_id, "maintain")) {
        static_cast<void>(hash_session(store_, session_id, false));
      }
    }
  }

  /// What is left of sessions that git took away. Nobody misses it, so nobody is told.
  void tidy_away() {
    const Result<std::vector<std::string>> folders = store_.session_folders();
    if (!folders || folders->size() == sessions_.size() || options_.dry_run) {
      return;
    }
    const Result<FileLock::Guard> guard = store_.lock_root("maintain");
    for (const std::string& session_id : *folders) {
      if (guard && !std::ranges::binary_search(sessions_, session_id) &&
          !store_.files->info(session_file(session_id, kEventsName))) {
        static_cast<void>(clear_remains(store_, session_id));
      }
    }
  }

  [[nodiscard]] bool is_time_up() const {
    return options_.time_limit.count() > 0 &&
           std::chrono::steady_clock::now() - begin_ > options_.time_limit / 2;
  }

  void fold_and_compact() {
    for_each_session(sessions_, [&](const std::string& session_id) {
      fold(session_id);
      // An agent that was killed closes nothing.
      const bool renewed = !options_.dry_run && renew_readable_index(store_, session_id);
      if (store_.tracked.has_session(session_id)) {
        return renewed;  // Each clone would do the rest on another day; its next writer does.
      }
      const Result<std::uint64_t> size = session_footprint(*store_.files, session_id, log_files());
      const bool is_wanted =
          size && store_.config.compaction.enabled &&
          (wants_compaction(store_, session_id, *size) || has_many_tool_events(session_id));
      if (!is_wanted) {
        return renewed;
      }
      const Result<CompactionReport> compacted =
          compact_session(store_, session_id, {.dry_run = options_.dry_run});
      if (went_well(compacted) && !compacted->removed.empty()) {
        did(MaintenanceJob::kDecay, session_id, compacted->removed.size(),
            fmt::format("compacted: {} lines went to the archive{}", compacted->removed.size(),
                        statements_text(compacted->statements)));
      }
      return true;
    });
  }

  /// Whether so many calls of tools are there that counting the older ones is worth a rewrite.
  bool has_many_tool_events(const std::string& session_id) {
    const auto kept = static_cast<std::uint64_t>(store_.config.events.keep);
    const std::uint64_t many = kept + kept / 4 + 1;
    const std::string path = log_path(session_id, EntryType::kEvent);
    const Result<FileInfo> log = store_.files->info(path);
    if (kept == 0 || !log || log->size < many * kToolEventSizeMin) {
      return false;
    }
    std::uint64_t events = 0;
    JsonParser parser;
    const auto take = [&](const ScannedEntry& entry) {
      events += is_tool_event(entry.value["kind"].string()) ? 1 : 0;
    };
    return scan_log(*store_.files, path, EntryType::kEvent, parser, {.on_entry = take}) &&
           events >= many;
  }

  void fold(const std::string& session_id) {
    const Result<FileInfo> log = store_.files->info(session_file(session_id, kAccessName));
    if (!log || log->size < kAccessLogWorthFolding || options_.dry_run) {
      return;
    }
    const Result<FileLock::Guard> guard = store_.lock_session(session_id, "maintain");
    if (guard) {
      static_cast<void>(
          fold_accesses(*store_.files, session_id, [](std::string_view) { return true; }));
    }
  }

  void archive_idle() {
    if (store_.config.lifecycle.archive == "untracked" && store_.tracked.any()) {
      return;  // Text stays text, for diffs and editors, and no two clones pack it.
    }
    const std::chrono::days idle(store_.config.lifecycle.archive_after_idle_days);
    for_each_session(sessions_, [&](const std::string& session_id) {
      const Result<Session> session = describe_session(store_, session_id);
      if (!session || session->last_write + idle > trusted_) {
        return false;
      }
      if (options_.dry_run) {
        std::string notice;
        if (went_well(check_undamaged(store_, session_id, notice))) {
          did(MaintenanceJob::kArchive, session_id, 1, "would be archived");
        }
      } else if (const Result<ArchiveReport> archived = archive_session(store_, session_id);
                 went_well(archived)) {
        did(MaintenanceJob::kArchive, session_id, archived->files,
            fmt::format("archived: {} bytes became {}", archived->original_bytes,
                        archived->compressed_bytes));
      }
      return true;
    });
  }

  /// A session may take long and yield nothing, so a run that was cut short notes where it stopped.
  void remove_expired() {
    const bool whole_files = store_.tracked.any() && !options_.purge;
    if (const auto purged =
            whole_files ? Result<std::vector<Retired>>(std::vector<Retired>())
                        : purge_invalid(store_, trusted_, options_.dry_run, report_.problems);
        went_well(purged)) {
      for (const Retired& each : *purged) {
        did_retire(each, "purged", "past their expires_at");
      }
    }
    std::vector<std::string> sessions = sessions_;  // Also what was archived a moment ago.
    if (Result<std::vector<std::string>> archived = archived_session_ids(*store_.files);
        went_well(archived)) {
      add_ids(sessions, *std::move(archived));
    }
    const std::string after = options_.only_due ? state_.retention_after : std::string();
    assert(std::ranges::is_sorted(sessions));
    const auto begin = std::ranges::upper_bound(sessions, after);
    std::string last;
    for_each_session(std::span(begin, sessions.end()), [&](const std::string& session_id) {
      last = session_id;
      const Status there = check_session(store_, session_id);
      if (!there && there.error().code != ErrorCode::E_SESSION_ARCHIVED) {
        return false;  // Gone meanwhile, or `verify` says what is wrong with it.
      }
      const auto retired =
          retire_session(store_, session_id, trusted_, options_.dry_run, whole_files);
      if (!retired && is_not_found(retired.error())) {
        return false;  // Gone meanwhile.
      }
      if (went_well(retired) && *retired) {
        for (const Retired& each : **retired) {
          did_retire(each, "deleted", "past their retention");
        }
      }
      return !retired || retired->has_value();
    });
    state_.retention_after = was_cut_short_ ? last : std::string();
  }

  void did_retire(const Retired& retired, std::string_view done, std::string_view reason) {
    assert(retired.total() > 0 && "a place from which nothing goes is not listed");
    static constexpr std::pair<std::string_view, std::string_view> kFrom[] = {
        {"archive", " from the archive"},
        {"evicted", " from what was evicted"},
        {"deleted", " from what was deleted"},
        {"session", " with their session"}};
    const auto* const from = std::ranges::find(
        kFrom, retired.place, &std::pair<std::string_view, std::string_view>::first);
    MaintenanceAction action{.task = std::string(maintenance_job_name(MaintenanceJob::kRetention)),
                             .session_id = retired.session_id,
                             .count = retired.total(),
                             .place = retired.place};
    std::string types;
    for (const EntryType type : kEntryTypes) {
      if (const std::uint64_t count = retired.entries[static_cast<std::size_t>(type)]; count > 0) {
        action.types.emplace_back(type, count);
        types += fmt::format("{}{} {}", types.empty() ? "" : ", ", count, entry_type_name(type));
      }
    }
    action.what = fmt::format("{} {}{}{}: {} ({}){}", action.count == 1 ? "entry" : "entries",
                              options_.dry_run ? "would be " : "", done,
                              from == std::end(kFrom) ? "" : from->second, reason, types,
                              statements_text(retired.statements));
    report_.done.push_back(std::move(action));
  }

  void purge_expired() {
    if (options_.dry_run) {
      foresee_purge();
      return;
    }
    const Result<DeletionReport> purged =
        purge_deleted(store_, {.now = trusted_, .graces = &state_.graces});
    if (went_well(purged) && purged->entries + purged->sessions_gone.size() > 0) {
      did(MaintenanceJob::kPurge, "", purged->entries,
          fmt::format("lines and {} sessions purged: deleted longer ago than they can be brought "
                      "back",
                      purged->sessions_gone.size()));
    }
  }

  /// What a purge would remove now.
  void foresee_purge() {
    Result<std::vector<Deletion>> deletions = list_deletions(store_);
    if (!went_well(deletions) || !note_graces(store_, state_, now_)) {
      return;
    }
    const PurgeTime time{.now = trusted_, .graces = &state_.graces};
    for (const Deletion& deletion : *deletions) {
      if (time.ends(deletion)) {
        did(MaintenanceJob::kPurge, deletion.session_id, deletion.entries,
            fmt::format("lines would be purged{}: deleted longer ago than they can be brought back",
                        deletion.whole_session ? ", with their session" : ""));
      }
    }
  }

  Store& store_;
  const MaintainOptions& options_;
  std::chrono::steady_clock::time_point begin_;
  Timestamp now_;
  Timestamp trusted_{};
  MaintenancePlan plan_;
  MaintenanceState state_;
  std::vector<std::string> sessions_;
  bool was_cut_short_ = false;
  MaintenanceReport report_;
};

}  // namespace

Result<MaintenanceReport> maintain(Store& store, const MaintainOptions& options) {
  Result<MaintenanceReport> report = Maintenance(store, options).run();
  if (report && !options.dry_run) {
    compact_provenance(store, /*may_read_all=*/!options.only_due);
  }
  return report;
}

Result<DeletionReport> purge_by_clock(Store& store) {
  BMAD_TRY_ASSIGN(const MaintenancePlan plan, maintenance_plan(store.config));
  FileLock lock(*store.files, store.clock, kMaintenanceLockName, kMaintenanceLockInfoName);
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, lock.acquire({.operation = "purge",
                                                             .agent_id = store.agent_id,
                                                             .timeout = store.lock_timeout}));
  BMAD_TRY_ASSIGN(MaintenanceState state, load_maintenance(*store.files));
  const Timestamp now = store.clock.now();
  BMAD_TRY(note_graces(store, state, now));
  const SteadyTime trusted = advance_clock(state.clock, now);
  state.clock = trusted.state;
  BMAD_TRY_ASSIGN(DeletionReport report,
                  purge_deleted(store, {.now = trusted.time, .graces = &state.graces}));
  // Derived: without it the next one counts again.
  static_cast<void>(save_maintenance(*store.files, plan, state));
  return report;
}

Result<MaintenanceAge> maintenance_age(const Store& store) {
  constexpr std::chrono::days kOverdueAfter{7};
  BMAD_TRY_ASSIGN(const MaintenancePlan plan, maintenance_plan(store.config));
  BMAD_TRY_ASSIGN(const MaintenanceState state, load_maintenance(*store.files));
  MaintenanceAge age{.next_due = next_due(plan, state).value_or(Timestamp::max())};
  for (const std::optional<Timestamp>& last : state.last) {
    age.last_run = std::max(age.last_run, last);
  }
  if (age.last_run) {
    age.is_overdue = *age.last_run + kOverdueAfter < store.clock.now();
  } else {
    BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.session_ids());
    age.is_overdue = std::ranges::any_of(sessions, [&](const std::string& session_id) {
      const Result<Session> session = describe_session(store, session_id);
      return session && session->created_at + kOverdueAfter < store.clock.now();
    });
  }
  return age;
}

std::vector<MaintenanceAction> maintain_by_the_way(Store& store) {
  // Who opens or closes a session should hardly notice.
  constexpr std::chrono::milliseconds kTimeLimit{2000};
  Result<MaintenanceReport> report = maintain(store, {.only_due = true, .time_limit = kTimeLimit});
  return report ? std::move(report->done) : std::vector<MaintenanceAction>();
}

}  // namespace bmad_mem
