// retention.cpp - what is past its time goes, wherever it is.
//
//   days of its type   manifest: too young? -> index: which archives, what was evicted -> lines:
//     logs             as a deletion, once statements of the talk that goes are there
//     evicted          lock session -> statements -> deleted/, durable -> evicted.jsonl.gz -> audit
//     archive          lock root -> deleted/, durable -> evicted.jsonl.gz -> archive with the
//                      statements, its manifest
//                      -> what version 0.1 kept -> audit -> index
//     all of it        lock root -> unpack -> lock session -> as `session delete`
//
// In a root that git tracks only whole files go: each clone runs maintenance on another day, and
// git merges the removal of a file that the other side removed, too, or left alone.
//
// Killed anywhere, a line is where it was or under deleted/, or in both: the next run goes on.
#include <algorithm>
#include <cassert>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "deletion_steps.hpp"
#include "knowledge/distillation.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/summary_file.hpp"
#include "lifecycle/deletion.hpp"
#include "search/archive_reader.hpp"
#include "search/reads.hpp"
#include "search/root_index.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

namespace {

constexpr const char* kReason = "past their retention";

/// Until when the entries of one session are kept.
struct RetentionRule {
  RetentionRule(const Config& config, const Manifest& manifest, Timestamp at, bool whole)
      : begin(retention_start(manifest)),
        days(&retention_of(config, manifest)),
        now(at),
        whole_files(whole) {}

  [[nodiscard]] bool may_end_any() const { return has_expired(first_expiry(begin, *days), now); }
  /// What was imported is as old as it says, and new here: see docs/decisions/0029.
  [[nodiscard]] bool ends(EntryType type, Timestamp timestamp, bool pinned) const {
    return has_expired(expires_at(type, std::max(timestamp, begin), pinned, *days), now);
  }

  [[nodiscard]] Verdicts::Goes verdict() const {
    return [rule = *this](EntryType type, JsonValue entry, std::string_view /*text*/) {
      const EntryHead head = entry_head(type, entry);
      return rule.types[static_cast<std::size_t>(type)] &&
             rule.goes(type, head.timestamp, head.pinned, head.expires_at);
    };
  }
  /// With whole files also what is past its own expires_at, which otherwise is purged.
  [[nodiscard]] bool goes(EntryType type, Timestamp timestamp, bool pinned,
                          const std::optional<Timestamp>& valid_until) const {
    return ends(type, timestamp, pinned) || (whole_files && has_expired(valid_until, now));
  }

  Timestamp begin;
  const RetentionDays* days;
  Timestamp now;
  bool whole_files;
  std::bitset<kEntryTypeCount> types = std::bitset<kEntryTypeCount>().set();  ///< That may go.
};

/// How many entries these are lines of.
template <typename Lines>
Retired count_entries(const std::string& session_id, std::string place, const Lines& lines) {
  Retired count{.session_id = session_id, .place = std::move(place)};
  std::set<std::pair<EntryType, std::string_view>> ids;
  for (const auto& line : lines) {
    count.entries[static_cast<std::size_t>(line.type)] +=
        ids.emplace(line.type, line.id).second ? 1 : 0;
  }
  return count;
}

void add(std::vector<Retired>& all, Retired one) {
  if (one.total() > 0) {
    all.push_back(std::move(one));
  }
}

/// Takes out of `evicted` what goes.
Leaving take_from_evicted(std::vector<EvictedLine>& evicted, Verdicts& verdicts) {
  Leaving leaving;
  std::erase_if(evicted, [&](EvictedLine& line) {
    std::optional<std::string> id = verdicts.id_if_it_goes(line.type, line.line);
    if (!id) {
      return false;
    }
    leaving.add(line.type, *std::move(id), std::move(line.line));
    leaving.lines.back().was_evicted = true;
    return true;
  });
  return leaving;
}

/// Calls `use(type, line, log)` for each line of the logs among `members`, its '\n' included.
template <typename Members, typename Use>
void for_each_log_line(Members& members, const Use& use) {
  for (const EntryType type : kEntryTypes) {
    const auto log =
        std::ranges::find(members, entry_type_info(type).log_file, &ArchivedFile::name);
    if (log == members.end()) {
      continue;
    }
    const std::string bytes = log->bytes;
    for_each_whole_line(bytes, [&](std::string_view line) { use(type, line, *log); });
  }
}

/// Takes out of the logs among `members` what goes; damaged lines stay.
Leaving take_from_logs(std::vector<ArchivedFile>& members, Verdicts& verdicts) {
  Leaving leaving;
  const ArchivedFile* begun = nullptr;
  for_each_log_line(members, [&](EntryType type, std::string_view line, ArchivedFile& log) {
    if (begun != &log) {
      begun = &log;
      log.bytes.clear();
    }
    const std::string_view text = without_line_end(line);
    if (std::optional<std::string> id = verdicts.id_if_it_goes(type, text)) {
      leaving.add(type, *std::move(id), std::string(text));
    } else {
      log.bytes += line;
    }
  });
  return leaving;
}

/// What was evicted of a session and what is in its archive, apart from what goes of it.
struct PackedLines {
  std::vector<EvictedLine> evicted;
  std::vector<ArchivedFile> members;
  Leaving from_evicted = {};
  Leaving from_archive = {};
  bool is_all = false;  ///< Nothing of it would be left.
};

Result<PackedLines> divide_packed(const Store& store, const std::string& session_id,
                                  const RetentionRule& rule) {
  PackedLines packed;
  BMAD_TRY_ASSIGN(packed.evicted, read_evicted(*store.files, session_id));
  BMAD_TRY_ASSIGN(const bool has_archive, is_there(*store.files, archive_path(session_id)));
  if (has_archive) {
    BMAD_TRY_ASSIGN(packed.members, read_session_archive(*store.files, session_id));
  }
  Verdicts verdicts(rule.verdict());
  verdicts.note_lines(packed.evicted);
  for_each_log_line(packed.members, [&](EntryType type, std::string_view line, const auto&) {
    verdicts.note_line(type, without_line_end(line));
  });
  packed.is_all = verdicts.any_goes() && verdicts.all_go();
  packed.from_evicted = take_from_evicted(packed.evicted, verdicts);
  packed.from_archive = take_from_logs(packed.members, verdicts);
  return packed;
}

/// What stays of the talk that goes from a session, its archive and what was evicted: no longer
/// than facts are kept.
Result<std::vector<DistilledStatement>> statements_of(Store& store, const std::string& session_id,
                                                      const RetentionRule& rule) {
  std::shared_ptr<FileSystem> archive;
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(*store.files, session_id));
  if (!is_live) {
    BMAD_TRY_ASSIGN(archive, archive_files(store, session_id));
  }
  BMAD_TRY_ASSIGN(std::vector<DistilledStatement> statements,
                  distil_talk(store, is_live ? *store.files : *archive, session_id, rule.verdict(),
                              EvictedTalk::kAll));
  std::erase_if(statements, [&](const DistilledStatement& each) {
    return rule.ends(EntryType::kFact, each.timestamp, /*pinned=*/false);
  });
  return statements;
}

/// How many entries go from an archive and from what was evicted.
struct ArchiveCounts {
  Retired archive;
  Retired evicted;
  bool is_all = false;  ///< Nothing of it would be left.
};

/// By what the index knows; no index has what is encrypted.
Result<ArchiveCounts> count_archive(const Store& store, const std::string& session_id,
                                    const RetentionRule& rule) {
  if (store.encryption->is_on()) {
    BMAD_TRY_ASSIGN(const PackedLines packed, divide_packed(store, session_id, rule));
    return ArchiveCounts{.archive = count_entries(session_id, "archive", packed.from_archive.ids),
                         .evicted = count_entries(session_id, "evicted", packed.from_evicted.ids),
                         .is_all = packed.is_all};
  }
  ArchiveCounts counts{.archive = {.session_id = session_id, .place = "archive"},
                       .evicted = {.session_id = session_id, .place = "evicted"}};
  BMAD_TRY_ASSIGN(const std::vector<ArchiveEntry> entries, archive_entries(store, session_id));
  for (const ArchiveEntry& entry : entries) {
    if (rule.goes(entry.type, entry.timestamp, entry.pinned, entry.expires_at)) {
      Retired& place = entry.evicted ? counts.evicted : counts.archive;
      ++place.entries[static_cast<std::size_t>(entry.type)];
    }
  }
  assert(counts.archive.total() + counts.evicted.total() <= entries.size());
  counts.is_all =
      !entries.empty() && counts.archive.total() + counts.evicted.total() == entries.size();
  return counts;
}

Result<std::vector<Retired>> retire_live(Store& store, const std::string& session_id,
                                         RetentionRule& rule, bool dry_run,
                                         const UnderLock& first) {
  std::vector<Retired> done;
  const FindLines find = [&]() -> Result<std::vector<LogLine>> {
    Verdicts verdicts(rule.verdict());
    BMAD_TRY_ASSIGN(std::vector<LogLine> lines,
                    look_into_logs(*store.files, session_folder(session_id), verdicts));
    return rule.whole_files ? whole_logs(*store.files, session_id, std::move(lines))
                            : std::move(lines);
  };
  BMAD_TRY_ASSIGN(FoundLines found, find_unlocked(*store.files, session_id, find));
  const std::vector<LogLine> lines = found.lines;
  BMAD_TRY_ASSIGN(const bool has_evicted, is_there(*store.files, evicted_path(session_id)));
  if (rule.whole_files) {
    rule.types.reset();
    for (const LogLine& line : lines) {
      rule.types.set(static_cast<std::size_t>(line.type));
    }
    // The manifest stays: git would take it for another session's, renamed, and ask on both sides.
    found.keeps_summary = true;  // So it would with a summary.
  }
  std::string deletion_id;
  if (dry_run || lines.empty()) {
    add(done, count_entries(session_id, "log", lines));
  } else {
    const ViewsDropped views(store);
    DeletionReport report;
    BMAD_TRY_ASSIGN(deletion_id,
                    delete_softly(store, session_id, std::move(found), find, kReason, report,
                                  /*audit_session=*/{}, first));
    add(done, count_entries(session_id, "log", report.removed));
  }
  if (rule.whole_files && !dry_run && !lines.empty()) {
    BMAD_TRY(remove_empty_logs(store, session_id, rule.types));
  }
  if (!has_evicted) {
    return done;
  }
  rule.types.set();
  BMAD_TRY_ASSIGN(const ArchiveCounts packed, count_archive(store, session_id, rule));
  if (rule.whole_files && !packed.is_all) {
    return done;
  }
  if (dry_run) {
    add(done, packed.evicted);
  } else if (packed.evicted.total() > 0 || !lines.empty()) {
    BMAD_TRY_ASSIGN(
        const Leaving evicted,
        delete_evicted(store, session_id, Verdicts(rule.verdict()), lines, kReason, deletion_id,
                       /*dry_run=*/false, first));
    add(done, count_entries(session_id, "evicted", evicted.ids));
  }
  return done;
}

void add_facts(const std::vector<DistilledStatement>& statements,
               std::vector<ArchivedFile>& members) {
  const std::string_view name = entry_type_info(EntryType::kFact).log_file;
  auto log = std::ranges::find(members, name, &ArchivedFile::name);
  if (log == members.end() && !statements.empty()) {
    log = members.insert(log, {.name = std::string(name)});
  }
  for (const DistilledStatement& each : statements) {
    assert(log != members.end() && !each.line.contains('\n'));
    log->bytes += (log->bytes.empty() || log->bytes.ends_with('\n') ? "" : "\n") + each.line + '\n';
  }
}

/// Some entries of an archived session.
Result<std::vector<Retired>> retire_in_archive(Store& store, const std::string& session_id,
                                               const RetentionRule& rule) {
  FileSystem& files = *store.files;
  std::vector<Retired> done;
  const ViewsDropped views(store);
  BMAD_TRY(views.status());
  BMAD_TRY_ASSIGN(const FileLock::Guard root_guard, store.lock_root("delete"));
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(files, session_id));
  if (is_live || !is_archived(store, session_id)) {
    return done;  // It has been restored meanwhile: the next run sees to it.
  }
  BMAD_TRY_ASSIGN(const ArchiveManifest manifest, read_archive_manifest(files, session_id));
  BMAD_TRY_ASSIGN(PackedLines packed, divide_packed(store, session_id, rule));
  BMAD_TRY_ASSIGN(const auto statements, statements_of(store, session_id, rule));
  Leaving& leaving = packed.from_evicted;
  add(done, count_entries(session_id, "archive", packed.from_archive.ids));
  add(done, count_entries(session_id, "evicted", leaving.ids));
  if (done.empty()) {
    return done;
  }
  done.front().statements = statements.size();
  note_statements(store, session_id, statements);
  add_facts(statements, packed.members);
  const bool has_evicted = !leaving.lines.empty();
  const bool has_logs = !packed.from_archive.lines.empty() || !statements.empty();
  std::ranges::move(packed.from_archive.lines, std::back_inserter(leaving.lines));
  std::ranges::move(packed.from_archive.ids, std::back_inserter(leaving.ids));
  BMAD_TRY(keep_deleted(store, session_id, std::move(leaving.lines)));
  BMAD_TRY(has_evicted ? replace_evicted(files, session_id, packed.evicted) : Status());
  BMAD_TRY(has_logs ? replace_archive(files, manifest, packed.members) : Status());
  BMAD_TRY(remove_retained(files, session_id));  // A copy of what is in the archive.
  BMAD_TRY(
      audit_lines(store, session_id, "delete", leaving.ids, fmt::format("{}, archived", kReason)));
  BMAD_TRY(store.root_index->remove({&session_id, 1}));
  index_archive(store, session_id);
  return done;
}

Result<std::vector<Retired>> retire_archived(Store& store, const std::string& session_id,
                                             const RetentionRule& rule, bool dry_run) {
  BMAD_TRY_ASSIGN(ArchiveCounts packed, count_archive(store, session_id, rule));
  std::vector<Retired> done;
  if (packed.archive.total() + packed.evicted.total() == 0 ||
      (rule.whole_files && !packed.is_all)) {
    return done;
  }
  BMAD_TRY_ASSIGN(const auto statements, statements_of(store, session_id, rule));
  if (packed.is_all && statements.empty()) {
    Retired all = packed.archive;
    all.place = "session";
    for (std::size_t type = 0; type < all.entries.size(); ++type) {
      all.entries[type] += packed.evicted.entries[type];
    }
    bool is_gone = dry_run;
    if (!dry_run) {
      const auto still_all = [&]() -> Result<bool> {
        Verdicts verdicts(rule.verdict());
        BMAD_TRY(look_into_logs(*store.files, session_folder(session_id), verdicts));
        return verdicts.all_go();
      };
      BMAD_TRY_ASSIGN(is_gone, delete_whole_session(store, session_id, kReason, still_all));
    }
    if (is_gone) {
      add(done, std::move(all));
    }
    return done;
  }
  if (!dry_run) {
    return retire_in_archive(store, session_id, rule);
  }
  add(done, std::move(packed.archive));
  add(done, std::move(packed.evicted));
  return done;
}

}  // namespace

Result<Leaving> delete_evicted(Store& store, const std::string& session_id, Verdicts verdicts,
                               const std::vector<LogLine>& gone, std::string detail,
                               const std::string& deletion_id, bool dry_run,
                               const UnderLock& first) {
  FileSystem& files = *store.files;
  bool has_dropped_summary = false;
  Leaving leaving;
  {
    std::optional<FileLock::Guard> guard;
    if (!dry_run) {
      BMAD_TRY_ASSIGN(guard, store.lock_session(session_id, "delete"));
    }
    BMAD_TRY_ASSIGN(std::vector<EvictedLine> evicted, read_evicted(files, session_id));
    verdicts.note_lines(evicted);
    for (const LogLine& line : gone) {
      verdicts.set(line.type, line.id, true);
    }
    if (!verdicts.any_goes()) {
      return leaving;  // Without reading the logs.
    }
    // A version in the log is newer.
    BMAD_TRY(look_into_logs(files, session_folder(session_id), verdicts));
    leaving = take_from_evicted(evicted, verdicts);
    if (dry_run || leaving.lines.empty()) {
      return leaving;
    }
    BMAD_TRY(first ? first(*guard) : Status());
    BMAD_TRY_ASSIGN(has_dropped_summary, drop_rule_summary(files, session_id));
    BMAD_TRY_ASSIGN(const Deletion deletion,
                    keep_deleted(store, session_id, leaving.lines, deletion_id));
    leaving.expires_at = deletion.expires_at;
    BMAD_TRY(
        audit_lines(store, session_id, "delete", leaving.ids, fmt::format("{}, evicted", detail)));
    BMAD_TRY(replace_evicted(files, session_id, evicted));
  }
  if (has_dropped_summary) {  // It may quote what went.
    renew_rule_summary(store, session_id);
  }
  return leaving;
}

Result<std::optional<std::vector<Retired>>> retire_session(Store& store,
                                                           const std::string& session_id,
                                                           Timestamp now, bool dry_run,
                                                           bool whole_files) {
  using Done = std::optional<std::vector<Retired>>;
  BMAD_TRY_ASSIGN(const bool is_live, is_session_there(*store.files, session_id));
  Manifest manifest;
  if (is_live) {
    BMAD_TRY_ASSIGN(manifest, load_manifest(*store.files, session_id));
  } else {
    const Result<ArchiveManifest> of_archive = read_archive_manifest(*store.files, session_id);
    if (!of_archive && of_archive.error().code == ErrorCode::E_SESSION_NOT_FOUND) {
      return Done();  // Gone meanwhile, or one without a manifest, which `verify` reports.
    }
    BMAD_TRY(of_archive ? Status() : Status(of_archive.error()));
    BMAD_TRY_ASSIGN(manifest,
                    parse_manifest(of_archive->text,
                                   store.files->display_path(archive_manifest_path(session_id))));
  }
  RetentionRule rule(store.config, manifest, now, whole_files);
  if (!rule.may_end_any()) {
    return Done();  // Without a look at the logs.
  }
  std::uint64_t count = 0;
  const UnderLock keep = [&](const FileLock::Guard& guard) -> Status {
    BMAD_TRY_ASSIGN(const auto statements, statements_of(store, session_id, rule));
    const Status written = keep_statements(store, session_id, guard, statements);
    count += written ? statements.size() : 0;
    const bool is_full = !written && written.error().code == ErrorCode::E_SIZE_LIMIT;
    return is_full ? Status() : written;  // Nothing keeps an entry longer than its days.
  };
  BMAD_TRY_ASSIGN(std::vector<Retired> done,
                  is_live ? retire_live(store, session_id, rule, dry_run, keep)
                          : retire_archived(store, session_id, rule, dry_run));
  if (dry_run && !done.empty()) {
    BMAD_TRY_ASSIGN(const auto statements, statements_of(store, session_id, rule));
    count = statements.size();
  }
  if (!done.empty()) {
    done.front().statements += count;
  }
  return Done(std::move(done));
}

}  // namespace bmad_mem
