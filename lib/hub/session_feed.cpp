// session_feed.cpp - applies rows of the feed to the logs and the manifest of one session.
#include "session_feed.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/log_merge.hpp"
#include "bmad_mem/trust.hpp"
#include "hub/mirror_state.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "search/archive_reader.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/line_hashes.hpp"
#include "store/line_reader.hpp"
#include "store/manifest.hpp"
#include "store/root_trust.hpp"
#include "store/sessions.hpp"

namespace bmad_mem {
namespace {

constexpr const char* kDetail = "by the hub";

std::size_t index_of(EntryType type) { return static_cast<std::size_t>(type); }

/// Whether the row changes logs or the manifest as a text; all others are operations of their own.
bool is_text(FeedOp op) {
  return op == FeedOp::kLine || op == FeedOp::kRedact || op == FeedOp::kManifest;
}

class SessionFeed {
 public:
  SessionFeed(Store& store, const std::string& session_id, std::string_view replica,
              FeedOutcome& outcome)
      : store_(store),
        files_(*store.files),
        session_id_(session_id),
        replica_(replica),
        outcome_(outcome) {}

  /// Applies rows in steps: neighbouring rows that change texts, or a run of one other operation.
  /// The mirror is saved after each step, so that a process that was killed continues there.
  Status apply(std::span<const FeedRow> rows) {
    BMAD_TRY_ASSIGN(mirror_, load_session_mirror(files_, session_id_));
    while (!rows.empty() && rows.front().seq <= mirror_.seq) {
      rows = rows.subspan(1);
    }
    if (rows.empty()) {
      return {};
    }
    rows_ = rows;
    if (is_archived(store_, session_id_) && !check_session(store_, session_id_)) {
      BMAD_TRY_ASSIGN(const bool is_done, apply_to_archive(rows));
      if (is_done) {
        return {};
      }
      BMAD_TRY(store_.above.restore(store_, session_id_));
    }
    while (!rows.empty()) {
      const FeedOp op = rows.front().op;
      const auto end = std::ranges::find_if(
          rows, [&](const FeedRow& row) { return is_text(op) ? !is_text(row.op) : row.op != op; });
      const auto step = rows.first(static_cast<std::size_t>(end - rows.begin()));
      assert(!step.empty() && "each step applies a row");
      BMAD_TRY(is_text(op) ? change_texts(step) : carry_out(op, step));
      mirror_.seq = step.back().seq;
      BMAD_TRY(save_session_mirror(files_, mirror_));
      rows = rows.subspan(step.size());
    }
    if (has_changed_) {
      outcome_.changed.push_back(session_id_);
    }
    return {};
  }

 private:
  /// What an archived session has pushed itself changes nothing in it. False when rows do.
  Result<bool> apply_to_archive(std::span<const FeedRow> rows) {
    BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> archive, archive_files(store_, session_id_));
    SessionMirror mirror = mirror_;
    std::map<EntryType, SessionLines> logs;
    for (const FeedRow& row : rows) {
      const bool is_line = row.op == FeedOp::kLine;
      if (row.replica != replica_ || !row.line || (!is_line && row.op != FeedOp::kManifest)) {
        return false;
      }
      if (!is_line) {
        mirror.manifest = *row.line;
        continue;
      }
      const auto [log, is_first] = logs.try_emplace(row.log);
      if (is_first) {
        BMAD_TRY_ASSIGN(log->second, SessionLines::read(*archive, session_id_, row.log,
                                                        mirror.logs.at(index_of(row.log))));
      }
      log->second.take(row.seq, *row.line);
    }
    for (const auto& [type, lines] : logs) {
      if (lines.is_changed()) {
        return false;
      }
      mirror.logs.at(index_of(type)) = lines.feed();
    }
    mirror.seq = rows.back().seq;
    BMAD_TRY(save_session_mirror(files_, mirror));
    return true;
  }

  Result<SessionLines> read(EntryType type) {
    return SessionLines::read(files_, session_id_, type, mirror_.logs.at(index_of(type)));
  }

  Result<bool> is_there_now() { return is_session_there(files_, session_id_); }

  /// Makes the session, of its manifest if that is among the rows.
  Status make() {
    Manifest manifest = new_manifest({.session_id = session_id_}, store_.clock.now());
    for (const FeedRow& row : rows_) {
      if (row.op == FeedOp::kManifest && row.line) {
        BMAD_TRY_ASSIGN(manifest, parse_manifest(*row.line, "the hub's"));
        break;
      }
    }
    return make_session(store_, manifest);
  }

  Status change_texts(std::span<const FeedRow> rows) {
    BMAD_TRY_ASSIGN(const bool is_there, is_there_now());
    if (!is_there) {
      const bool is_wanted = std::ranges::any_of(
          rows, [](const FeedRow& row) { return row.line && row.op != FeedOp::kRedact; });
      if (!is_wanted) {
        return redact_deleted(rows);  // All else of it was purged.
      }
      BMAD_TRY(make());
    }
    const std::shared_ptr<OpenSession> session = store_.session(session_id_);
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, session->writer.lock("sync"));
    std::map<EntryType, SessionLines> logs;
    for (const FeedRow& row : rows) {
      if (row.op == FeedOp::kManifest) {
        BMAD_TRY(merge_manifest(row, *session));
        continue;
      }
      const auto [log, is_first] = logs.try_emplace(row.log);
      if (is_first) {
        BMAD_TRY(mend(session->writer, guard, row.log));
        BMAD_TRY_ASSIGN(log->second, read(row.log));
      }
      BMAD_TRY(row.op == FeedOp::kLine ? take(row, log->second) : redact(row, log->second));
    }
    for (const auto& [type, lines] : logs) {
      BMAD_TRY(write(session->writer, guard, type, lines));
      mirror_.logs.at(index_of(type)) = lines.feed();
    }
    if (!back_.empty()) {
      gone_.reset();
      BMAD_TRY(drop_deleted_lines(store_, session_id_, back_));
      BMAD_TRY(drop_evicted_lines(store_, session_id_, back_));
      back_.clear();
    }
    return {};
  }

  /// The session was deleted as a whole, and is kept for a while.
  Status redact_deleted(std::span<const FeedRow> rows) {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store_.lock_root("sync"));
    for (const FeedRow& row : rows) {
      BMAD_TRY(row.op == FeedOp::kRedact ? redact_out_line(store_, mirror_, row) : Status());
    }
    return {};
  }

  /// A new log has no torn end, and to look for one would sync it and its folder.
  Status mend(SessionWriter& writer, const FileLock::Guard& guard, EntryType type) {
    const std::string name(entry_type_info(type).log_file);
    const Result<FileInfo> log = files_.info(session_file(session_id_, name));
    if (log ? log->size == 0 : is_not_found(log.error())) {
      return {};
    }
    BMAD_TRY(writer.mend(guard, name));
    return {};
  }

  /// Puts the line of `row` into its log, unless it was deleted, purged or redacted here. The kept
  /// copy of a line that had left by the feed is removed once the log is written.
  Status take(const FeedRow& row, SessionLines& lines) {
    if (!row.line) {
      return {};  // It was purged before we had it.
    }
    const LineKey key(row.log, xxh3(*row.line));
    std::optional<bool> left_by_feed;  // Whether it was deleted.
    std::erase_if(mirror_.out, [&](const auto& out) {
      const bool is_it = LineKey(out.second.log, out.second.hash) == key;
      left_by_feed = is_it ? left_by_feed.value_or(false) || out.second.is_deleted : left_by_feed;
      return is_it;
    });
    BMAD_TRY_ASSIGN(bool stays_away, has_gone_here(row, key, left_by_feed, lines));
    stays_away = stays_away || is_redacted_here(row, lines);
    if (left_by_feed && !stays_away) {
      back_.insert(key);
    }
    const bool was_there = lines.take(row.seq, *row.line, !stays_away);
    outcome_.lines += was_there || stays_away ? 0 : 1;
    const bool is_new = !was_there && !stays_away;
    outcome_.not_ours += is_new && row.replica == replica_ ? 1 : 0;
    if (is_new && has_new_version(row, lines)) {
      outcome_.conflicts.push_back(row.entry_id);
    }
    return {};
  }

  /// Versions that the hub does not have: their times and, of redacted ones, that they are.
  using NewVersions = std::map<std::string, std::vector<std::pair<Timestamp, bool>>, std::less<>>;

  /// Of the log, by id, as they were when its first row came.
  const NewVersions& new_here(EntryType type, const SessionLines& lines) {
    const auto known = new_here_.find(type);
    if (known != new_here_.end()) {
      return known->second;
    }
    NewVersions& versions = new_here_[type];
    JsonParser parser;
    for (const SessionLine& line : lines.lines()) {
      const Result<JsonValue> entry = line.seq == 0 ? parser.parse(line.text) : JsonValue();
      if (line.seq == 0 && entry) {
        versions[std::string(entry_id(*entry))].emplace_back(
            entry_version_time(*entry), line.text.find("[REDACTED") != std::string_view::npos);
      }
    }
    return versions;
  }

  bool has_new_version(const FeedRow& row, const SessionLines& lines) {
    if (!new_here(row.log, lines).contains(row.entry_id)) {
      return false;
    }
    JsonParser parser;
    return std::ranges::any_of(lines.lines(), [&](const SessionLine& line) {
      const Result<JsonValue> entry = line.seq == 0 ? parser.parse(line.text) : JsonValue();
      return entry && entry_id(*entry) == row.entry_id;
    });
  }

  /// Whether the same version is here, and was redacted when it was not known that the hub has it,
  /// as before a mirror begins again. It goes out as a redaction.
  bool is_redacted_here(const FeedRow& row, const SessionLines& lines) {
    if (lines.has_new(*row.line)) {
      return false;
    }
    const NewVersions& versions = new_here(row.log, lines);
    const auto ours = versions.find(row.entry_id);
    if (ours == versions.end()) {
      return false;
    }
    JsonParser parser;
    const Result<JsonValue> entry = parser.parse(*row.line);
    return entry && std::ranges::find(ours->second, std::pair(entry_version_time(*entry), true)) !=
                        ours->second.end();
  }

  /// Whether the line was here, and has left in a way that the hub will hear of.
  Result<bool> has_gone_here(const FeedRow& row, const LineKey& key,
                             std::optional<bool> left_by_feed, const SessionLines& lines) {
    if (lines.has_new(*row.line)) {
      return false;
    }
    if (!gone_) {
      BMAD_TRY_ASSIGN(gone_, read_locally_gone(store_, session_id_));
    }
    // What left by a row of the feed comes back by one: it was undeleted. What the feed has as
    // evicted, and was deleted here since, stays deleted: to restore it elsewhere was no edit.
    const auto gone = gone_->lines.find(key);
    return is_purged_id(store_, gone_->purged, row.entry_id) ||
           (gone != gone_->lines.end() && (!left_by_feed || (gone->second && !*left_by_feed)));
  }

  Status redact(const FeedRow& row, SessionLines& lines) {
    if (!row.line) {
      return {};
    }
    const auto old = std::ranges::find(lines.lines(), row.target, &SessionLine::seq);
    if (old != lines.lines().end()) {
      CarriedLines carried(store_.origins->provenance(), session_id_);
      carried.add(row.log, old->text, *row.line);
      carried.settle();
      lines.replace(row.target, *row.line);
      return {};
    }
    const auto missing = std::ranges::find(lines.missing(), row.target, &FeedLine::seq);
    gone_.reset();
    if (mirror_.out.contains(row.target)) {
      BMAD_TRY(redact_out_line(store_, mirror_, row));
    } else if (missing != lines.missing().end()) {
      BMAD_TRY(redact_left_line(store_, session_id_, {row.log, missing->hash}, *row.line));
      lines.adopt(row.target, *row.line);
    }
    return {};
  }

  Status write(SessionWriter& writer, const FileLock::Guard& guard, EntryType type,
               const SessionLines& lines) {
    if (!lines.is_changed()) {
      return {};
    }
    has_changed_ = true;
    const std::string name(entry_type_info(type).log_file);
    const std::string path = session_file(session_id_, name);
    const std::string text = lines.text_to_write();
    if (const ProvenanceLog* const provenance = store_.origins->provenance()) {
      provenance->note_elsewhere(session_id_, type, text);
    }
    if (lines.is_rewritten()) {
      return replace_log(files_, path, text);
    }
    Result<AppendLog::Written> written = writer.append(guard, name, text);
    if (written) {
      return writer.settle(guard, name, *written);
    }
    if (written.error().code != ErrorCode::E_SIZE_LIMIT) {
      return written.error();
    }
    // The quota is of who writes: that one compacts, and what it evicts comes by the feed.
    BMAD_TRY_ASSIGN(const std::string all, read_if_there(files_, path, kLogSizeMax));
    return replace_log(files_, path, all + text);
  }

  Status merge_manifest(const FeedRow& row, OpenSession& session) {
    if (!row.line) {
      return {};
    }
    BMAD_TRY_ASSIGN(const Manifest ours, load_manifest(files_, session_id_));
    const std::string now = ours.text;
    BMAD_TRY_ASSIGN(
        const std::string merged,
        merge_manifests(mirror_.manifest.empty() ? "{}" : mirror_.manifest, now, *row.line));
    if (merged != now) {
      BMAD_TRY(replace_file(files_, manifest_path(session_id_), merged));
      session.manifest_known = false;
    }
    mirror_.manifest = *row.line;
    return {};
  }

  Status carry_out(FeedOp op, std::span<const FeedRow> rows) {
    for (const FeedRow& row : rows) {
      outcome_.operations += row.replica == replica_ ? 0 : 1;
    }
    // The user of another machine did this, not the one who runs the sync.
    const ActingAs person(Origin::kPerson);
    switch (op) {
      case FeedOp::kPurge:
        return purge(rows);
      case FeedOp::kSession:
        return delete_whole();
      default:
        return move_away(op, rows);
    }
  }

  /// Deletes or evicts the targets.
  Status move_away(FeedOp op, std::span<const FeedRow> rows) {
    std::unordered_set<std::uint64_t> targets;
    for (const FeedRow& row : rows) {
      targets.insert(row.target);
    }
    std::set<LineKey> evicted;  // To restore one, in bulk, is no edit.
    for (const auto& [seq, line] : mirror_.out) {
      if (op == FeedOp::kDelete && targets.contains(seq)) {
        evicted.emplace(line.log, line.hash);
      }
    }
    BMAD_TRY_ASSIGN(const bool is_there, is_there_now());
    if (is_there) {
      const FindLines find = [&] {
        return find_session_lines(files_, session_id_, mirror_,
                                  [&](EntryType type, const SessionLine& line) {
                                    return line.seq != 0 ? targets.contains(line.seq)
                                                         : evicted.contains({type, line.hash});
                                  });
      };
      BMAD_TRY(op == FeedOp::kDelete ? delete_lines(store_, session_id_, find, kDetail)
                                     : evict_lines(store_, session_id_, find, kDetail));
    }
    std::set<LineKey> keys;
    for (const std::uint64_t seq : targets) {
      if (const OutLine* const out = mirror_.put_out(seq, op == FeedOp::kDelete)) {
        keys.emplace(out->log, out->hash);
      }
    }
    gone_.reset();
    // What was deleted elsewhere must not come back from among the evicted here.
    return op == FeedOp::kDelete ? drop_evicted_lines(store_, session_id_, keys) : Status();
  }

  Status purge(std::span<const FeedRow> rows) {
    std::set<std::string, std::less<>> ids;
    for (const FeedRow& row : rows) {
      ids.insert(row.entry_id);
    }
    JsonParser parser;
    std::vector<std::uint64_t> gone;
    for (const EntryType type : kEntryTypes) {
      BMAD_TRY_ASSIGN(const SessionLines lines, read(type));
      for (const SessionLine& line : lines.lines()) {
        const Result<JsonValue> entry = parser.parse(line.text);
        if (line.seq != 0 && entry && ids.contains(entry_id(*entry))) {
          gone.push_back(line.seq);
        }
      }
    }
    const DeletionCriteria criteria{.ids = {ids.begin(), ids.end()}, .sessions = {session_id_}};
    Result<DeletionReport> purged = delete_entries(store_, criteria, {.purge = true});
    if (!purged && purged.error().code != ErrorCode::E_SESSION_NOT_FOUND) {
      return purged.error();
    }
    for (const FeedRow& row : rows) {
      gone.push_back(row.target);
    }
    for (const std::uint64_t seq : gone) {
      mirror_.take_out(seq);
      mirror_.out.erase(seq);
    }
    gone_.reset();
    return {};
  }

  /// Lines that are new here, of which the deletion did not know, become a session of the same id.
  Status delete_whole() {
    BMAD_TRY_ASSIGN(const bool is_there, is_there_now());
    BMAD_TRY_ASSIGN(
        const std::vector<LogLine> added,
        find_session_lines(files_, session_id_, mirror_,
                           [](EntryType, const SessionLine& line) { return line.seq == 0; }));
    if (!added.empty()) {
      const FindLines find = [&] {
        return find_session_lines(files_, session_id_, mirror_,
                                  [](EntryType, const SessionLine& line) { return line.seq != 0; });
      };
      BMAD_TRY(delete_lines(store_, session_id_, find, kDetail));
    } else if (is_there || is_archived(store_, session_id_)) {
      BMAD_TRY(delete_session(store_, session_id_, {.reason = kDetail}));
    }
    mirror_.leave();
    gone_.reset();
    return {};
  }

  Store& store_;
  FileSystem& files_;
  const std::string& session_id_;
  std::string_view replica_;
  FeedOutcome& outcome_;
  SessionMirror mirror_;
  std::span<const FeedRow> rows_;
  std::optional<LocallyGone> gone_;
  std::set<LineKey> back_;  // In logs again.
  std::map<EntryType, NewVersions> new_here_;
  bool has_changed_ = false;
};

}  // namespace

Status apply_rows(Store& store, const std::string& session_id, std::span<const FeedRow> rows,
                  std::string_view replica, FeedOutcome& outcome) {
  return SessionFeed(store, session_id, replica, outcome).apply(rows);
}

}  // namespace bmad_mem
