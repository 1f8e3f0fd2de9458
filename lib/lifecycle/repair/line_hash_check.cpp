// line_hash_check.cpp - compares logs with their records, and records logs as they are; and which
// encrypted entries are gone, or older than they were, and nothing says why.
#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "model/entry.hpp"
#include "repair_steps.hpp"
#include "search/session_sources.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/line_hashes.hpp"
#include "store/line_reader.hpp"
#include "store/return_lines.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

using Hashes = std::vector<std::uint32_t>;

bool ends_with(std::span<const std::uint32_t> lines, std::span<const std::uint32_t> end) {
  return end.size() <= lines.size() && std::ranges::equal(lines.last(end.size()), end);
}

/// Those of `lines` that git does not have.
Hashes own_lines(std::span<const std::uint32_t> lines, Hashes in_git) {
  std::ranges::sort(in_git);
  Hashes own;
  std::ranges::remove_copy_if(lines, std::back_inserter(own), [&](std::uint32_t line) {
    return std::ranges::binary_search(in_git, line);
  });
  return own;
}

/// Whether git has put the file there, and what stands behind its lines is ours:
///
///   lines:  [ what git has ... | back | since ]
///   back:   nothing, or what was recorded before the file was replaced and is nowhere in git, as
///           after `git stash pop`
///   since:  what was recorded since the file was replaced and git does not have
bool is_from_git(const LogHashes& line_hashes, std::span<const std::uint32_t> lines,
                 const Hashes& git, const std::function<Hashes()>& history) {
  if (!begin_with(lines, git)) {
    return false;
  }
  const std::span<const std::uint32_t> recorded(line_hashes.lines);
  const std::size_t replaced =
      line_hashes.replaced_lines == 0 ? recorded.size() : line_hashes.replaced_lines;
  assert(replaced <= recorded.size() && "load_line_hashes() bounds it");
  const Hashes since = own_lines(recorded.subspan(replaced), git);
  const std::span<const std::uint32_t> rest = lines.subspan(git.size());
  if (rest.empty()) {
    return true;
  }
  if (!ends_with(rest, since)) {
    return false;
  }
  const std::span<const std::uint32_t> back = rest.first(rest.size() - since.size());
  const Hashes before = own_lines(recorded.first(replaced), git);
  if (back.empty() || std::ranges::equal(back, before)) {
    return true;
  }
  // Lines of other branches are not missed here.
  return std::ranges::equal(back, own_lines(before, history()));
}

FindingKind kind_of(LineFate fate) { return kLineFindings.at(static_cast<std::size_t>(fate)); }

std::string reason_of(const LineDifference& difference, bool is_damage) {
  return line_reason(kind_of(difference.change), difference.line, difference.count) +
         (is_damage ? ", and the file was not changed since: restore it from git or a "
                      "backup, or keep it with `bmad-mem repair --accept`"
                    : "");
}

/// One log against its record.
class LogCheck {
 public:
  LogCheck(const Store& store, const std::string& session_id, const std::string& log_file)
      : store_(store),
        session_id_(session_id),
        log_file_(log_file),
        path_(session_file(session_id, log_file)) {}

  /// Both are looked at without a lock, so a difference counts when neither has changed meanwhile.
  void run(LineHashCheck& check) {
    constexpr int kTries = 4;
    for (int i = 0; i < kTries; ++i) {
      const Result<bool> differs = compare();
      if (!differs || !*differs) {
        return;
      }
      if (is_unchanged()) {
        report(check);
        return;
      }
    }
  }

 private:
  Result<bool> compare() {
    const std::string hashes_file = line_hashes_path(session_id_);
    BMAD_TRY_ASSIGN(hashes_file_, store_.files->info(hashes_file));
    BMAD_TRY_ASSIGN(const LineHashes line_hashes, load_line_hashes(*store_.files, session_id_));
    const auto found = line_hashes.logs.find(log_file_);
    if (found == line_hashes.logs.end()) {
      return false;
    }
    line_hashes_ = found->second;
    BMAD_TRY_ASSIGN(auto log, if_there(store_.files->open(path_, OpenMode::kRead)));
    file_ = {};
    lines_.clear();
    if (log) {
      BMAD_TRY_ASSIGN(file_, (*log)->info());
      BMAD_TRY_ASSIGN(lines_, hash_lines(**log, 0, file_.size));
    }
    differences_ = compare_lines(line_hashes_.lines, lines_);
    return !differences_.empty();
  }

  [[nodiscard]] bool is_unchanged() const {
    const Result<FileInfo> hashes_file = store_.files->info(line_hashes_path(session_id_));
    const Result<FileInfo> file = store_.files->info(path_);
    const bool is_same_log = file ? file->same_file(file_) : file_.inode == 0;
    return is_same_log && hashes_file && hashes_file->is_unchanged(hashes_file_);
  }

  [[nodiscard]] bool is_work_of_git() const {
    GitLines git(*store_.files, path_);
    // It has the lines of its index: none, when it only knows the file from another commit and has
    // taken it away. A file that it knows and that is not there another program has removed.
    const bool is_known = git.is_tracked() ? file_.inode != 0 : git.was_tracked();
    return is_known &&
           is_from_git(line_hashes_, lines_, git.index(), [&] { return git.history(); });
  }

  void report(LineHashCheck& check) {
    assert(!differences_.empty());
    const bool is_proven = line_hashes_.replaced_lines == 0 && file_.inode == line_hashes_.inode &&
                           file_.mtime_ns == line_hashes_.mtime_ns;
    if (!is_proven && !line_hashes_.is_damaged && is_work_of_git()) {
      return;
    }
    const bool is_damage = is_proven || line_hashes_.is_damaged;
    std::vector<Finding>& findings = is_damage ? check.damage : check.changes;
    for (const LineDifference& difference : differences_) {
      findings.push_back({.kind = kind_of(difference.change),
                          .session_id = session_id_,
                          .path = store_.files->display_path(path_),
                          .line = difference.line,
                          .reason = reason_of(difference, is_damage)});
    }
  }

  const Store& store_;
  const std::string& session_id_;
  const std::string& log_file_;
  std::string path_;
  LogHashes line_hashes_;
  FileInfo hashes_file_;
  FileInfo file_;
  Hashes lines_;
  std::vector<LineDifference> differences_;
};

/// The newest versions of the entries in `head`, in clear or not, and of other encrypted ones: of
/// the sessions `wanted`, or all, wherever they are. Errors: as session_sources().
Result<EncryptedHead> newest_versions(const Store& store, std::span<const std::string> wanted,
                                      const EncryptedHead& head) {
  EncryptedHead newest;
  BMAD_TRY_ASSIGN(std::vector<SessionSource> sources, evicted_sources(store, wanted));
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> sessions, session_sources(store, wanted));
  std::ranges::copy(sessions, std::back_inserter(sources));
  for (const SessionSource& source : sources) {
    BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, source.files(store));
    const auto take = [&](const ScannedEntry& entry) {
      const std::tuple key{source.session_id, entry.type, std::string(entry_id(entry.value))};
      if (is_encrypted(entry.value) || head.contains(key)) {
        Timestamp& at = newest[key];
        at = std::max(at, entry_written_time(entry.value));
      }
    };
    BMAD_TRY(scan_logs(*files, session_folder(source.session_id),
                       {.on_entry = take, .on_encrypted = take}));
  }
  return newest;
}

/// What was removed from sessions by a command, here or where the audit log comes from.
class Removals {
  static constexpr std::string_view kRemovals[] = {"delete", "purge", "compact"};

 public:
  explicit Removals(const Store& store) : store_(store) {}

  /// Of a version of `at`.
  bool name(const std::string& session_id, const std::string& id, Timestamp at) {
    assert(is_session_id(session_id) && "parse_head() skips others");
    if (session_id_ != session_id) {
      session_id_ = session_id;
      gone_ = gone_entries(store_, session_id, /*with_sessions=*/true).value_or(GoneEntries());
      audit_ = read_audit(*store_.files, session_id).value_or(std::vector<AuditRecord>());
    }
    return gone_.hold(id) || gone_.session_until ||
           std::ranges::any_of(audit_, [&](const AuditRecord& record) {
             return record.at >= at && is_among(kRemovals, record.action) &&
                    (record.ids.empty() || record.ids.size() >= kAuditIdsMax ||
                     is_among(record.ids, id));
           });
  }

 private:
  const Store& store_;
  std::string session_id_;
  GoneEntries gone_;
  std::vector<AuditRecord> audit_;
};

/// What `text` says of the sessions `wanted`, or of all. Damaged lines are skipped.
EncryptedHead parse_head(std::string_view text, std::span<const std::string> wanted) {
  EncryptedHead head;
  JsonParser parser;
  for_each_text_line(text, [&](std::string_view line) {
    const JsonValue value = parser.parse(line).value_or(JsonValue());
    const auto type = try_parse_entry_type(value["type"].string());
    const auto at = try_parse_rfc3339(value["at"].string());
    std::string session(value["session"].string());
    if (type && at && is_session_id(session) && (wanted.empty() || is_among(wanted, session))) {
      Timestamp& newest = head[{std::move(session), *type, std::string(entry_id(value))}];
      newest = std::max(newest, *at);
    }
  });
  return head;
}

}  // namespace

std::string line_reason(FindingKind kind, std::uint64_t line, std::uint64_t count) {
  assert(count > 0);
  const bool one = count == 1;
  const std::string lines = one ? "this line" : fmt::format("{} lines from here on", count);
  switch (kind) {
    case FindingKind::kChangedLine:
      return fmt::format("{} {} not what was written", lines, one ? "is" : "are");
    case FindingKind::kLostLine:
      return fmt::format("{} {} {} gone", one ? "a line" : fmt::format("{} lines", count),
                         line == 0 ? "at the start" : "behind this line", one ? "is" : "are");
    case FindingKind::kAddedLine:
      return fmt::format("{} {} not written by bmad-mem", lines, one ? "was" : "were");
    case FindingKind::kDoubledLine:
      return fmt::format("{} {} there already", lines, one ? "is" : "are");
    default:
      return fmt::format("{} {} at another place when written", lines, one ? "was" : "were");
  }
}

LineHashCheck check_line_hashes(const Store& store, const std::string& session_id) {
  LineHashCheck check;
  if (!store.files->info(line_hashes_path(session_id)) ||
      !store.files->info(manifest_path(session_id))) {
    return check;
  }
  for (const std::string& log_file : log_files()) {
    LogCheck(store, session_id, log_file).run(check);
  }
  return check;
}

std::string line_hash_notice(const LineHashCheck& check) {
  const std::size_t count = check.damage.size() + check.changes.size();
  if (count == 0) {
    return {};
  }
  const Finding& first = check.damage.empty() ? check.changes.front() : check.damage.front();
  return fmt::format("{} not as written, first {}:{}; `bmad-mem verify --hashes` shows {}",
                     count == 1 ? "1 place is" : fmt::format("{} places are", count), first.path,
                     std::max<std::uint64_t>(first.line, 1), count == 1 ? "it" : "all");
}

bool is_recorded(const Store& store, const std::string& session_id) {
  if (!store.files->info(manifest_path(session_id))) {
    return true;
  }
  const Result<LineHashes> line_hashes = load_line_hashes(*store.files, session_id);
  return line_hashes && std::ranges::all_of(log_files(), [&](const std::string& log_file) {
           const Result<FileInfo> file = store.files->info(session_file(session_id, log_file));
           const auto found = line_hashes->logs.find(log_file);
           if (found == line_hashes->logs.end()) {
             return !file || file->size == 0;
           }
           return file && file->size == found->second.bytes && file->inode == found->second.inode &&
                  file->mtime_ns == found->second.mtime_ns;
         });
}

Status hash_session(const Store& store, const std::string& session_id, bool accept) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(LineHashes line_hashes, load_line_hashes(files, session_id));
  for (const std::string& log_file : log_files()) {
    const std::string path = session_file(session_id, log_file);
    const Result<std::unique_ptr<File>> log = files.open(path, OpenMode::kRead);
    if (!log) {
      if (accept && is_not_found(log.error())) {
        line_hashes.logs.erase(log_file);
      }
      continue;
    }
    BMAD_TRY_ASSIGN(const FileInfo file, (*log)->info());
    BMAD_TRY((*log)->sync_data());
    LogHashes& recorded = line_hashes.logs[log_file];
    BMAD_TRY_ASSIGN(const Hashes lines, hash_lines(**log, 0, file.size));
    if (accept || begin_with(lines, recorded.lines)) {
      recorded = {};
      BMAD_TRY(extend_hashes(**log, file.size, recorded));
    }
  }
  return save_line_hashes(files, session_id, line_hashes);
}

Result<RepairReport> accept_changes(Store& store, std::span<const std::string> wanted) {
  RepairReport report;
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.selected_sessions(wanted));
  for (const std::string& session_id : sessions) {
    const LineHashCheck check = check_line_hashes(store, session_id);
    std::map<std::string, std::uint64_t> places;
    for (const std::vector<Finding>* findings : {&check.damage, &check.changes}) {
      for (const Finding& finding : *findings) {
        ++places[finding.path];
      }
    }
    if (!places.empty()) {
      BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "accept"));
      BMAD_TRY(hash_session(store, session_id, true));
    }
    std::vector<HandEdit> edits = hand_edits(store, true);
    std::erase_if(edits, [&](const HandEdit& edit) { return edit.place.session_id != session_id; });
    for (const HandEdit& edit : edits) {
      ++places[edit.place.path];
    }
    BMAD_TRY(edits.empty() ? Result<std::vector<HandEdit>>(edits)
                           : settle_hand_edits(store, edits, false));
    for (const auto& [path, count] : places) {
      report.actions.push_back(
          {.session_id = session_id,
           .path = path,
           .what = fmt::format("accepted {} change{}", count, count == 1 ? "" : "s"),
           .count = count});
    }
  }
  report.sessions = sessions.size();
  update_head(store, sessions);
  BMAD_TRY_ASSIGN(VerifyReport after, verify_store(store, wanted, {}));
  report.left = std::move(after.findings);
  return report;
}
void check_head(const Store& store, std::span<const std::string> wanted, VerifyReport& report) {
  const EncryptedHead head = parse_head(store.origins->state_text(kHeadName), wanted);
  report.knows_encrypted = !head.empty() || report.encrypted_lines == 0;
  const Result<EncryptedHead> newest =
      head.empty() ? EncryptedHead() : newest_versions(store, wanted, head);
  Removals removals(store);
  std::map<std::tuple<std::string, EntryType, bool>, std::vector<std::string>> lost;
  for (const auto& [key, at] : newest ? head : EncryptedHead()) {  // Else a finding says why.
    const auto& [session_id, type, id] = key;
    const auto now = newest->find(key);
    const bool is_there = now != newest->end();
    if (is_there ? now->second < at : !removals.name(session_id, id, at)) {
      lost[{session_id, type, is_there}].push_back(id);
    }
  }
  for (const auto& [place, ids] : lost) {
    const auto& [session_id, type, is_there] = place;
    constexpr std::size_t kNamedMax = 3;
    FindingList(report, session_id)
        .add(is_there ? FindingKind::kChangedLine : FindingKind::kLostLine,
             store.files->display_path(log_path(session_id, type)), 0,
             fmt::format("encrypted entries {}: {}{}; bring the file back from git or a backup; if "
                         "a pull or another branch did it, `bmad-mem repair --accept` accepts that",
                         is_there ? "are back in an older version"
                                  : "that were here are gone, and no deletion names them",
                         fmt::join(std::span(ids).first(std::min(ids.size(), kNamedMax)), ", "),
                         ids.size() > kNamedMax ? ", ..." : ""));
  }
}

void update_head(const Store& store, std::span<const std::string> accepted) {
  const EncryptedHead before = parse_head(store.origins->state_text(kHeadName), {});
  if (before.empty() && !store.encryption->is_on()) {
    return;
  }
  const Result<EncryptedHead> newest = newest_versions(store, accepted, before);
  if (!newest) {
    return;  // What was there is still to be compared.
  }
  Removals removals(store);
  static_cast<void>(store.origins->change_state(kHeadName, [&](const std::string& text) {
    EncryptedHead head = parse_head(text, {});
    std::erase_if(head, [&](const auto& each) {
      const auto& [session_id, type, id] = each.first;
      return accepted.empty()
                 ? !newest->contains(each.first) && removals.name(session_id, id, each.second)
                 : is_among(accepted, session_id);
    });
    std::string lines;
    for (const auto& [key, at] : *newest) {
      head[key] = std::max(head[key], at);
    }
    for (const auto& [key, at] : head) {
      lines += head_line(key, at);
    }
    return lines;
  }));
}

}  // namespace bmad_mem
