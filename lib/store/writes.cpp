// writes.cpp - from JSON objects to durable lines: complete, check, lock, append, sync.
#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/session_writer.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// The line that `line` becomes: without its secrets, with its marks, completed and checked. It is
/// parsed once, and again after a change. Counts what was taken out. Errors: as complete_entry().
Result<CompleteEntry> complete_line(Store& store, const std::string& session_id, EntryType type,
                                    std::string_view line, Timestamp now, BatchReport& report,
                                    RedactPass pass = RedactPass::kWhole) {
  thread_local JsonParser parser;  // Its buffers cost more to make than an entry to parse.
  if (line.size() > kEntrySizeMax) {
    return complete_entry(type, JsonValue(), line, store.ids, now);  // Refused for its size.
  }
  BMAD_TRY_ASSIGN(JsonValue entry, parser.parse(line));
  std::string changed;
  const auto change = [&](std::optional<std::string> other) -> Status {
    if (other) {
      changed = std::move(*other);
      line = changed;
      BMAD_TRY_ASSIGN(entry, parser.parse(line));
    }
    return {};
  };
  if (store.redaction != nullptr) {
    BMAD_TRY(change(store.redaction->redact_entry(entry, line, session_id, report.redacted, pass)));
  }
  if (!store.config.privacy.index_outside_paths) {
    BMAD_TRY(change(marked_outside(store.workspace, type, entry, line)));
  }
  return complete_entry(type, entry, line, store.ids, now);
}

/// Replaces, in what was completed, what a later line has named.
void redact_repeated(Store& store, const std::string& session_id, EntryType type, Timestamp now,
                     std::vector<Result<CompleteEntry>>& results, BatchReport& report) {
  JsonParser parser;
  RedactionCounts counts;
  for (Result<CompleteEntry>& each : results) {
    const Result<JsonValue> value = each ? parser.parse(each->line) : Error{};
    if (value && store.redaction->redact_entry(*value, each->line, session_id, counts,
                                               RedactPass::kRepeated)) {
      const CompleteEntry before = *std::move(each);
      each = complete_line(store, session_id, type, before.line, now, report);
      each = each ? CompleteEntry{each->line, each->id, before.has_own_id} : std::move(each);
    }
  }
}

/// Completes each line. Refused ones go to `report.rejected`.
std::vector<CompleteEntry> complete_lines(Store& store, const std::string& session_id,
                                          EntryType type, std::span<const std::string_view> lines,
                                          BatchReport& report) {
  const auto judged = [&] { return store.redaction ? store.redaction->judged_count() : 0; };
  const std::uint64_t judged_before = judged();
  const Timestamp now = store.clock.now();
  std::vector<Result<CompleteEntry>> results;
  results.reserve(lines.size());
  for (const std::string_view line : lines) {
    results.push_back(complete_line(store, session_id, type, line, now, report,
                                    results.empty() ? RedactPass::kWhole : RedactPass::kNextLine));
  }
  if (judged() != judged_before && lines.size() > 1) {
    redact_repeated(store, session_id, type, now, results, report);
  }
  report.judged += judged() - judged_before;
  std::vector<CompleteEntry> entries;
  entries.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (results[i]) {
      entries.push_back(*std::move(results[i]));
    } else if (!is_blank(lines[i])) {
      Error error = std::move(results[i]).error();
      error.line = i + 1;
      if (store.redaction != nullptr) {  // It may quote what was refused.
        error.message = store.redaction->redact_text(error.message, session_id);
        error.field = store.redaction->redact_text(error.field, session_id);
      }
      report.rejected.push_back({.line = i + 1, .error = std::move(error)});
    }
  }
  return entries;
}

/// Looks whether the session is there and, when it was closed, opens it again. The caller holds the
/// session's lock, which looked at the manifest.
Status open_for_writing(Store& store, const std::string& session_id, OpenSession& session,
                        const FileLock::Guard& guard) {
  const std::string path = manifest_path(session_id);
  const std::optional<FileInfo>& info = session.writer.manifest_file(guard);
  if (session.manifest_known && info && info->is_unchanged(session.manifest_file)) {
    return {};
  }
  BMAD_TRY_ASSIGN(Manifest manifest, load_manifest(*store.files, session_id));
  if (manifest.closed_at) {
    manifest.closed_at.reset();
    manifest.updated_at = store.clock.now();
    BMAD_TRY(save_manifest(*store.files, manifest));
  }
  BMAD_TRY_ASSIGN(session.manifest_file, store.files->info(path));
  session.manifest_known = true;
  session.manifest_text = manifest.to_text();
  return {};
}

/// git takes files away without a lock, perhaps while an entry is on its way to a log. What was
/// written then must not lie there without a session. The caller holds the session's lock.
Status keep_manifest(Store& store, const std::string& session_id, OpenSession& session) {
  BMAD_TRY_ASSIGN(const bool has_manifest, is_there(*store.files, manifest_path(session_id)));
  if (has_manifest) {
    return {};
  }
  session.manifest_known = false;
  assert(!session.manifest_text.empty() && "open_for_writing() has read it");
  return replace_file(*store.files, manifest_path(session_id), session.manifest_text);
}

/// The lines as they are written: those that are to be encrypted, encrypted. The entries stay as
/// they are, since another try compares them with what is there.
Result<std::vector<CompleteEntry>> encrypted_entries(const Store& store,
                                                     const std::string& session_id, EntryType type,
                                                     const std::vector<CompleteEntry>& entries) {
  std::vector<CompleteEntry> lines = entries;
  JsonParser parser;
  for (CompleteEntry& each : lines) {
    BMAD_TRY_ASSIGN(const JsonValue entry, parser.parse(each.line));
    BMAD_TRY_ASSIGN(std::optional<std::string> encrypted,
                    store.encryption->encrypt(session_id, type, entry, each.line));
    if (encrypted) {
      each.line = *std::move(encrypted);
    }
  }
  return lines;
}

std::string joined_lines(const std::vector<CompleteEntry>& entries, bool spaced) {
  std::string lines;
  for (const CompleteEntry& entry : entries) {
    assert(!entry.line.contains('\n') && "an entry is one line");
    lines += entry.line;
    lines += spaced ? "\n\n" : "\n";
  }
  return lines;
}

/// The first refusal as the error of the whole batch. A single entry has no line worth naming.
Error refusal(const BatchReport& report, std::size_t line_count) {
  assert(!report.rejected.empty());
  Error error = report.rejected.front().error;
  if (line_count == 1) {
    error.line = 0;
  } else if (report.rejected.size() > 1) {
    const std::size_t more = report.rejected.size() - 1;
    error.message +=
        fmt::format(" (and {} more bad line{}; nothing was written)", more, more == 1 ? "" : "s");
  } else {
    error.message += " (nothing was written)";
  }
  return error;
}

std::vector<std::string_view> lines_of(const std::vector<CompleteEntry>& entries) {
  const auto lines = entries | std::views::transform(&CompleteEntry::line);
  return {lines.begin(), lines.end()};
}

/// Records who wrote the entries, before they are there: a line without a record is quoted.
void note_origins(const Store& store, const std::string& session_id, EntryType type,
                  const std::vector<CompleteEntry>& entries) {
  if (const ProvenanceLog* const provenance = store.origins->provenance()) {
    provenance->note(session_id, type, lines_of(entries), ActingAs::current(store.writes_as));
  }
}

/// What this machine is to know of those of `lines` that are encrypted, once they are durable.
std::string head_of(const std::string& session_id, EntryType type,
                    const std::vector<CompleteEntry>& lines) {
  std::string text;
  JsonParser parser;
  for (const CompleteEntry& line : lines) {
    if (const Result<JsonValue> entry = parser.parse(line.line); entry && is_encrypted(*entry)) {
      text += head_line({session_id, type, line.id}, entry_written_time(*entry));
    }
  }
  return text;
}

/// One append, under the session's lock.
struct Append {
  AppendLog::Written written;
  std::uint64_t session_size = 0;  ///< Of all tracked files, about.
  std::string head;                ///< See head_of().
};

/// Whether a log that grew from `before` to `after` bytes has passed a mark. What lies between two
/// is read in a few milliseconds, and is not much of a long log.
bool is_index_due(std::uint64_t before, std::uint64_t after) {
  constexpr std::uint64_t kLeast = 32U << 10U;
  constexpr std::uint64_t kMost = 256U << 10U;
  const std::uint64_t step = std::bit_floor(std::clamp(before / 4, kLeast, kMost));
  return before / step != after / step;
}

Result<Append> append_entries(Store& store, const std::string& session_id, OpenSession& session,
                              EntryType type, const BatchOptions& options,
                              std::vector<CompleteEntry>& entries, BatchReport& report,
                              const AppendGuard& is_right = {}) {
  BMAD_TRY(store.files->follow_root());
  if (store.above.look_before_append != nullptr) {
    store.above.look_before_append(store, session_id, type);
  }
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, session.writer.lock("add"));
  BMAD_TRY(open_for_writing(store, session_id, session, guard));
  BMAD_TRY(is_right ? is_right() : Status());
  BMAD_TRY(drop_known(store, session_id, type, options.known, entries, report));
  Append append;
  if (!entries.empty()) {
    const std::string log_file(entry_type_info(type).log_file);
    std::vector<CompleteEntry> encrypted;
    if (store.encryption->is_on_for_writes()) {
      Result<std::vector<CompleteEntry>> lines =
          encrypted_entries(store, session_id, type, entries);
      report.waiting = lines || lines.error().code == ErrorCode::E_SIZE_LIMIT ? 0 : entries.size();
      BMAD_TRY_ASSIGN(encrypted, std::move(lines));
    }
    assert(encrypted.empty() || encrypted.size() == entries.size());
    const std::vector<CompleteEntry>& lines = encrypted.empty() ? entries : encrypted;
    note_origins(store, session_id, type, entries);  // Whoever opens a line asks for what it says.
    note_origins(store, session_id, type, encrypted);
    BMAD_TRY_ASSIGN(append.written,
                    session.writer.append(guard, log_file, joined_lines(lines, options.spaced),
                                          LineHashesLook::kAtLock));
    if (Status kept = keep_manifest(store, session_id, session); !kept) {
      session.writer.refuse(guard, log_file, append.written);
      return std::move(kept).error();
    }
    if (store.indexes_at_the_end && is_index_due(append.written.offset, append.written.end)) {
      store.needs_index = true;
      store.is_index_due = true;
    }
    append.head = head_of(session_id, type, encrypted);
    append.session_size = session.writer.size_estimate(guard);
  }
  return append;
}

/// Compacts the session and says so. What goes wrong is no concern of the write's.
Status compact_for_write(Store& store, const std::string& session_id, BatchReport& report) {
  assert(store.above.compact != nullptr);
  // Also below the trigger: the entries at hand may be more than there is room for.
  BMAD_TRY_ASSIGN(const CompactionReport compacted,
                  store.above.compact(store, session_id, {.force = true}));
  report.notices.push_back(
      fmt::format("session {} was compacted from {:.2f} to {:.2f} MB; {} lines went to {}",
                  session_id, static_cast<double>(compacted.bytes_before) / (1U << 20U),
                  static_cast<double>(compacted.bytes_after) / (1U << 20U),
                  compacted.removed.size(), compacted.evicted_file));
  return {};
}

/// Whether what stood in the way of an append has been cleared: a full session is compacted, an
/// archived one comes back (specification 12.2). Where the disk fails at that, `problem` says so.
bool cleared_the_way(Store& store, const std::string& session_id, Error& problem,
                     BatchReport& report) {
  if (problem.code == ErrorCode::E_SIZE_LIMIT && store.config.compaction.enabled) {
    return compact_for_write(store, session_id, report).has_value();
  }
  if (problem.code != ErrorCode::E_SESSION_NOT_FOUND) {
    return false;
  }
  if (is_archived(store, session_id)) {
    assert(store.above.restore != nullptr);
    const Result<Session> restored = store.above.restore(store, session_id);
    if (restored) {
      report.notices.push_back(
          fmt::format("session {} was archived; it has been restored", session_id));
      return true;
    }
    const ErrorCode code = restored.error().code;
    const bool is_unreadable = code == ErrorCode::E_STORAGE_CORRUPT ||
                               code == ErrorCode::E_SIZE_LIMIT ||
                               code == ErrorCode::E_NEWER_VERSION;
    if (is_unreadable || (restored.error().os_error != 0 && !is_not_found(restored.error()))) {
      // Or the folder may be there without being durable, and would take the entries along.
      problem = restored.error();
      return false;
    }
  }
  // Somebody else was quicker, perhaps twice: between two looks a session can be both brought back
  // and archived again. Nobody moves it while the root is locked.
  const Result<FileLock::Guard> guard = store.lock_root("add");
  const Status now = check_session(store, session_id);
  return now ? store.files->info(manifest_path(session_id)).has_value()
             : now.error().code == ErrorCode::E_SESSION_ARCHIVED;
}

/// Makes durable what was written. If git took the log away meanwhile, what is nowhere else is
/// written again, to the log that is there now.
Status settle(Store& store, const std::string& session_id, OpenSession& session, EntryType type,
              bool spaced, Append& append, std::span<const CompleteEntry> entries,
              BatchReport& report) {
  constexpr int kTries = 8;
  const std::string log_file(entry_type_info(type).log_file);
  BMAD_TRY(session.writer.settle(log_file, append.written));
  for (int i = 0; i < kTries && AppendLog::is_removed(append.written); ++i) {
    BMAD_TRY_ASSIGN(std::vector<CompleteEntry> lost,
                    lost_entries(store, session_id, type, entries));
    if (lost.empty()) {
      return {};  // Our own rewrites take along what a log holds.
    }
    Result<Append> again =
        append_entries(store, session_id, session, type, {.spaced = spaced}, lost, report);
    if (again) {
      append = *again;
      BMAD_TRY(session.writer.settle(log_file, append.written));
    } else if (!cleared_the_way(store, session_id, again.error(), report)) {
      return again.error();
    }
  }
  return {};
}

/// Keeps the session below its quota, after the entries are durable.
void watch_size(Store& store, const std::string& session_id, std::uint64_t size,
                BatchReport& report) {
  const CompactionConfig& config = store.config.compaction;
  if (config.enabled && wants_compaction(store, session_id, size)) {
    if (compact_for_write(store, session_id, report)) {
      return;
    }
  }
  const auto size_max = static_cast<double>(store.config.max_session_size_bytes());
  if (static_cast<double>(size) >= config.warn_threshold * size_max) {
    report.notices.push_back(fmt::format("session {} holds {:.1f} of {:.0f} MB", session_id,
                                         static_cast<double>(size) / (1U << 20U),
                                         size_max / (1U << 20U)));
  }
}

/// What was taken out, as a sentence.
std::string redaction_notice(const RedactionCounts& counts) {
  assert(!counts.empty());
  std::uint64_t sum = 0;
  std::string rules;
  for (const auto& [rule, count] : counts) {
    sum += count;
    rules += (rules.empty() ? "" : ", ") + rule;
  }
  return fmt::format("{} secret{} taken out before writing: {}", sum, sum == 1 ? " was" : "s were",
                     rules);
}

}  // namespace

bool wants_compaction(const Store& store, const std::string& session_id, std::uint64_t size) {
  if (size < store.config.compaction_start_bytes()) {
    return false;
  }
  const auto size_max = static_cast<double>(store.config.max_session_size_bytes());
  // A session that can't be made smaller is not compacted at each write: it has to grow first.
  constexpr double kGrowthMin = 0.02;
  constexpr std::uint64_t kNumberSizeMax = 20;
  const std::string noted =
      read_file(*store.files, session_file(session_id, kCompactedName), kNumberSizeMax)
          .value_or(std::string());
  std::uint64_t before = 0;
  std::from_chars(noted.data(), noted.data() + noted.size(), before);
  return static_cast<double>(size) >= static_cast<double>(before) + kGrowthMin * size_max;
}

Result<BatchReport> check_lines(Store& store, EntryType type,
                                std::span<const std::string_view> lines,
                                const BatchOptions& options) {
  BMAD_TRY(check_write(store, type));
  BatchReport report;
  complete_lines(store, {}, type, lines, report);
  if (!report.rejected.empty() && !options.keep_going) {
    return refusal(report, lines.size());
  }
  return report;
}

std::optional<std::string> completed_line(Store& store, const std::string& session_id,
                                          EntryType type, std::string_view line) {
  BatchReport report;
  Result<CompleteEntry> entry =
      complete_line(store, session_id, type, line, store.clock.now(), report);
  return entry ? std::optional(std::move(entry->line)) : std::nullopt;
}

Result<BatchReport> add_lines(Store& store, const std::string& session_id, EntryType type,
                              std::span<const std::string_view> lines, const BatchOptions& options,
                              const AppendGuard& is_right) {
  BMAD_TRY(check_session_id(session_id));
  BMAD_TRY(check_write(store, type));
  BatchReport report;
  std::vector<CompleteEntry> entries = complete_lines(store, session_id, type, lines, report);
  if (!report.rejected.empty() && !options.keep_going) {
    return refusal(report, lines.size());
  }
  constexpr int kTries = 32;  // An archived session may be archived again before we get to it.
  const std::shared_ptr<OpenSession> session = store.session(session_id);
  const auto try_append = [&] {
    return append_entries(store, session_id, *session, type, options, entries, report, is_right);
  };
  Result<Append> append = try_append();
  for (int i = 1;
       !append && i < kTries && cleared_the_way(store, session_id, append.error(), report); ++i) {
    append = try_append();
  }
  if (!append && report.waiting > 0 && options.may_wait) {
    BMAD_TRY(keep_waiting(store, session_id, type, lines_of(entries),
                          ActingAs::current(store.writes_as)));
    return report;
  }
  if (!append) {
    return std::move(append).error();
  }
  if (entries.empty()) {
    // What was there already may be the work of a process that was killed before its sync.
    const std::string log_file(entry_type_info(type).log_file);
    BMAD_TRY(report.skipped == 0 ? Status() : session->writer.sync(log_file));
    return report;
  }
  BMAD_TRY(settle(store, session_id, *session, type, options.spaced, *append, entries, report));
  if (!append->head.empty()) {  // Where it can't be written, nothing is compared.
    static_cast<void>(store.origins->append_state(kHeadName, append->head));
  }
  watch_size(store, session_id, append->session_size, report);
  if (!report.redacted.empty()) {
    report.notices.push_back(redaction_notice(report.redacted));
  }
  report.ids.reserve(entries.size());
  for (CompleteEntry& entry : entries) {
    report.ids.push_back(std::move(entry.id));
  }
  return report;
}

}  // namespace bmad_mem
