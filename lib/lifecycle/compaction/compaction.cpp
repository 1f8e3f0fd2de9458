// compaction.cpp - a session made smaller: plan, move what goes to the archive, rewrite the logs.
//
//   plan (no lock) -> lock -> plan again if a log changed -> statements of the talk that goes ->
//   append to evicted.jsonl.gz, durable -> logs one after another, each by rename -> access counts,
//   manifest, audit -> unlock -> index
//
// Killed anywhere, nothing is lost: a line is in the archive before it leaves its log, and the next
// run neither adds it twice nor minds that some logs are done.
#include <algorithm>
#include <cassert>
#include <set>
#include <span>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/distillation.hpp"
#include "knowledge/summary_file.hpp"
#include "lifecycle/compaction_plan.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/log_lines.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "search/cached_indexes.hpp"
#include "search/indexing.hpp"
#include "search/search.hpp"
#include "store/access_log.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/return_lines.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// What was deleted and written again, byte for byte, as by an import, is in use: it is not hidden
/// by its deletion when it is evicted. So it is no deleted line any more.
Status drop_from_deleted(FileSystem& files, const std::string& session_id,
                         const std::vector<EvictedLine>& lines) {
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> deleted, read_deleted(files, session_id));
  if (deleted.empty()) {
    return {};
  }
  std::set<std::pair<EntryType, std::string_view>> in_use;
  for (const EvictedLine& line : lines) {
    in_use.emplace(line.type, line.line);
  }
  const bool any = std::erase_if(deleted, [&](const DeletedLine& line) {
                     return !line.is_damaged && in_use.contains({line.type, line.line});
                   }) > 0;
  return any ? replace_deleted_lines(files, session_id, deleted) : Status();
}

/// Moves `lines` to the evicted ones; `reason_of` says why each went. `added_events` as
/// take_out_lines() has it. The caller holds the session's lock.
template <typename ReasonOf>
Status move_out(Store& store, const std::string& session_id, const std::vector<LogLine>& lines,
                const ReasonOf& reason_of, std::string_view added_events = {}) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(std::vector<std::string> texts, read_lines(files, session_id, lines));
  assert(texts.size() == lines.size());
  std::vector<EvictedLine> evicted;
  evicted.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    evicted.push_back({.type = lines[i].type, .line = std::move(texts[i]), .reason = reason_of(i)});
  }
  BMAD_TRY(drop_from_deleted(files, session_id, evicted));
  BMAD_TRY(append_evicted(files, session_id, evicted, store.clock.now()));
  return take_out_lines(files, session_id, lines, FullDisk::kFails, added_events);
}

class Compaction {
 public:
  Compaction(Store& store, std::string session_id, const CompactOptions& options)
      : store_(store), session_id_(std::move(session_id)), options_(options) {}

  Result<CompactionReport> run() {
    BMAD_TRY(check_session(store_, session_id_));
    BMAD_TRY(plan());
    if (options_.dry_run) {
      BMAD_TRY(describe(/*with_headlines=*/true));
      return report_;
    }
    {
      const std::shared_ptr<OpenSession> session = store_.session(session_id_);
      BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("compact"));
      BMAD_TRY_ASSIGN(const bool holds, still_holds(*store_.files, session_id_, plan_.logs));
      if (!holds) {
        BMAD_TRY(plan());
      }
      BMAD_TRY(describe(/*with_headlines=*/false));
      BMAD_TRY(carry_out(guard));
      session->manifest_known = false;
    }
    refresh_index(store_, session_id_);
    return report_;
  }

 private:
  Status plan() {
    BMAD_TRY_ASSIGN(const AccessTable accesses, read_accesses(*store_.files, session_id_));
    BMAD_TRY_ASSIGN(footprint_, session_footprint(*store_.files, session_id_, log_files()));
    report_.below_trigger = !options_.keep_share && !options_.force &&
                            footprint_ < store_.config.compaction_start_bytes();
    BMAD_TRY_ASSIGN(const CompactionRules rules, rules_for(report_.below_trigger, accesses));
    BMAD_TRY_ASSIGN(plan_, plan_compaction(*store_.files, session_id_, rules));
    if (report_.below_trigger) {
      BMAD_TRY_ASSIGN(const CompactionRules all, rules_for(false, accesses));
      BMAD_TRY_ASSIGN(const CompactionPlan forced,
                      plan_compaction(*store_.files, session_id_, all));
      report_.force_evicts = forced.count(RemovalKind::kEvicted);
      report_.force_bytes = plan_.bytes_after - forced.bytes_after;
    }
    return {};
  }

  /// Those of the options; with `only_fold`, nothing is evicted.
  Result<CompactionRules> rules_for(bool only_fold, const AccessTable& accesses) {
    const Config& config = store_.config;
    CompactionRules rules{
        .strategy = config.compaction.strategy == "tiered" && !only_fold
                        ? CompactionStrategy::kTiered
                        : CompactionStrategy::kRelevance,
        .keep_share =
            only_fold ? 1 : options_.keep_share.value_or(config.compaction.keep_percentage),
        .bytes_wanted = 0,
        .decay = search_settings(store_).decay,
        .now = store_.clock.now(),
        .last_summarized_id = last_summarized_id(*store_.files, session_id_),
        .tool_events_retained = static_cast<std::uint64_t>(config.events.keep),
        .accesses = &accesses};
    if (!options_.keep_share && !only_fold) {
      BMAD_TRY_ASSIGN(rules.bytes_wanted, log_bytes_wanted());
    }
    return rules;
  }

  /// So that the session as a whole gets below its trigger; its other files stay as they are.
  Result<std::uint64_t> log_bytes_wanted() {
    std::uint64_t logs = 0;
    for (const std::string& name : log_files()) {
      const Result<FileInfo> info = store_.files->info(session_file(session_id_, name));
      logs += info ? info->size : 0;
    }
    const std::uint64_t others = footprint_ > logs ? footprint_ - logs : 0;
    const std::uint64_t trigger = store_.config.compaction_trigger_bytes();
    return trigger > others ? trigger - others : 1;
  }

  Status describe(bool with_headlines) {
    report_ = {.session_id = session_id_,
               .superseded = plan_.count(RemovalKind::kSuperseded),
               .duplicates = plan_.count(RemovalKind::kDuplicate),
               .evicted = plan_.count(RemovalKind::kEvicted),
               .entries_before = plan_.entries_before,
               .entries_after = plan_.entries_after,
               .bytes_before = footprint_,
               .bytes_after = footprint_ - (plan_.bytes_before - plan_.bytes_after),
               .trigger_bytes = store_.config.compaction_trigger_bytes(),
               .below_trigger = report_.below_trigger,
               .force_evicts = report_.force_evicts,
               .force_bytes = report_.force_bytes,
               .folded = plan_.count(RemovalKind::kFolded)};
    lines_.assign(plan_.removals.begin(), plan_.removals.end());
    if (!lines_.empty()) {
      report_.bytes_after += audit_size(audit_record());
      BMAD_TRY_ASSIGN(const std::uint32_t parts, evicted_parts(*store_.files, session_id_));
      report_.evicted_file = store_.files->display_path(evicted_path(session_id_, parts));
    }
    std::vector<std::string> texts;
    if (with_headlines) {
      BMAD_TRY_ASSIGN(texts, read_lines(*store_.files, session_id_, lines_));
    }
    assert(!with_headlines || texts.size() == lines_.size());
    JsonParser parser;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      report_.removed.push_back(removed_entry(session_id_, lines_[i], plan_.removals[i].reason,
                                              with_headlines ? texts[i] : "", parser));
    }
    return report_.evicted == 0 ? Status() : distil();
  }

  /// At least a quarter of what eviction frees stays free.
  Status distil() {
    std::set<std::pair<EntryType, std::string_view>> going;
    std::uint64_t freed = 0;
    for (const PlannedRemoval& removal : plan_.removals) {
      if (removal.kind == RemovalKind::kEvicted) {
        going.emplace(removal.type, removal.id);
        freed += removal.size;
      }
    }
    const auto goes = [&](EntryType type, JsonValue entry, std::string_view) {
      return going.contains({type, entry_id(entry)});
    };
    BMAD_TRY_ASSIGN(statements_, distil_talk(store_, *store_.files, session_id_, goes,
                                             EvictedTalk::kLatest, freed / 4 * 3));
    report_.statements = statements_.size();
    report_.entries_after += statements_.size();
    return {};
  }

  [[nodiscard]] AuditRecord audit_record() const {
    std::vector<std::string> evicted;
    for (const PlannedRemoval& removal : plan_.removals) {
      if (removal.kind == RemovalKind::kEvicted && evicted.size() < kAuditIdsMax) {
        evicted.push_back(removal.id);
      }
    }
    return {.at = store_.clock.now(),
            .session_id = session_id_,
            .agent_id = store_.agent_id,
            .action = "compact",
            .count = lines_.size(),
            .ids = std::move(evicted),
            .detail = fmt::format(
                "{} superseded, {} repeated, {}{} evicted", report_.superseded, report_.duplicates,
                report_.folded == 0 ? "" : fmt::format("{} counted, ", report_.folded),
                report_.evicted)};
  }

  Status carry_out(const FileLock::Guard& guard) {
    if (lines_.empty()) {  // The next write need not know of a session that is small.
      return report_.below_trigger ? Status() : note_size();
    }
    FileSystem& files = *store_.files;
    assert(lines_.size() == plan_.removals.size() && "describe() took them from the plan");
    const Status stated = keep_statements(store_, session_id_, guard, statements_);
    const bool has_no_room = !stated && stated.error().code == ErrorCode::E_SIZE_LIMIT;
    BMAD_TRY(has_no_room ? Status() : stated);
    BMAD_TRY(move_out(
        store_, session_id_, lines_, [&](std::size_t i) { return plan_.removals[i].reason; },
        plan_.added_events));
    if (has_no_room) {  // Now there is.
      BMAD_TRY(keep_statements(store_, session_id_, guard, statements_));
    }
    BMAD_TRY(append_audit(files, audit_record()));
    std::set<std::string_view> gone;
    for (const PlannedRemoval& removal : plan_.removals) {
      if (removal.kind != RemovalKind::kSuperseded) {
        gone.insert(removal.id);
      }
    }
    static_cast<void>(
        fold_accesses(files, session_id_, [&](std::string_view id) { return !gone.contains(id); }));
    return note_size();
  }

  /// Leaves beside the logs how small the session got, so that the next write knows whether another
  /// compaction is worth its cost.
  Status note_size() {
    BMAD_TRY_ASSIGN(report_.bytes_after,
                    session_footprint(*store_.files, session_id_, log_files()));
    return replace_derived_file(*store_.files, session_file(session_id_, kCompactedName),
                                std::to_string(report_.bytes_after));
  }

  Store& store_;
  std::string session_id_;
  const CompactOptions& options_;
  std::uint64_t footprint_ = 0;
  CompactionPlan plan_;
  std::vector<LogLine> lines_;
  std::vector<DistilledStatement> statements_;
  CompactionReport report_;
};

/// What was deleted stays away.
Result<std::uint64_t> restore_part(Store& store, const std::string& session_id,
                                   const FileLock::Guard& guard, const GoneEntries& gone,
                                   std::span<const std::string> ids, std::uint32_t part) {
  assert(part > 0 && "parts count from 1");
  BMAD_TRY_ASSIGN(std::vector<EvictedLine> lines, read_evicted(*store.files, session_id, part));
  JsonParser parser;
  const auto deleted = std::ranges::stable_partition(lines, [&](const EvictedLine& line) {
    return !gone.hold(line, entry_id_in(parser, line.line));
  });
  const std::vector<ReturningLine> returning = mapped(
      std::span(lines.begin(), deleted.begin()),
      [](const EvictedLine& line) { return ReturningLine{.type = line.type, .line = line.line}; });
  BMAD_TRY_ASSIGN(const ReturnOutcome outcome,
                  bring_back_lines(store, session_id, guard, returning, ids));
  assert(outcome.is_back.size() == returning.size());
  std::vector<EvictedLine> left(deleted.begin(), deleted.end());
  for (std::size_t i = 0; i < returning.size(); ++i) {
    if (!outcome.is_back[i]) {
      left.push_back(lines[i]);
    }
  }
  assert(left.size() <= lines.size());
  const std::uint64_t restored = lines.size() - left.size();
  BMAD_TRY(restored > 0 ? replace_evicted_part(*store.files, session_id, left, part) : Status());
  return restored;
}

}  // namespace

Result<CompactionReport> compact_session(Store& store, const std::string& session_id,
                                         const CompactOptions& options) {
  if (options.keep_share && !(*options.keep_share >= 0 && *options.keep_share <= 1)) {
    return invalid_query("keep_share", "the share of the entries to keep must be between 0 and 1");
  }
  return Compaction(store, session_id, options).run();
}

Status evict_lines(Store& store, const std::string& session_id, const FindLines& find,
                   const std::string& reason) {
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "compact"));
    BMAD_TRY_ASSIGN(const std::vector<LogLine> lines, find());
    if (lines.empty()) {
      return {};
    }
    BMAD_TRY(move_out(store, session_id, lines, [&](std::size_t) { return reason; }));
    BMAD_TRY(append_audit(
        store,
        {.session_id = session_id, .action = "compact", .count = lines.size(), .detail = reason}));
  }
  refresh_index(store, session_id);
  return {};
}

Result<std::uint64_t> restore_evicted_entries(Store& store, const std::string& session_id,
                                              std::span<const std::string> ids) {
  BMAD_TRY(check_session(store, session_id));
  std::uint64_t restored = 0;
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "restore"));
    BMAD_TRY_ASSIGN(std::uint32_t part, evicted_parts(*store.files, session_id));
    BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store, session_id));
    for (; part > 0; --part) {  // The newest first: an older version stays where it is then.
      BMAD_TRY_ASSIGN(const std::uint64_t count,
                      restore_part(store, session_id, guard, gone, ids, part));
      restored += count;
    }
    if (restored > 0) {
      BMAD_TRY(append_audit(store, {.session_id = session_id,
                                    .action = "restore",
                                    .count = restored,
                                    .detail = "evicted entries"}));
    }
  }
  refresh_index(store, session_id);
  return restored;
}

}  // namespace bmad_mem
