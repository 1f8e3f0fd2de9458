// redact_session.cpp - the rules of today for what was written under those of yesterday.
//
// Every file of the session is replaced whole, one after another, so that a crash leaves some of
// them done: running it again does the rest. The index goes first, since it holds the words.
#include <algorithm>
#include <string>
#include <vector>

#include "bmad_mem/privacy.hpp"
#include "leftovers.hpp"
#include "privacy/audit_log.hpp"
#include "privacy/deletion_record.hpp"
#include "redaction.hpp"
#include "session_copies.hpp"
#include "storage/atomic_file.hpp"
#include "storage/durable_change.hpp"
#include "storage/layout.hpp"
#include "store.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kFileSizeMax = std::uint64_t{4} << 30U;

class SessionRedaction {
 public:
  SessionRedaction(Store& store, const StoreRedaction& rules, const std::string& session_id,
                   bool dry_run)
      : store_(store), rules_(rules), session_id_(session_id), dry_run_(dry_run) {
    report_.session_id = session_id;
  }

  Result<RedactReport> run() {
    BMAD_TRY_ASSIGN(const FileLock::Guard root_guard, store_.lock_root("redact"));
    BMAD_TRY_ASSIGN(const bool is_live, is_there(*store_.files, session_folder(session_id_)));
    if (is_live) {
      BMAD_TRY_ASSIGN(const FileLock::Guard guard,
                      store_.session(session_id_).writer.lock("redact"));
      BMAD_TRY(redact_folder());
      BMAD_TRY(redact_copies());
      BMAD_TRY(note_in_audit());
    } else {
      BMAD_TRY(redact_copies());
      BMAD_TRY(note_in_audit());
    }
    return std::move(report_);
  }

 private:
  Status redact_folder() {
    for (const std::string& log : log_files()) {
      BMAD_TRY(redact_lines(session_file(session_id_, log), true));
    }
    BMAD_TRY(redact_lines(quarantine_path(session_id_), false));
    BMAD_TRY(redact_whole(manifest_path(session_id_), true));
    BMAD_TRY(redact_whole(session_file(session_id_, kSummaryName), false));
    const std::string artifacts = session_file(session_id_, kArtifactsName);
    const Result<std::vector<std::string>> names = store_.files->list(artifacts);
    if (!names) {
      return is_not_found(names.error()) ? Status() : Status(names.error());
    }
    for (const std::string& name : *names) {
      BMAD_TRY(redact_whole(artifacts + '/' + name, false));
    }
    return {};
  }

  /// A line that is an object is redacted as one, another one as text.
  std::optional<std::string> changed(std::string_view line) {
    if (std::optional<std::string> entry = rules_.redact_entry(line, session_id_, report_.counts)) {
      return *entry == line ? std::nullopt : std::move(entry);
    }
    if (line.starts_with('{')) {
      return std::nullopt;
    }
    std::string text = rules_.redact_text(line, session_id_, &report_.counts);
    return text == line ? std::nullopt : std::optional(std::move(text));
  }

  Status redact_lines(const std::string& path, bool is_log) {
    const Result<std::string> old = read_file(*store_.files, path, kFileSizeMax);
    if (!old) {
      return is_not_found(old.error()) ? Status() : Status(old.error());
    }
    std::string bytes;
    std::uint64_t count = 0;
    for (std::size_t at = 0; at < old->size();) {
      const std::size_t newline = old->find('\n', at);
      const std::size_t end = newline == std::string::npos ? old->size() : newline;
      const std::string_view line = std::string_view(*old).substr(at, end - at);
      const std::optional<std::string> other = changed(line);
      bytes += other ? std::string_view(*other) : line;
      count += other ? 1 : 0;
      bytes += newline == std::string::npos ? "" : "\n";
      at = end + 1;
    }
    report_.entries += is_log ? count : 0;
    return replace(path, bytes, count);
  }

  Status redact_whole(const std::string& path, bool is_json) {
    const Result<std::string> old = read_file(*store_.files, path, kFileSizeMax);
    if (!old) {
      return is_not_found(old.error()) ? Status() : Status(old.error());
    }
    const std::string bytes = is_json ? rules_.redact_object(*old, session_id_, report_.counts)
                                      : rules_.redact_text(*old, session_id_, &report_.counts);
    return replace(path, bytes, bytes == *old ? 0 : 1);
  }

  Status replace(const std::string& path, const std::string& bytes, std::uint64_t lines) {
    if (lines == 0) {
      return {};
    }
    report_.files.push_back({.path = store_.files->display_path(path), .lines = lines});
    if (dry_run_) {
      return {};
    }
    BMAD_TRY(remove_durably(*store_.files, index_path(session_id_)));
    return replace_file(*store_.files, path, bytes);
  }

  /// What lies outside the folder: evicted, kept, deleted, archived.
  Status redact_copies() {
    BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store_.files, session_id_));
    BMAD_TRY_ASSIGN(SessionCopies copies, SessionCopies::read(*store_.files, session_id_, record));
    BMAD_TRY_ASSIGN(const std::vector<FileCount> files,
                    copies.rewrite(*store_.files, dry_run_,
                                   [this](std::string_view line) { return changed(line); }));
    report_.files.insert(report_.files.end(), files.begin(), files.end());
    return dry_run_ ? Status() : remove_leftovers(*store_.files, session_id_);
  }

  Status note_in_audit() {
    if (dry_run_ || report_.files.empty()) {
      return {};
    }
    std::string rules;
    for (const auto& [rule, count] : report_.counts) {
      rules += (rules.empty() ? "" : ", ") + rule;
    }
    return append_audit(*store_.files, {.at = store_.clock.now(),
                                        .session_id = session_id_,
                                        .agent_id = store_.agent_id,
                                        .action = "redact",
                                        .count = report_.entries,
                                        .detail = rules});
  }

  Store& store_;
  const StoreRedaction& rules_;
  const std::string& session_id_;
  bool dry_run_;
  RedactReport report_;
};

}  // namespace

Result<std::vector<RedactReport>> redact_sessions(Store& store, std::span<const std::string> wanted,
                                                  bool dry_run) {
  std::vector<std::string> sessions(wanted.begin(), wanted.end());
  for (const std::string& session_id : sessions) {
    BMAD_TRY(check_session_id(session_id));
  }
  if (sessions.empty()) {
    BMAD_TRY_ASSIGN(sessions, all_session_ids(store));
  }
  // Whoever asks for it means it, also where the config says not to redact what is written.
  std::unique_ptr<StoreRedaction> own;
  if (store.redaction == nullptr) {
    BMAD_TRY_ASSIGN(own, StoreRedaction::make(store));
  }
  const StoreRedaction& rules = own != nullptr ? *own : *store.redaction;
  std::vector<RedactReport> reports;
  for (const std::string& session_id : sessions) {
    BMAD_TRY_ASSIGN(RedactReport report, SessionRedaction(store, rules, session_id, dry_run).run());
    if (!dry_run && !report.files.empty()) {
      store.forget_session(session_id);
      refresh_index(store, session_id);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace bmad_mem
