// sync.cpp - a mirror and its hub exchange what is new.
//
//   hub/.lock -> head -> pull, page by page: rows -> sessions -> state.json -> push: what is new in
//   each session -> what was pushed is applied, at once if nobody was in between -> confirm
//
// A push is exactly once: the hub counts the rows of each replica, and takes a batch only at the
// count it was made for. Who lost the answer pulls, and finds its own rows.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/hub.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/trust.hpp"
#include "hub/mirror_state.hpp"
#include "lifecycle/deletion.hpp"
#include "privacy/redaction.hpp"
#include "session_feed.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {
namespace {

/// Rows of this size are gathered before they are applied: each session is opened once.
constexpr std::size_t kGatherBytes = 64U << 20U;
/// How often a push begins again since others were faster.
constexpr int kRoundsMax = 100;
/// A replica without news says at least so often that it is there.
constexpr std::chrono::hours kSeenAtLeast{1};

std::size_t bytes_of(const FeedRow& row) { return row.line ? row.line->size() : 0; }

/// Rows to push, of several sessions.
struct Batch {
  std::vector<FeedRow> rows;
  std::size_t bytes = 0;
  std::vector<std::pair<std::string, std::uint64_t>> seen;  // SessionChanges::digest of each.

  void add(SessionChanges changes) {
    assert(!changes.rows.empty());
    seen.emplace_back(changes.rows.front().session_id, changes.digest);
    for (FeedRow& row : changes.rows) {
      bytes += bytes_of(row);
      rows.push_back(std::move(row));
    }
  }
};

class Sync {
 public:
  Sync(Store& store, Hub& hub, const SyncOptions& options, MirrorState state)
      : store_(store),
        files_(*store.files),
        hub_(hub),
        options_(options),
        state_(std::move(state)) {}

  Result<SyncReport> run() {
    BMAD_TRY(look());
    if (options_.dry_run) {
      BMAD_TRY(look_at_sessions());
      report_.cursor = state_.cursor;
      return std::move(report_);
    }
    Status done = exchange();
    report_.cursor = state_.cursor;
    report_.head = std::max(report_.head, state_.cursor);
    if (is_state_new_) {
      BMAD_TRY(save());
    }
    const bool is_quiet =
        head_.now - head_.seen_at > kSeenAtLeast;  // Others look when it was seen.
    if (done && (state_.cursor != confirmed_ || is_quiet)) {
      done = hub_.confirm(state_.cursor);
    }
    if (!done) {
      return done.error();
    }
    return std::move(report_);
  }

 private:
  /// What the hub says before anything is done.
  Status look() {
    BMAD_TRY_ASSIGN(head_, hub_.head());
    report_.head = head_.head;
    report_.rights = head_.rights;
    confirmed_ = state_.cursor;
    BMAD_TRY(check_head(store_, state_, head_, options_.pulls));
    if (head_.head < state_.cursor) {
      state_.cursor = state_.mark.seq;
    }
    assert(state_.cursor <= head_.head && "check_head() compares the mark");
    const auto skew =
        std::chrono::duration_cast<std::chrono::seconds>(store_.clock.now() - head_.now);
    if (head_.now != Timestamp() && std::chrono::abs(skew) > kClockSkewMax) {
      report_.clock_skew = skew;
    }
    return take_policy();
  }

  /// The hub's rules, and what looks at lines by today's rules looks at all of them again.
  Status take_policy() {
    BMAD_TRY_ASSIGN(const std::string known, load_hub_policy(store_));
    if (known != head_.policy && !options_.dry_run) {
      BMAD_TRY(head_.policy.empty() ? remove_durably(files_, kHubPolicyFile)
                                    : replace_file(files_, kHubPolicyFile, head_.policy));
    }
    const std::uint64_t rules = xxh3(fmt::format(
        "{}\n{}\n{}", secret_rules_version(), store_.origins->digest(store_.config), head_.policy));
    if (state_.rules != rules) {
      state_.rules = rules;
      state_.seen.clear();
      is_state_new_ = true;
    }
    return {};
  }

  Status exchange() {
    for (int round = 0; round < kRoundsMax; ++round) {
      // Who has applied nothing yet does not know what of this the hub has.
      if (options_.pulls || head_.pushed != state_.pushed || needs_pull_ || state_.cursor == 0) {
        BMAD_TRY(pull());
      }
      if (!options_.pushes) {
        return {};
      }
      needs_pull_ = false;
      BMAD_TRY(push());
      if (!needs_pull_) {
        return {};
      }
      BMAD_TRY_ASSIGN(head_, hub_.head());
      report_.head = head_.head;
    }
    return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                 .message = "others push all the time; try again"};
  }

  /// Before the first row goes in either direction.
  Status check_known() {
    return std::exchange(is_known_, true) ? Status() : check_feed(hub_, state_);
  }

  Status pull() {
    const std::uint64_t end = head_.head;
    std::vector<FeedRow> gathered;
    JsonParser parser;
    std::size_t bytes = 0;
    PullRange range{.after = state_.cursor, .until = end};
    if (range.after < end) {
      BMAD_TRY(check_known());
    }
    while (range.after < end) {
      BMAD_TRY_ASSIGN(auto rows, next_rows(hub_, range, parser, report_.skipped));
      range.after = rows ? range.after : end;
      for (FeedRow& row : rows ? std::span(*rows) : std::span<FeedRow>()) {
        bytes += bytes_of(row);
        gathered.push_back(std::move(row));
      }
      if (bytes >= kGatherBytes || range.after >= end) {
        BMAD_TRY(apply(std::exchange(gathered, {}), range.after));
        bytes = 0;
      }
    }
    return settle_pushed();
  }

  /// All rows that we have pushed are applied now.
  Status settle_pushed() {
    if (outcome_.not_ours > 0) {
      return take_new_replica();
    }
    if (state_.pushed != head_.pushed) {
      state_.pushed = head_.pushed;
      return save();
    }
    return {};
  }

  /// Another root pushes under our id: it is a copy of this one, or this one is a copy of it.
  Status take_new_replica() {
    outcome_.not_ours = 0;
    report_.has_new_replica = true;
    BMAD_TRY_ASSIGN(const std::vector<HubReplica> replicas, hub_.replicas());
    const auto twin = std::ranges::find(replicas, state_.replica, &HubReplica::replica);
    state_.replica = new_replica_id();
    state_.pushed = 0;
    BMAD_TRY(hub_.add_replica(state_.replica, twin == replicas.end() ? "" : twin->host));
    BMAD_TRY_ASSIGN(head_, hub_.head());
    return save();
  }

  /// Applies `rows`, session by session, and moves the cursor to `last`.
  Status apply(std::vector<FeedRow> rows, std::uint64_t last) {
    assert(std::ranges::is_sorted(rows, {}, &FeedRow::seq));
    assert(rows.empty() || rows.back().seq <= last);
    const FeedMark mark = rows.empty() ? state_.mark : mark_of(rows.back());
    SessionRows sessions;
    for (FeedRow& row : rows) {
      sessions[row.session_id].push_back(std::move(row));
    }
    for (const auto& [session_id, of_session] : sessions) {
      state_.seen.erase(session_id);  // What stayed away here has to be said.
      BMAD_TRY(bring_back(session_id));
      BMAD_TRY_ASSIGN(const bool is_deleted, is_deleted_here(store_, session_id, of_session));
      if (is_deleted) {
        BMAD_TRY(apply_to_deleted(store_, session_id, of_session, state_.replica, outcome_));
      }
    }
    BMAD_TRY(apply_sessions(store_, sessions, state_.replica, outcome_));
    add_conflicts(outcome_.conflicts);
    report_.pulled_lines = outcome_.lines;
    report_.pulled_operations = outcome_.operations;
    state_.cursor = std::max(state_.cursor, last);
    state_.mark = mark;
    return save();
  }

  Status save() {
    refresh_changed(store_, outcome_);
    is_state_new_ = false;
    return save_mirror_state(files_, state_);
  }

  /// A session of the hub that no deletion took away, but git for a branch, comes back from there;
  /// so does what a killed run has not brought back.
  Status bring_back(const std::string& session_id) {
    BMAD_TRY_ASSIGN(const SessionMirror mirror, load_session_mirror(files_, session_id));
    BMAD_TRY_ASSIGN(const bool is_there, is_session_there(files_, session_id));
    const bool is_here = is_there || is_archived(store_, session_id);
    if (!mirror.is_behind && (is_here || mirror.manifest.empty())) {
      return {};
    }
    BMAD_TRY_ASSIGN(const bool is_deleted, is_deleted_here(store_, session_id));
    return is_deleted ? Status() : apply_again(store_, hub_, session_id, state_.cursor, outcome_);
  }

  Result<std::vector<std::string>> sessions_to_look_at() {
    BMAD_TRY_ASSIGN(std::vector<std::string> ids, store_.session_folders());
    BMAD_TRY_ASSIGN(std::vector<std::string> mirrored, mirrored_sessions(files_));
    BMAD_TRY_ASSIGN(std::vector<std::string> archived, archived_session_ids(files_));
    add_ids(ids, std::move(mirrored));
    add_ids(ids, std::move(archived));
    return ids;
  }

  /// Calls `push_rows` with what is new in each session.
  template <typename PushRows>
  Status for_changes(const PushRows& push_rows) {
    report_.held = {};
    report_.problems.clear();
    report_.waiting_lines = report_.waiting_operations = 0;
    BMAD_TRY_ASSIGN(const std::vector<std::string> ids, sessions_to_look_at());
    BMAD_TRY_ASSIGN(const SessionDigests digests, SessionDigests::look(store_));
    for (const std::string& session_id : ids) {
      BMAD_TRY_ASSIGN(const std::uint64_t digest, digests.of(session_id));
      const auto seen = state_.seen.find(session_id);
      // A dry run says all that stays here, and so looks at each.
      if (!options_.dry_run && seen != state_.seen.end() && seen->second == digest) {
        continue;
      }
      Result<SessionChanges> changes = changes_of(session_id);
      if (!changes) {
        if (changes.error().code == ErrorCode::E_HUB_AWAY) {
          return changes.error();
        }
        report_.problems.push_back(changes.error());
        continue;
      }
      changes->digest = digest;
      report_.held += changes->held;
      add_conflicts(changes->conflicts);
      if (!changes->lost.empty()) {
        report_.problems.push_back(lost_lines(store_, session_id, changes->lost));
      } else if (!changes->rows.empty()) {
        BMAD_TRY(push_rows(*std::move(changes)));
      } else if (!options_.dry_run) {
        state_.seen[session_id] = changes->digest;
        is_state_new_ = true;
      }
    }
    return {};
  }

  Result<SessionChanges> changes_of(const std::string& session_id) {
    if (!options_.dry_run) {
      BMAD_TRY(bring_back(session_id));
    }
    BMAD_TRY_ASSIGN(const bool is_there, is_session_there(files_, session_id));
    BMAD_TRY_ASSIGN(SessionMirror mirror, load_session_mirror(files_, session_id));
    BMAD_TRY_ASSIGN(const bool has_ended, is_there ? is_begun_again(store_, mirror)
                                                   : is_deleted_here(store_, session_id));
    if (has_ended) {
      mirror.leave();
    }
    SessionChanges changes;
    const bool is_kept = mirror.manifest.empty() && !mirror.out.empty();  // As it was deleted.
    if (is_there || is_kept || is_archived(store_, session_id)) {
      if (redaction_ == nullptr) {  // Whatever the config says: this leaves the machine.
        BMAD_TRY_ASSIGN(redaction_, StoreRedaction::make(store_, KeyUse::kNone, head_.policy));
      }
      const bool only_looks = options_.dry_run || head_.rights == "read";
      BMAD_TRY_ASSIGN(changes, collect_changes(store_, hub_, *redaction_, mirror, only_looks));
    }
    if (has_ended) {
      changes.rows.insert(changes.rows.begin(), {.op = FeedOp::kSession, .session_id = session_id});
    }
    return changes;
  }

  /// A dry run: counts what would be pulled and pushed, and what waits.
  Status look_at_sessions() {
    report_.pulled_lines = head_.head - state_.cursor;
    return for_changes([&](const SessionChanges& changes) {
      count_rows(changes.rows, true, report_);
      if (changes.oldest) {
        report_.waits_since =
            std::min(report_.waits_since.value_or(*changes.oldest), *changes.oldest);
      }
      return Status();
    });
  }

  void add_conflicts(const std::vector<std::string>& ids) {
    std::ranges::copy_if(ids, std::back_inserter(report_.conflicts), [&](const std::string& id) {
      return head_.rights != "read" &&  // No version of a reader's leads elsewhere.
             std::ranges::find(report_.conflicts, id) == report_.conflicts.end();
    });
  }

  /// Gathers rows of several sessions into a batch. A session with versions of entries is sent by
  /// itself, and only at the head that was pulled last.
  Status push() {
    Batch gathered;
    BMAD_TRY(for_changes([&](SessionChanges changes) -> Status {
      count_rows(changes.rows, false, report_);
      const auto waits = [&](const FeedRow& row) { return !may_push(head_.rights, row.op); };
      if (std::erase_if(changes.rows, waits) > 0) {
        changes.digest = 0;  // They are looked for again.
      }
      if (changes.rows.empty()) {
        return {};
      }
      if (changes.has_versions) {  // Which one wins depends on what others have said.
        Batch versions;
        versions.add(std::move(changes));
        return needs_pull_ ? Status() : send(versions, state_.cursor);
      }
      gathered.add(std::move(changes));
      const bool is_full = gathered.rows.size() >= kPushRowsMax || gathered.bytes >= kPushBytesMax;
      return is_full ? send(std::exchange(gathered, {}), std::nullopt) : Status();
    }));
    return gathered.rows.empty() ? Status() : send(gathered, std::nullopt);
  }

  /// Pushes the rows in batches, and applies them if nobody was in between.
  Status send(const Batch& gathered, std::optional<std::uint64_t> only_at_head) {
    const std::vector<FeedRow>& rows = gathered.rows;
    std::vector<FeedRow> stored;
    for (std::size_t begin = 0; begin < rows.size();) {
      std::size_t bytes = bytes_of(rows[begin]);
      std::size_t end = begin + 1;
      while (end < rows.size() && end - begin < kPushRowsMax &&
             bytes + bytes_of(rows[end]) <= kPushBytesMax) {
        bytes += bytes_of(rows[end++]);
      }
      assert(end - begin <= kPushRowsMax && (bytes <= kPushBytesMax || end - begin == 1));
      BMAD_TRY_ASSIGN(const bool is_stored,
                      send_batch({rows.data() + begin, end - begin}, only_at_head, stored));
      if (!is_stored) {
        break;
      }
      only_at_head = only_at_head ? std::optional(stored_end_) : std::nullopt;
      begin = end;
    }
    if (needs_pull_ || stored.empty()) {
      return {};
    }
    BMAD_TRY(apply(std::move(stored), stored_end_));
    for (const auto& [session_id, digest] : gathered.seen) {
      state_.seen[session_id] = digest;
    }
    is_state_new_ = true;
    return {};
  }

  /// False when the hub did not take them.
  Result<bool> send_batch(std::span<const FeedRow> rows, std::optional<std::uint64_t> only_at_head,
                          std::vector<FeedRow>& stored) {
    PushBatch batch{
        .pushed = state_.pushed, .rows = {rows.begin(), rows.end()}, .only_at_head = only_at_head};
    BMAD_TRY(check_known());
    BMAD_TRY_ASSIGN(const PushAnswer answer, hub_.push(batch));
    if (!answer.is_stored) {
      needs_pull_ = true;
      return false;
    }
    assert(answer.seqs.size() == rows.size());
    state_.pushed += rows.size();
    is_state_new_ = true;
    if (stored.empty()) {
      stored_end_ = state_.cursor;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint64_t seq = answer.seqs[i];
      ++stored_end_;
      if (seq == 0) {
        BMAD_TRY(purge_refused(rows[i]));
        continue;
      }
      needs_pull_ = needs_pull_ || seq != stored_end_;
      stored.push_back(rows[i]);
      stored.back().seq = seq;
      stored.back().replica = state_.replica;
    }
    count_rows(rows, true, report_);
    return true;
  }

  /// The hub takes no line of an entry that was purged: it goes here, too.
  Status purge_refused(const FeedRow& row) {
    ++report_.refused;
    const ActingAs person(Origin::kPerson);
    const Result<DeletionReport> purged = delete_entries(
        store_, {.ids = {row.entry_id}, .sessions = {row.session_id}}, {.purge = true});
    return purged ? Status() : Status(purged.error());
  }

  Store& store_;
  FileSystem& files_;
  Hub& hub_;
  const SyncOptions& options_;
  MirrorState state_;
  HubHead head_;
  SyncReport report_;
  FeedOutcome outcome_;
  std::unique_ptr<StoreRedaction> redaction_;
  std::uint64_t confirmed_ = 0;
  std::uint64_t stored_end_ = 0;  // The seq of the last row that was pushed in a row.
  bool needs_pull_ = false;       // Others have pushed in between.
  bool is_state_new_ = false;
  bool is_known_ = false;  // The feed is the one that was applied.
};

}  // namespace

Result<SyncReport> sync_with_hub(MemoryManager& memory, Hub& hub, const SyncOptions& options) {
  const std::string_view operation = !options.pushes ? "pull" : !options.pulls ? "push" : "sync";
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(memory, operation));
  FileLock lock = mirror_lock(*store);
  BMAD_TRY_ASSIGN(JoinedMirror mirror, lock_mirror(*store, lock));
  return Sync(*store, hub, options, std::move(mirror.state)).run();
}

}  // namespace bmad_mem
