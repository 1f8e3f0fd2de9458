// redact_session.cpp - the rules of today for what was written under those of yesterday.
//
//   temporary files, index -> logs, quarantine, manifest, summary, artifacts, audit, access ->
//   evicted, kept, deleted, archive, deleted sessions -> record and audit of deletions -> audit
//
// Every file of the session is replaced whole, one after another, so that a crash leaves some of
// them done: running it again does the rest. The index goes first, since it holds the words.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/privacy.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/audit_log.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/session_copies.hpp"
#include "privacy/redaction.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"
#include "session_rewrite.hpp"
#include "store/atomic_file.hpp"
#include "store/beside_files.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/mirrored_manifests.hpp"
#include "store/seal.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kRedactedSizeMax = std::uint64_t{4} << 30U;

class SessionRedaction {
 public:
  SessionRedaction(Store& store, const StoreRedaction& rules, const std::string& session_id,
                   bool dry_run)
      : store_(store), rules_(rules), session_id_(session_id), dry_run_(dry_run) {
    report_.session_id = session_id;
  }

  Result<RedactReport> run() {
    std::optional<FileLock::Guard> root_guard;
    if (!dry_run_) {
      BMAD_TRY_ASSIGN(root_guard, store_.lock_root("redact"));
    }
    BMAD_TRY_ASSIGN(is_live_, is_session_there(*store_.files, session_id_));
    std::optional<FileLock::Guard> guard;
    if (is_live_ && !dry_run_) {
      BMAD_TRY_ASSIGN(guard, store_.session(session_id_)->writer.lock("redact"));
    }
    if (!dry_run_) {
      BMAD_TRY(remove_leftovers(*store_.files, session_id_));
      BMAD_TRY(cut_torn_ends(*store_.files, session_id_));
    }
    if (is_live_) {
      BMAD_TRY(redact_folder());
    }
    if (!dry_run_ && is_archived(store_, session_id_)) {
      BMAD_TRY(leave_root_index());
    }
    BMAD_TRY(redact_copies());
    BMAD_TRY(note_in_audit());
    return std::move(report_);
  }

 private:
  Status redact_folder() {
    BMAD_TRY(dry_run_ ? Status() : remove_temporaries(*store_.files, session_folder(session_id_)));
    for (const std::string& log : log_files()) {
      BMAD_TRY(redact_file(session_file(session_id_, log), log, true));
    }
    for (const char* name : {kQuarantineName, kManifestName, kSummaryName, kAuditName, kAccessName,
                             kIndexLockInfoName}) {
      BMAD_TRY(redact_file(session_file(session_id_, name), name));
    }
    const std::string artifacts = session_file(session_id_, kArtifactsName);
    BMAD_TRY(dry_run_ ? Status() : remove_temporaries(*store_.files, artifacts));
    const Result<std::vector<std::string>> names = store_.files->list(artifacts);
    if (!names) {
      return is_not_found(names.error()) ? Status() : Status(names.error());
    }
    for (const std::string& name : *names) {
      BMAD_TRY(redact_file(fmt::format("{}/{}", artifacts, name), name));
      BMAD_TRY(rename_artifact(artifacts, name));
    }
    note_name(session_folder(session_id_), session_id_,
              "it is the id of the session; export the session, and import it under another id");
    return {};
  }

  /// The file of an artifact has the name of its entry, which may have got another id.
  Status rename_artifact(const std::string& folder, const std::string& name) {
    constexpr std::string_view kEnding = ".md";
    if (!name.ends_with(kEnding)) {
      return {};
    }
    const std::string id = name.substr(0, name.size() - kEnding.size());
    RedactionCounts counts;  // Its entry was counted.
    const std::string json =
        rules_.redact_object(fmt::format("{{\"id\":{}}}", json_quoted(id)), session_id_, counts);
    const Result<JsonValue> object = parser_.parse(json);
    const std::string other = object ? std::string((*object)["id"].string()) : id;
    if (other == id || !is_entry_id(other)) {
      return {};
    }
    const std::string path = fmt::format("{}/{}", folder, name);
    report_.files.push_back({.path = store_.files->display_path(path), .lines = 1});
    if (dry_run_) {
      return {};
    }
    BMAD_TRY(store_.files->rename(path, fmt::format("{}/{}{}", folder, other, kEnding)));
    return store_.files->sync_directory(folder);
  }

  void note_name(const std::string& path, std::string_view name, std::string_view remedy) {
    if (rules_.has_secret(name)) {
      report_.left.push_back({.place = store_.files->display_path(path),
                              .detail = "in its name",
                              .remedy = std::string(remedy)});
    }
  }

  std::optional<std::string> changed_entry(EntryType type, std::string_view line) {
    const Result<JsonValue> value = parser_.parse(line);
    if (!value) {
      return changed_line(line);
    }
    std::optional<std::string> entry =
        rules_.redact_entry(*value, line, session_id_, report_.counts);
    if (!entry || *entry == line) {
      return std::nullopt;
    }
    if (!dry_run_) {
      carried_.add(type, line, *entry);
    }
    return entry;
  }

  /// A line that is JSON is redacted as such, a torn or damaged one as text.
  std::optional<std::string> changed_line(std::string_view line) {
    std::string text = parser_.parse(line)
                           ? rules_.redact_object(std::string(line), session_id_, report_.counts)
                           : rules_.redact_text(line, session_id_, &report_.counts);
    return text == line ? std::nullopt : std::optional(std::move(text));
  }

  /// A document keeps the name of its session, which is that of a folder, even if it looks like a
  /// secret: with another one it would be nobody's.
  std::string changed_document(const std::string& json) {
    std::string other = rules_.redact_object(json, session_id_, report_.counts);
    const Result<JsonValue> root = parser_.parse(other);
    if (!root || !(*root)["session_id"].is_string() ||
        (*root)["session_id"].string() == session_id_) {
      return other;
    }
    ObjectText object(*root, other);
    object.set_string("session_id", session_id_);
    return json_pretty(object.to_line()) + '\n';
  }

  /// The bytes of the file `name` of a session by today's rules; see FileChange.
  std::uint64_t change_file(std::string_view name, std::string& bytes) {
    if (name.ends_with(".jsonl")) {
      const std::optional<EntryType> type = entry_type_of_log_file(name);
      return change_lines(bytes, [&](std::string_view line) {
        return type ? changed_entry(*type, line) : changed_line(line);
      });
    }
    std::string other = name.ends_with(".json")
                            ? changed_document(bytes)
                            : rules_.redact_text(bytes, session_id_, &report_.counts);
    const bool is_same = other == bytes;
    bytes = std::move(other);
    return is_same ? 0 : 1;
  }

  /// Before anything changes: after a crash nobody would find anything to do.
  Status leave_root_index() {
    if (has_left_index_) {
      return {};
    }
    has_left_index_ = true;
    return store_.root_index->remove({&session_id_, 1});
  }

  Status redact_file(const std::string& path, std::string_view name, bool is_log = false) {
    Result<std::string> bytes = read_file(*store_.files, path, kRedactedSizeMax);
    if (!bytes) {
      return is_not_found(bytes.error()) ? Status() : Status(std::move(bytes).error());
    }
    const std::uint64_t lines = change_file(name, *bytes);
    report_.entries += is_log ? lines : 0;
    if (lines == 0) {
      return {};
    }
    report_.files.push_back({.path = store_.files->display_path(path), .lines = lines});
    if (dry_run_) {
      return {};
    }
    if (is_log) {
      BMAD_TRY(remove_derived_files(*store_.files, session_id_));
      BMAD_TRY(leave_root_index());
      carried_.settle();
    }
    return replace_log(*store_.files, path, *bytes);
  }

  /// What lies outside the folder: evicted, kept, deleted, archived. Who has maintained stands at
  /// the root, by name.
  Status redact_copies() {
    BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store_.files, session_id_));
    BMAD_TRY_ASSIGN(SessionCopies copies, SessionCopies::read(*store_.files, session_id_, record));
    BMAD_TRY_ASSIGN(
        const std::vector<FileCount> files,
        copies.rewrite(
            *store_.files, dry_run_,
            [this](EntryType type, std::string_view line) { return changed_entry(type, line); },
            [this](std::string_view name, std::string& bytes) {
              note_name(fmt::format("{}/{}", session_folder(session_id_), name), name,
                        "the file is packed; restore the session, and redact it again");
              return change_file(name, bytes);
            }));
    carried_.settle();
    report_.files.insert(report_.files.end(), files.begin(), files.end());
    BMAD_TRY(redact_file(deletion_record_path(session_id_), "record.json"));
    BMAD_TRY(redact_file(deleted_audit_path(session_id_), kAuditName));
    return redact_file(kMaintenanceLockInfoName, kMaintenanceLockInfoName);
  }

  Status note_in_audit() {
    if (dry_run_ || report_.files.empty()) {
      return {};
    }
    std::string rules;
    for (const auto& [rule, count] : report_.counts) {
      rules += (rules.empty() ? "" : ", ") + rule;
    }
    if (!is_live_) {
      BMAD_TRY(make_deleted_folder(*store_.files, session_id_));
    }
    return append_audit(*store_.files,
                        {.at = store_.clock.now(),
                         .session_id = session_id_,
                         .agent_id = rules_.redact_text(store_.agent_id, session_id_),
                         .action = "redact",
                         .count = report_.entries,
                         .detail = rules});
  }

  Store& store_;
  const StoreRedaction& rules_;
  const std::string& session_id_;
  bool dry_run_;
  bool has_left_index_ = false;
  bool is_live_ = false;
  JsonParser parser_;
  CarriedLines carried_{store_.origins->ledger(), session_id_};
  RedactReport report_;
};

/// The files that belong to no session, and what stays: names, and settings.
Result<RedactReport> redact_beside(Store& store, const StoreRedaction& rules, bool dry_run) {
  FileSystem& files = *store.files;
  std::optional<FileLock::Guard> guard;
  if (!dry_run) {
    BMAD_TRY_ASSIGN(guard, store.lock_root("redact"));
  }
  RedactReport report;
  const auto leave = [&](const std::string& path, std::string detail, std::string remedy) {
    report.left.push_back({.place = files.display_path(path),
                           .detail = std::move(detail),
                           .remedy = std::move(remedy)});
  };
  BMAD_TRY_ASSIGN(const std::vector<std::string> paths, files_beside_sessions(files));
  for (const std::string& path : paths) {
    if (rules.has_secret(path)) {
      leave(path, "in its name", "rename the file, and what refers to it");
    }
    const Result<std::string> bytes = read_file(files, path, kBesideFileSizeMax);
    if (!bytes || !is_text_file(*bytes)) {
      BMAD_TRY(bytes || is_not_found(bytes.error()) ? Status() : Status(bytes.error()));
      continue;
    }
    const std::string other = path.ends_with(".json")
                                  ? rules.redact_object(*bytes, {}, report.counts)
                                  : rules.redact_text(*bytes, {}, &report.counts);
    if (other == *bytes) {
      continue;
    }
    report.files.push_back({.path = files.display_path(path), .lines = 1});
    if (!dry_run) {
      BMAD_TRY(is_root_leftover(path) ? remove_durably(files, path)
                                      : replace_file(files, path, other));
    }
  }
  const Result<std::string> config = read_file(files, kConfigFile, kBesideFileSizeMax);
  if (config && rules.has_secret(*config)) {
    leave(kConfigFile, "in a setting", "edit it by hand");
  }
  return report;
}

/// The copies of the manifests at the hub. Redacted like ours they would look as if the hub had
/// the redacted one already.
Result<RedactReport> redact_mirrored(const Store& store, const StoreRedaction& rules,
                                     std::span<const std::string> wanted, bool dry_run) {
  RedactReport report;
  RedactionCounts counts;  // They are those of the manifests.
  JsonParser parser;
  BMAD_TRY_ASSIGN(const std::vector<std::string> paths,
                  drop_mirrored_manifests(
                      store, wanted, dry_run, [&](std::string_view id, std::string_view manifest) {
                        return rules.redact_object(std::string(manifest), id, counts) != manifest ||
                               (!parser.parse(manifest) && rules.has_secret(manifest));
                      }));
  for (const std::string& path : paths) {
    report.files.push_back({.path = store.files->display_path(path), .lines = 1});
  }
  return report;
}

}  // namespace

Result<std::vector<RedactReport>> redact_sessions(Store& store, std::span<const std::string> wanted,
                                                  bool dry_run,
                                                  const MemoryManager::Progress& on_progress) {
  BMAD_TRY_ASSIGN(std::vector<std::string> sessions, all_session_ids(store));
  for (const std::string& session_id : wanted) {
    BMAD_TRY(check_session_id(session_id));
    if (!std::ranges::binary_search(sessions, session_id)) {
      BMAD_TRY(check_session(store, session_id));
    }
  }
  if (!wanted.empty()) {
    sessions.assign(wanted.begin(), wanted.end());
  }
  // Whoever asks for it means it, also where the config says not to redact what is written. An id
  // that is a secret has to become the same one after a crash, so the key is kept.
  BMAD_TRY_ASSIGN(const std::string policy, load_hub_policy(store));
  BMAD_TRY_ASSIGN(const std::unique_ptr<StoreRedaction> rules,
                  StoreRedaction::make(store, dry_run ? KeyUse::kNone : KeyUse::kKept, policy));
  const ViewsDropped views(store, !dry_run);
  BMAD_TRY(views.status());
  std::vector<RedactReport> reports;
  std::uint64_t looked_at = 0;
  for (const std::string& session_id : sessions) {
    if (on_progress) {
      on_progress(looked_at++, sessions.size());
    }
    Result<RedactReport> report = SessionRedaction(store, *rules, session_id, dry_run).run();
    if (!report) {
      BMAD_TRY(wanted.empty() ? store.leave_out(session_id, std::move(report).error())
                              : Status(std::move(report).error()));
      continue;
    }
    if (!dry_run && !report->files.empty()) {
      store.forget_session(session_id);
      BMAD_TRY(store.root_index->remove({&session_id, 1}));
      refresh_index(store, session_id);
    }
    reports.push_back(*std::move(report));
  }
  if (wanted.empty()) {
    BMAD_TRY_ASSIGN(RedactReport beside, redact_beside(store, *rules, dry_run));
    if (!beside.files.empty() || !beside.left.empty()) {
      reports.push_back(std::move(beside));
    }
  }
  BMAD_TRY_ASSIGN(RedactReport mirrored, redact_mirrored(store, *rules, wanted, dry_run));
  if (!mirrored.files.empty()) {
    reports.push_back(std::move(mirrored));
  }
  return reports;
}

}  // namespace bmad_mem
