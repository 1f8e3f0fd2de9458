// hand_edits.cpp - lines that an editor changed: whose they are, and what waits for a review.
//
//   log ──> lines that no line hashes and no provenance log know ──> git brought them     from
//   elsewhere
//      └──> lines that the line hashes know and are gone      an agent at work    the agent's
//                                                       else                the person's: by hand
//
// The verdict goes to the provenance log, the log is recorded as it is, and what is to be reviewed
// waits (hand_review.cpp).
#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "lifecycle/repair.hpp"
#include "model/entry.hpp"
#include "repair_steps.hpp"
#include "store/append_log.hpp"
#include "store/layout.hpp"
#include "store/line_hashes.hpp"
#include "store/line_reader.hpp"
#include "store/sessions.hpp"

namespace bmad_mem {
namespace {

using Hashes = std::vector<std::uint32_t>;

constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::int64_t nanoseconds_of(Timestamp time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

/// Whether an agent's session was open when the file changed, or is now: its hooks began it, and
/// have reported no end and an event within a day.
bool is_agents_time(const Store& store, std::int64_t ctime_ns) {
  constexpr std::int64_t kDay = 86'400 * kNanoseconds;
  const std::int64_t now = nanoseconds_of(store.clock.now());
  const std::int64_t changed =
      ctime_ns + std::chrono::nanoseconds(system_clock_shift()).count();  // The system stamps it.
  const Result<std::vector<std::string>> sessions = store.session_ids();
  return sessions && std::ranges::any_of(*sessions, [&](const std::string& session_id) {
           const Result<Manifest> manifest = load_manifest(*store.files, session_id);
           if (!manifest || std::ranges::find(manifest->tags, "hook") == manifest->tags.end()) {
             return false;
           }
           const std::int64_t begin = nanoseconds_of(manifest->created_at);
           std::int64_t end = begin;
           for (const EntryType type : kEntryTypes) {
             const std::optional<LogStamp> stamp = read_stamp(*store.files, session_id, type);
             end = std::max(end, stamp ? stamp->log.mtime_ns : 0);
           }
           const bool is_open = !manifest->closed_at && now - end < kDay;
           end = manifest->closed_at ? nanoseconds_of(*manifest->closed_at) : end;
           return is_open || (begin <= changed && changed <= end);
         });
}

/// An agent's entry says so, and an edit does not make it a person's.
bool claims_agent(JsonValue entry) {
  const std::string_view kind = entry["source"]["kind"].string();
  return !entry["agent_id"].string().empty() || kind == "assistant" || kind == "tool";
}

/// A line of the file, and what is to become of it.
struct FileLine {
  std::string text;        ///< As it is in the file, without its '\n'.
  std::uint32_t hash = 0;  ///< As the line hashes have it, where it does.
  bool is_new = false;     ///< An entry that neither the line hashes nor the provenance log know.
  bool is_agents_claim = false;
};

/// A mark that git puts around what both sides of a merge have.
bool is_mark(std::string_view line) {
  constexpr std::size_t kSize = 7;
  return line.size() >= kSize && std::string_view("<|=>").contains(line.front()) &&
         line.find_first_not_of(line.front()) == (line.size() == kSize ? line.npos : kSize);
}

/// One log that is not as it was left.
class ChangedLog {
 public:
  ChangedLog(Store& store, std::string session_id, EntryType type, bool by_agent)
      : store_(store),
        session_id_(std::move(session_id)),
        type_(type),
        log_file_(entry_type_info(type).log_file),
        path_(session_file(session_id_, log_file_)),
        by_agent_(by_agent) {}

  /// `line_hashes` is the session's. Takes the lock only where there is something to record.
  Status look(const LineHashes& line_hashes) {
    BMAD_TRY_ASSIGN(const std::optional<FileInfo> info, if_there(store_.files->info(path_)));
    file_ = info ? *info : FileInfo{};
    const auto found = line_hashes.logs.find(log_file_);
    recorded_ = found == line_hashes.logs.end() ? LogHashes() : found->second;
    const std::optional<LogStamp> stamp = read_stamp(*store_.files, session_id_, type_);
    const bool is_as_left = is_as_recorded(recorded_) || (stamp && stamp->describes(file_));
    if (is_as_left || recorded_.is_damaged || (!info && recorded_.lines.empty())) {
      return {};
    }
    if (info) {
      BMAD_TRY_ASSIGN(bytes_, read_file(*store_.files, path_, kTextSizeMax));
    }
    divide();
    find_new_lines();
    find_differences();
    decide();
    return settle();
  }

 private:
  static constexpr std::uint64_t kTextSizeMax = 256U << 20U;

  [[nodiscard]] bool is_as_recorded(const LogHashes& line_hashes) const {
    return line_hashes.inode == file_.inode && line_hashes.bytes == file_.size &&
           line_hashes.mtime_ns == file_.mtime_ns && line_hashes.replaced_lines == 0;
  }

  /// What was recorded is ours, also with what an editor puts around it.
  void divide() {
    std::unordered_map<std::uint32_t, std::size_t> left;
    for (const std::uint32_t hash : recorded_.lines) {
      ++left[hash];
    }
    for_each_text_line(bytes_, [&](std::string_view text) {
      FileLine line{.text = std::string(text), .hash = line_hash(text), .is_new = true};
      const std::string_view bare = bare_line(text);
      for (const std::uint32_t hash :
           {line.hash, line_hash(bare), line_hash(fmt::format("{}\r", bare))}) {
        if (const auto found = left.find(hash); found != left.end() && found->second > 0) {
          --found->second;
          line.hash = hash;
          line.is_new = false;
          break;
        }
      }
      lines_.push_back(std::move(line));
    });
    for (const std::uint32_t hash : recorded_.lines) {
      if (std::size_t& count = left[hash]; count > 0) {
        --count;
        gone_.push_back(hash);
      }
    }
    // Each recorded line is in the file, or gone.
    assert(gone_.size() +
               static_cast<std::size_t>(std::ranges::count(lines_, false, &FileLine::is_new)) ==
           recorded_.lines.size());
  }

  /// Of the others those are new that are entries, or may become some, and have no record.
  void find_new_lines() {
    assert(store_.origins->provenance() != nullptr && "without one no edit is looked for");
    const ProvenanceLog& provenance = *store_.origins->provenance();
    JsonParser parser;
    std::vector<OriginQuery> queries;
    std::vector<FileLine*> asked;
    for (FileLine& line : lines_) {
      const std::string_view text = bare_line(line.text);
      const Result<JsonValue> entry =
          line.is_new ? parser.parse(text) : Result<JsonValue>(JsonValue());
      line.is_new = line.is_new && entry && entry->is_object() && !bmad_mem::is_encrypted(*entry);
      if (line.is_new && check_entry(type_, *entry)) {
        line.is_new = !store_.encryption->is_on() &&
                      completed_line(store_, session_id_, type_, text).has_value();
      } else if (line.is_new) {
        queries.push_back({.tag = provenance.line_tag(session_id_, *entry, text)});
        asked.push_back(&line);
      }
      line.is_agents_claim = line.is_new && claims_agent(*entry);
    }
    assert(queries.size() == asked.size());
    provenance.find(queries);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      asked[i]->is_new = !queries[i].is_known;
    }
  }

  void add(FindingKind kind, std::uint64_t line, std::uint32_t old = 0) {
    edits_.push_back({.place = {.kind = kind, .session_id = session_id_, .line = line},
                      .type = type_,
                      .old = old});
  }

  /// As compare_lines(), which pairs lines that are gone with new ones, in order.
  void find_differences() {
    Hashes now;
    std::ranges::transform(lines_, std::back_inserter(now), &FileLine::hash);
    std::size_t gone = 0;
    std::vector<bool> is_told(lines_.size() + 1);
    for (const LineDifference& each : compare_lines(recorded_.lines, now)) {
      for (std::uint64_t i = 0; i < each.count; ++i) {
        const bool is_lost = each.change == LineFate::kLost;
        const std::uint64_t line = each.line + (is_lost ? 0 : i);
        assert(is_lost || (line > 0 && line <= lines_.size()));
        const bool is_gone = is_lost || each.change == LineFate::kChanged;
        const std::uint32_t old = is_gone && gone < gone_.size() ? gone_[gone++] : 0;
        if (is_lost || (is_gone && !lines_[line - 1].is_new)) {
          add(FindingKind::kLostLine, line, old);
          continue;
        }
        is_told[line] = true;
        if (each.change == LineFate::kMoved || each.change == LineFate::kDoubled) {
          add(each.change == LineFate::kMoved ? FindingKind::kMovedLine : FindingKind::kDoubledLine,
              line);
        } else if (lines_[line - 1].is_new) {
          add(is_gone ? FindingKind::kChangedLine : FindingKind::kAddedLine, line, old);
        }
      }
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].is_new && !is_told[i + 1]) {
        add(FindingKind::kAddedLine, i + 1);
      }
    }
  }

  /// Whose the edits are. What git did is none.
  void decide() {
    const bool has_new = std::ranges::any_of(lines_, &FileLine::is_new);
    if (edits_.empty() && !has_new) {
      return;
    }
    GitLines git(*store_.files, path_);
    const bool is_agents = by_agent_ || is_agents_time(store_, file_.ctime_ns);
    for (HandEdit& edit : edits_) {
      edit.by_agent = is_agents;
    }
    std::erase_if(edits_, [&](const HandEdit& edit) {
      const std::uint64_t line = edit.place.line;
      if (edit.place.kind == FindingKind::kLostLine) {
        return is_lost_by_git(git, edit.old);
      }
      assert(line > 0 && line <= lines_.size());
      const std::uint32_t hash = line_hash(bare_line(lines_[line - 1].text));
      if (!lines_[line - 1].is_new) {
        return git.has_now(hash) && is_in_order_of(git) &&  // Of two lines either may have moved.
               std::ranges::none_of(lines_, [&](const FileLine& each) {
                 return is_removed_here(git, line_hash(bare_line(each.text)));
               });
      }
      if (git.brought(hash)) {
        origins_[line - 1] = Origin::kElsewhere;
        return true;
      }
      origins_[line - 1] = is_agents ? Origin::kAgent : origin_of_person(git, edit);
      return false;
    });
  }

  /// An edited line counts as much as the line before.
  [[nodiscard]] Origin origin_of_person(GitLines& git, const HandEdit& edit) const {
    const std::optional<std::string> old = edit.old == 0 ? std::nullopt : git.text_of(edit.old);
    if (old) {
      const Origin origin = store_.origins->origin_of(session_id_, *old);
      return origin == Origin::kAgent || origin == Origin::kElsewhere ? origin : Origin::kByHand;
    }
    return lines_[edit.place.line - 1].is_agents_claim ? Origin::kAgent : Origin::kByHand;
  }

  [[nodiscard]] bool is_removed_here(GitLines& git, std::uint32_t hash) const {
    return git.is_removed_here(hash, recorded_.mtime_ns / kNanoseconds);
  }

  /// A stash, a reset or another branch takes away all that the index does not have.
  [[nodiscard]] bool is_lost_by_git(GitLines& git, std::uint32_t old) const {
    if (git.is_removed_by_side(old)) {
      return true;
    }
    if (git.has_now(old) || is_removed_here(git, old) || !git.was_tracked()) {
      return false;
    }
    if (!git.is_tracked()) {
      return file_.inode == 0;  // It took the log away.
    }
    return std::ranges::none_of(lines_, [&](const FileLine& line) {
      return !line.is_new && !git.has_now(line_hash(bare_line(line.text))) &&
             std::ranges::find(recorded_.lines, line.hash) != recorded_.lines.end();
    });
  }

  [[nodiscard]] bool is_in_order_of(const GitLines& git) const {
    Hashes now;
    std::ranges::transform(lines_, std::back_inserter(now),
                           [](const FileLine& line) { return line_hash(bare_line(line.text)); });
    return begin_with(now, git.index());
  }

  /// The line as it is to be: without a mark that an editor puts before it, its secrets and gaps.
  [[nodiscard]] std::string mended(std::size_t index) const {
    const std::string_view line = lines_[index].text;
    const std::string_view bare = bare_line(line);
    const auto origin = origins_.find(index);
    JsonParser parser;
    RedactionCounts counts;
    const bool is_ours = origin != origins_.end() && origin->second != Origin::kElsewhere &&
                         !store_.encryption->is_on();
    const Result<JsonValue> entry = is_ours ? parser.parse(bare) : Result<JsonValue>(JsonValue());
    const bool is_good = entry && !check_entry(type_, *entry) &&
                         (store_.redaction == nullptr ||
                          !store_.redaction->redact_entry(*entry, bare, session_id_, counts));
    const std::optional<std::string> whole =
        is_ours && !is_good ? completed_line(store_, session_id_, type_, bare) : std::nullopt;
    return whole ? *whole : std::string(line.substr(line.find(bare)));
  }

  Status settle() {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store_.lock_session(session_id_, "review"));
    const Result<FileInfo> now = store_.files->info(path_);
    BMAD_TRY_ASSIGN(LineHashes line_hashes, load_line_hashes(*store_.files, session_id_));
    const auto found = line_hashes.logs.find(log_file_);
    const bool is_same =
        now ? now->same_file(file_) && now->size == file_.size && now->ctime_ns == file_.ctime_ns
            : file_.inode == 0;
    if (!is_same || (found != line_hashes.logs.end() && is_as_recorded(found->second))) {
      return {};  // Another process was quicker; or the next look sees it.
    }
    const bool is_conflict = std::ranges::any_of(lines_, is_mark, &FileLine::text);
    std::string text;
    for (std::size_t i = 0; i < lines_.size() && !is_conflict; ++i) {
      lines_[i].text = mended(i);
      assert(!lines_[i].text.contains('\n'));
      lines_[i].hash = line_hash(lines_[i].text);
      text += lines_[i].text + '\n';
    }
    for (const auto& [index, origin] : origins_) {
      const std::string_view line = bare_line(lines_[index].text);
      store_.origins->provenance()->note(session_id_, type_, {&line, 1}, origin);
    }
    if (is_conflict) {  // What is gone or moved shows once the merge is done.
      std::erase_if(edits_, [&](const HandEdit& edit) {
        return edit.place.kind == FindingKind::kLostLine || !lines_[edit.place.line - 1].is_new;
      });
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        if (is_mark(lines_[i].text)) {  // When it goes it cancels out, though a write recorded it.
          add(FindingKind::kAddedLine, i + 1);
        }
      }
      return keep();
    }
    if (!bytes_.empty() && !bytes_.ends_with('\n') && !is_last_whole()) {
      text.pop_back();  // The next write sets it aside.
    }
    if (text != bytes_) {
      BMAD_TRY(replace_log(*store_.files, path_, text));
    }
    BMAD_TRY(hash_as_it_is(*store_.files, session_id_, log_file_));
    return keep();
  }

  [[nodiscard]] bool is_last_whole() const {
    assert(!lines_.empty());
    const ParsedJson entry(bare_line(lines_.back().text));
    return entry && !check_entry(type_, *entry);
  }

  Status keep() {
    JsonParser parser;
    for (HandEdit& edit : edits_) {
      if (edit.place.kind == FindingKind::kLostLine) {
        continue;
      }
      const FileLine& line = lines_[edit.place.line - 1];
      edit.hash = line.hash;
      edit.id = entry_id_in(parser, bare_line(line.text));
    }
    return store_.origins->change_state(RootOrigins::kHandName, [&](const std::string& text) {
      std::vector<HandEdit> all = read_edits(text);
      join(all);
      return to_text(all);
    });
  }

  [[nodiscard]] bool is_there(std::uint32_t hash) const {
    return std::ranges::find(lines_, hash, &FileLine::hash) != lines_.end();
  }

  /// Adds the edits to those that wait: two edits of a line are one.
  void join(std::vector<HandEdit>& all) {
    const auto is_here = [&](const HandEdit& edit) {
      return edit.place.session_id == session_id_ && edit.type == type_;
    };
    for (HandEdit edit : edits_) {
      const auto before = std::ranges::find_if(all, [&](const HandEdit& each) {
        return is_here(each) && each.hash != 0 &&
               each.hash == (edit.old == 0 ? edit.hash : edit.old);
      });
      if (before != all.end()) {
        const bool was_added = before->place.kind == FindingKind::kAddedLine;
        edit.old = before->old;
        all.erase(before);
        if (was_added && edit.place.kind == FindingKind::kLostLine) {
          continue;
        }
        edit.place.kind = was_added ? FindingKind::kAddedLine : edit.place.kind;
      }
      all.push_back(std::move(edit));
    }
    std::erase_if(all, [&](const HandEdit& edit) {
      return is_here(edit) && edit.place.kind == FindingKind::kLostLine && is_there(edit.old);
    });
  }

  Store& store_;
  std::string session_id_;
  EntryType type_;
  std::string log_file_;
  std::string path_;
  bool by_agent_;
  FileInfo file_;
  LogHashes recorded_;
  std::string bytes_;
  std::vector<FileLine> lines_;
  Hashes gone_;  // In the order of the record.
  std::vector<HandEdit> edits_;
  std::map<std::size_t, Origin> origins_;  // Of new lines, by index.
};

}  // namespace

Status look_for_hand_edits(Store& store, HandLook look) {
  if (store.origins->provenance() == nullptr || store.why_read_only) {
    return {};
  }
  constexpr std::int64_t kSlack = 2 * kNanoseconds;  // Kernels and disks have other clocks.
  const std::int64_t begin =
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::int64_t since = look == HandLook::kAll ? 0 : store.origins->last_look_ns();
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.session_ids());
  for (const std::string& session_id : sessions) {
    std::optional<LineHashes> line_hashes;
    const Result<FileInfo> folder = store.files->info(session_folder(session_id));
    for (const EntryType type : kEntryTypes) {
      const Result<FileInfo> file = store.files->info(log_path(session_id, type));
      const bool is_new = file ? file->ctime_ns >= since : folder && folder->ctime_ns >= since;
      if (is_new && !line_hashes && store.files->info(line_hashes_path(session_id))) {
        line_hashes = load_line_hashes(*store.files, session_id).value_or(LineHashes());
      }
      if (is_new && line_hashes) {  // What can't be read, verify names.
        static_cast<void>(ChangedLog(store, session_id, type, look == HandLook::kChangedByAgent)
                              .look(*line_hashes));
      }
    }
  }
  store.origins->note_look(begin - kSlack);
  return {};
}

void look_before_append(Store& store, const std::string& session_id, EntryType type) {
  const Result<FileInfo> file = store.files->info(log_path(session_id, type));
  const std::optional<LogStamp> stamp = read_stamp(*store.files, session_id, type);
  if (!file || file->size == 0 || store.origins->provenance() == nullptr ||
      (stamp && stamp->describes(*file)) || !store.files->info(line_hashes_path(session_id))) {
    return;
  }
  const Result<LineHashes> line_hashes = load_line_hashes(*store.files, session_id);
  const bool is_agent = ActingAs::current(store.writes_as) == Origin::kAgent;
  if (line_hashes) {
    static_cast<void>(ChangedLog(store, session_id, type, is_agent).look(*line_hashes));
  }
}

}  // namespace bmad_mem
