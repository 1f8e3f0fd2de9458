// session_changes.cpp - collects what is new in a session, as rows for the hub.
#include <algorithm>
#include <cassert>
#include <map>
#include <ranges>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "search/archive_reader.hpp"
#include "session_feed.hpp"
#include "store/deletion_record.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"

namespace bmad_mem {
namespace {

/// The manifest as other machines have to know it: what is derived is each one's own.
std::string shared_manifest(Manifest manifest) {
  manifest.totals = {};
  manifest.updated_at = manifest.created_at;
  return manifest.to_text();
}

/// Whether the free metadata of the session say that it stays here: `session set` writes a text.
bool is_local(const Manifest& manifest) {
  JsonParser parser;
  const std::string metadata = manifest.free_metadata();
  const Result<JsonValue> value =
      metadata.empty() ? Result<JsonValue>(JsonValue()) : parser.parse(metadata);
  const JsonValue local = value ? (*value)["local"] : JsonValue();
  return local.boolean() || local.string() == "true";
}

class Collection {
 public:
  Collection(Store& store, Hub& hub, const WriteRedaction& redaction, const SessionMirror& mirror,
             bool dry_run)
      : store_(store),
        files_(*store.files),
        hub_(hub),
        redaction_(redaction),
        mirror_(mirror),
        dry_run_(dry_run) {}

  /// Of a session that was deleted as a whole: what was purged or redacted since.
  Result<SessionChanges> run_deleted() {
    for (const EntryType type : kEntryTypes) {
      logs_.emplace(type, SessionLines());
    }
    BMAD_TRY(explain_missing());
    return std::move(changes_);
  }

  Result<SessionChanges> run() {
    if (!check_session(store_, mirror_.session_id)) {
      BMAD_TRY_ASSIGN(archive_, archive_files(store_, mirror_.session_id));
    }
    FileSystem& logs = archive_ == nullptr ? files_ : *archive_;
    BMAD_TRY_ASSIGN(const Manifest manifest, load_manifest(logs, mirror_.session_id));
    is_local_ = is_local(manifest);
    if (is_local_ && mirror_.seq == 0) {
      BMAD_TRY(count_local(logs));
      return std::move(changes_);
    }
    add_manifest(manifest);
    for (const EntryType type : kEntryTypes) {
      BMAD_TRY_ASSIGN(SessionLines lines,
                      SessionLines::read(logs, mirror_.session_id, type,
                                         mirror_.logs.at(static_cast<std::size_t>(type))));
      logs_.emplace(type, std::move(lines));
    }
    BMAD_TRY(explain_missing());
    for (const EntryType type : kEntryTypes) {
      BMAD_TRY(add_lines(type));
    }
    return std::move(changes_);
  }

 private:
  Status count_local(FileSystem& logs) {
    for (const EntryType type : kEntryTypes) {
      BMAD_TRY_ASSIGN(const SessionLines lines,
                      SessionLines::read(logs, mirror_.session_id, type, {}));
      changes_.held.local += lines.lines().size();
    }
    return {};
  }

  FeedRow& add_row(FeedOp op, EntryType log = EntryType::kConversation) {
    return changes_.rows.emplace_back(
        FeedRow{.op = op, .session_id = mirror_.session_id, .log = log});
  }

  void add_manifest(const Manifest& manifest) {
    std::string text = shared_manifest(manifest);
    if (text == mirror_.manifest) {
      return;
    }
    const Result<JsonValue> value = parser_.parse(text);
    RedactionCounts counts;
    if (value && redaction_.redact_entry(*value, text, mirror_.session_id, counts)) {
      ++changes_.held.secrets;
      if (!mirror_.manifest.empty()) {
        return;
      }
      // What people wrote stays here; that there is a session, the hub has to know.
      text = shared_manifest(new_manifest({.session_id = mirror_.session_id}, manifest.created_at));
    }
    add_row(FeedOp::kManifest).line = std::move(text);
  }

  void add_target(FeedOp op, EntryType log, std::uint64_t seq, std::string_view id = {}) {
    FeedRow& row = add_row(op, log);
    row.target = seq;
    row.entry_id = id;
  }

  /// `row` became `line` here: it was redacted, or encrypted, which is this machine's affair.
  void add_change(EntryType type, const FeedRow& row, std::string_view line) {
    const Result<JsonValue> entry = parser_.parse(line);
    if (entry && is_encrypted(*entry)) {
      ++changes_.held.encrypted;
    } else {
      add_redaction(type, row, line);
    }
  }

  /// `row` became `line` here, which stays here with a secret in it: somebody may have written one.
  void add_redaction(EntryType type, const FeedRow& row, std::string_view line) {
    const Result<JsonValue> entry = parser_.parse(line);
    RedactionCounts counts;
    if (!entry || redaction_.redact_entry(*entry, line, mirror_.session_id, counts)) {
      ++(entry ? changes_.held.secrets : changes_.held.damaged);
      return;
    }
    add_target(FeedOp::kRedact, type, row.seq, row.entry_id);
    changes_.rows.back().line = line;
  }

  /// What the hub has and the logs have not. After they were read: what was recorded later may
  /// still be in them, never the other way round.
  Status explain_missing() {
    assert(logs_.size() == kEntryTypeCount && "all logs were read");
    BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(files_, mirror_.session_id));
    purged_ = record.purged_ids;
    add_ids(purged_, record.purging);
    BMAD_TRY(read_left());
    std::map<std::uint64_t, EntryType> asked;  // Whose line the hub has to say.
    for (const auto& [type, lines] : logs_) {
      for (const FeedLine& line : lines.missing()) {
        const LeftLine* const left = left_line(type, line.hash);
        if (left == nullptr && !moved(lines, line.hash)) {
          asked.emplace(line.seq, type);
        } else {
          add_target(left == nullptr ? FeedOp::kDelete : left->left_by, type, line.seq);
        }
      }
    }
    for (const auto& [seq, line] : mirror_.out) {
      const LeftLine* const left = left_line(line.log, line.hash);
      if (left == nullptr && (!purged_.empty() || !redacted_.empty())) {
        asked.emplace(seq, line.log);
      } else if (left != nullptr && left->left_by == FeedOp::kDelete && !line.is_deleted) {
        add_target(FeedOp::kDelete, line.log, seq);  // It was among the evicted.
      }
    }
    return asked.empty() ? Status() : explain_asked(asked);
  }

  /// Which of the lines that left are as the hub never had them: they were redacted since.
  Status read_left() {
    BMAD_TRY_ASSIGN(left_, read_left_lines(store_, mirror_.session_id));
    if (left_.empty()) {
      return {};
    }
    std::set<LineKey> known;
    for (const auto& [seq, line] : mirror_.out) {
      known.emplace(line.log, line.hash);
    }
    for (const EntryType type : kEntryTypes) {
      for (const FeedLine& line : mirror_.logs.at(static_cast<std::size_t>(type))) {
        known.emplace(type, line.hash);
      }
    }
    for (const LeftLine& line : left_) {
      left_by_key_.emplace(line.key(), &line);  // Of two, the deleted one.
      if (!known.contains(line.key())) {
        redacted_.push_back(&line);
      }
    }
    return {};
  }

  [[nodiscard]] const LeftLine* left_line(EntryType type, std::uint64_t hash) const {
    const auto found = left_by_key_.find({type, hash});
    return found == left_by_key_.end() ? nullptr : found->second;
  }

  /// What has become of `row`, which left its log and was redacted there; each is given once.
  const LeftLine* take_redacted(EntryType type, const FeedRow& row) {
    assert(row.line && "the text of a purged row is empty");
    if (moved(logs_.at(type), xxh3(*row.line))) {
      return nullptr;  // It was brought back.
    }
    for (const LeftLine*& line : redacted_) {
      const bool is_here = line != nullptr && line->type == type;
      const Result<JsonValue> entry = is_here ? parser_.parse(line->line) : JsonValue();
      if (is_here && entry && entry_id(*entry) == row.entry_id) {
        return std::exchange(line, nullptr);
      }
    }
    return nullptr;
  }

  /// Whether a line that is missing in its place is there as a new one: deleted and brought back.
  static bool moved(const SessionLines& lines, std::uint64_t hash) {
    return std::ranges::any_of(
        lines.lines(), [&](const SessionLine& line) { return line.seq == 0 && line.hash == hash; });
  }

  /// Purged, redacted, or gone without a trace: the hub still has the lines.
  Status explain_asked(const std::map<std::uint64_t, EntryType>& asked) {
    const auto seqs = std::views::keys(asked);
    BMAD_TRY_ASSIGN(const std::vector<FeedRow> rows,
                    hub_.rows(std::vector(seqs.begin(), seqs.end())));
    std::set<std::string, std::less<>> redacted;  // Texts that a row carries already.
    for (const FeedRow& row : rows) {
      const auto found = asked.find(row.seq);
      if (found == asked.end() || !row.line) {
        continue;  // Not asked for, or purged by another replica: that comes with the feed.
      }
      const EntryType type = found->second;
      if (is_purged_id(store_, purged_, row.entry_id)) {
        add_target(FeedOp::kPurge, type, row.seq, row.entry_id);
      } else if (const LeftLine* const left = take_redacted(type, row)) {
        add_redaction(type, row, left->line);
        if (!mirror_.out.contains(row.seq)) {
          add_target(left->left_by, type, row.seq);
        }
      } else if (mirror_.out.contains(row.seq)) {
        continue;  // It left all logs, and may have come back as another row.
      } else if (const SessionLine* line = in_its_place(type, row, redacted)) {
        add_change(type, row, line->text);
        redacted.emplace(line->text);
        replaced_.insert(line);
      } else {
        changes_.lost.push_back({.seq = row.seq, .hash = xxh3(*row.line)});
      }
    }
    return {};
  }

  /// A new line with the id of `row`, between the lines that stood around it.
  const SessionLine* in_its_place(EntryType type, const FeedRow& row,
                                  const std::set<std::string, std::less<>>& taken) {
    std::uint64_t before = 0;
    for (const SessionLine& line : logs_.at(type).lines()) {
      if (line.seq != 0) {
        before = line.seq;
        continue;
      }
      const bool is_here = before < row.seq && !taken.contains(line.text);
      const Result<JsonValue> entry = is_here ? parser_.parse(line.text) : JsonValue();
      if (is_here && entry && entry_id(*entry) == row.entry_id) {
        return &line;
      }
    }
    return nullptr;
  }

  Status add_lines(EntryType type) {
    std::unordered_map<std::string, const SessionLine*> at_hub;  // The last version, by id.
    const SessionLines& lines = logs_.at(type);
    if (std::ranges::all_of(lines.lines(), [](const auto& line) { return line.seq != 0; })) {
      return {};
    }
    for (const SessionLine& line : lines.lines()) {
      if (line.seq != 0) {
        at_hub[entry_id_in(parser_, line.text)] = &line;
      }
    }
    std::map<std::string, Timestamp> ours;  // Of the last new version, by id.
    for (const SessionLine& line : lines.lines()) {
      if (line.seq != 0 || replaced_.contains(&line)) {
        continue;
      }
      const Result<JsonValue> entry = parser_.parse(line.text);
      if (!entry || is_held(type, *entry, line.text)) {
        changes_.held.damaged += entry ? 0 : 1;
        continue;
      }
      FeedRow& row = add_row(FeedOp::kLine, type);
      row.entry_id = entry_id(*entry);
      row.line = line.text;
      const Timestamp written_at = entry_version_time(*entry);
      changes_.oldest = std::min(changes_.oldest.value_or(written_at), written_at);
      if (at_hub.contains(row.entry_id)) {
        changes_.has_versions = true;
        ours[row.entry_id] = written_at;
      }
    }
    std::string again;
    for (const auto& [id, time] : ours) {
      const std::string_view theirs = at_hub.at(id)->text;
      const Result<JsonValue> entry = parser_.parse(theirs);
      if (entry && entry_version_time(*entry) > time) {
        changes_.conflicts.push_back(id);
        FeedRow& row = add_row(FeedOp::kLine, type);
        row.entry_id = id;
        row.line = theirs;
        again.append(theirs).append("\n");
      }
    }
    return say_again(type, again);
  }

  /// The last line wins, and that has to be the newest. Once there, it is a new version of ours.
  Status say_again(EntryType type, const std::string& lines) {
    if (lines.empty() || dry_run_ || archive_ != nullptr) {
      return {};
    }
    assert(lines.ends_with('\n'));
    const std::string name(entry_type_info(type).log_file);
    SessionWriter& writer = store_.session(mirror_.session_id)->writer;
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, writer.lock("sync"));
    BMAD_TRY_ASSIGN(const AppendLog::Written written, writer.append(guard, name, lines));
    return writer.settle(guard, name, written);
  }

  /// Whether a new line stays here; counts it.
  bool is_held(EntryType type, JsonValue entry, std::string_view text) {
    const auto held = [](std::uint64_t& count) {
      ++count;
      return true;
    };
    if (is_local_) {
      return held(changes_.held.local);
    }
    if (is_encrypted(entry)) {
      return held(changes_.held.encrypted);
    }
    if (check_entry(type, entry)) {
      return held(changes_.held.damaged);
    }
    if (is_purged_id(store_, purged_, entry_id(entry))) {
      return held(changes_.held.purged);
    }
    const bool is_private =
        entry[kSensitiveField].boolean() || entry[kOutsideWorkspaceField].boolean();
    if (is_private && !store_.config.hub.push_sensitive) {
      return held(changes_.held.sensitive);
    }
    RedactionCounts counts;
    if (redaction_.redact_entry(entry, text, mirror_.session_id, counts)) {
      return held(changes_.held.secrets);
    }
    return false;
  }

  Store& store_;
  FileSystem& files_;
  Hub& hub_;
  const WriteRedaction& redaction_;
  const SessionMirror& mirror_;
  bool dry_run_;
  SessionChanges changes_;
  std::shared_ptr<FileSystem> archive_;  // Of an archived session: its logs.
  std::vector<std::string> purged_;
  std::vector<LeftLine> left_;
  std::map<LineKey, const LeftLine*> left_by_key_;
  std::vector<const LeftLine*> redacted_;  // Of left_.
  std::map<EntryType, SessionLines> logs_;
  std::set<const SessionLine*> replaced_;  // Sent as redactions.
  JsonParser parser_;
  bool is_local_ = false;
};

}  // namespace

Result<SessionDigests> SessionDigests::look(const Store& store) {
  SessionDigests digests(store);
  BMAD_TRY_ASSIGN(digests.deleted_, list_if_there(*store.files, kDeletedFolder));
  BMAD_TRY_ASSIGN(digests.archived_, list_if_there(*store.files, kArchiveFolder));
  return digests;
}

Result<std::uint64_t> SessionDigests::of(const std::string& session_id) const {
  std::vector<std::string> paths = {manifest_path(session_id)};
  for (const std::string& name : log_files()) {
    paths.push_back(session_file(session_id, name));
  }
  if (std::ranges::binary_search(deleted_, session_id)) {
    paths.push_back(deletion_record_path(session_id));
    paths.push_back(deleted_entries_path(session_id));
    BMAD_TRY_ASSIGN(const bool is_there, is_session_there(*store_.files, session_id));
    if (!is_there) {
      BMAD_TRY_ASSIGN(const std::vector<DeletedLog> logs, deleted_logs(*store_.files, session_id));
      std::ranges::transform(logs, std::back_inserter(paths), &DeletedLog::path);
    }
  }
  std::vector<std::string> others = {archive_path(session_id)};
  BMAD_TRY_ASSIGN(const std::uint32_t parts, evicted_parts(*store_.files, session_id));
  for (std::uint32_t part = 1; part <= parts; ++part) {
    others.push_back(evicted_path(session_id, part));
  }
  for (std::string& path : others) {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (std::ranges::binary_search(archived_, name)) {
      paths.push_back(std::move(path));
    }
  }
  std::string text = fmt::format("{}", store_.config.hub.push_sensitive);
  for (const std::string& path : paths) {
    const Result<FileInfo> info = store_.files->info(path);
    if (!info && !is_not_found(info.error())) {
      return info.error();
    }
    text += info ? fmt::format("|{} {} {}", info->inode, info->size, info->mtime_ns) : "|";
  }
  return xxh3(text);
}

Result<SessionChanges> collect_changes(Store& store, Hub& hub, const WriteRedaction& redaction,
                                       const SessionMirror& mirror, bool dry_run) {
  Collection collection(store, hub, redaction, mirror, dry_run);
  const bool is_there =
      check_session(store, mirror.session_id) || is_archived(store, mirror.session_id);
  return is_there ? collection.run() : collection.run_deleted();
}

Error lost_lines(const Store& store, const std::string& session_id,
                 const std::vector<FeedLine>& lost) {
  assert(!lost.empty());
  return path_error(
      ErrorCode::E_STORAGE_CORRUPT, store.files->display_path(session_folder(session_id)),
      fmt::format(
          "{} line{} that the hub has left the logs, and no record says why; nothing of this "
          "session is pushed. `bmad-mem hub reclone {}` takes them from the hub; to delete "
          "entries, use `bmad-mem delete`",
          lost.size(), lost.size() == 1 ? "" : "s", session_id));
}

}  // namespace bmad_mem
