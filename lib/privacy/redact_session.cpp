// redact_session.cpp - applies the current rules to the stored files of sessions.
//
//   temporary files, index -> logs, quarantine, manifest, summary, artifacts, audit, access ->
//   evicted, kept, deleted, archive, deleted sessions -> record and audit of deletions -> audit
//
// Every file of the session is replaced whole, one after another, so that a crash leaves some of
// them done: running it again does the rest. The index goes first, since it holds the words.
#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/privacy.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/session_copies.hpp"
#include "privacy/redaction.hpp"
#include "search/root_index.hpp"
#include "session_rewrite.hpp"
#include "store/atomic_file.hpp"
#include "store/beside_files.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/line_hashes.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Moves what `rules` have listed to the report, as what was found at `path`.
void place_taken(const StoreRedaction& rules, std::string_view path, std::uint64_t line,
                 RedactReport& report) {
  for (TakenSecret& each : rules.take_listed()) {
    if (report.taken.size() < RedactReport::kTakenMax) {
      each.path = path;
      each.line = line;
      report.taken.push_back(std::move(each));
    }
  }
  assert(report.taken.size() <= RedactReport::kTakenMax);
}

class SessionRedaction final : public SessionRewriter {
 public:
  SessionRedaction(Store& store, const StoreRedaction& rules, const std::string& session_id,
                   bool dry_run)
      : SessionRewriter(store, session_id, dry_run), rules_(rules) {
    report_.session_id = session_id;
  }

  Result<RedactReport> run() {
    BMAD_TRY(lock("redact"));
    if (is_live_) {
      BMAD_TRY(redact_folder());
    }
    if (!dry_run_ && is_archived(store_, session_id_)) {
      BMAD_TRY(leave_root_index());
    }
    constexpr std::string_view kCopies = "(evicted, archived or deleted)";
    path_ = kCopies;
    BMAD_TRY(rewrite_copies([&](std::string_view name, std::string& bytes) {
      note_name(fmt::format("{}/{}", session_folder(session_id_), name), name,
                "the file is packed; restore the session, and redact it again");
      const std::uint64_t changed = change_file(name, bytes);
      path_ = kCopies;
      return changed;
    }));
    // Who has maintained stands at the root, by name.
    BMAD_TRY(rewrite_file(deletion_record_path(session_id_), "record.json", false));
    BMAD_TRY(rewrite_file(deleted_audit_path(session_id_), kAuditName, false));
    BMAD_TRY(rewrite_file(kMaintenanceLockInfoName, kMaintenanceLockInfoName, false));
    BMAD_TRY(note_in_audit());
    report_.entries = log_lines_;
    report_.files = std::move(files_);
    return std::move(report_);
  }

 private:
  Status redact_folder() {
    BMAD_TRY(rewrite_logs());
    for (const char* name : {kQuarantineName, kManifestName, kSummaryName, kAuditName, kAccessName,
                             kIndexLockInfoName}) {
      BMAD_TRY(rewrite_file(session_file(session_id_, name), name, false));
    }
    BMAD_TRY(for_each_artifact([&](const std::string& path, const std::string& name) -> Status {
      BMAD_TRY(rewrite_file(path, name, false));
      return rename_artifact(path, name);
    }));
    note_name(session_folder(session_id_), session_id_,
              "it is the id of the session; export the session, and import it under another id");
    return {};
  }

  /// The file of an artifact has the name of its entry, which may have got another id.
  Status rename_artifact(const std::string& path, const std::string& name) {
    constexpr std::string_view kEnding = ".md";
    if (!name.ends_with(kEnding)) {
      return {};
    }
    const std::string id = name.substr(0, name.size() - kEnding.size());
    RedactionCounts counts;  // Its entry was counted.
    const std::string json =
        rules_.redact_object(fmt::format("{{\"id\":{}}}", json_quoted(id)), session_id_, counts);
    static_cast<void>(rules_.take_listed());
    const Result<JsonValue> object = parser_.parse(json);
    const std::string other = object ? std::string((*object)["id"].string()) : id;
    if (other == id || !is_entry_id(other)) {
      return {};
    }
    files_.push_back({.path = store_.files->display_path(path), .lines = 1});
    if (dry_run_) {
      return {};
    }
    assert(is_entry_id(other) && "its name stays below the folder");
    const std::string folder = session_file(session_id_, kArtifactsName);
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

  std::optional<std::string> changed_entry(EntryType type, std::string_view line) override {
    const Result<JsonValue> value = parser_.parse(line);
    if (!value) {
      return changed_line(line);
    }
    std::optional<std::string> entry =
        rules_.redact_entry(*value, line, session_id_, report_.counts);
    place_taken(rules_, path_, line_number_, report_);
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
    place_taken(rules_, path_, line_number_, report_);
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

  std::uint64_t change_file(std::string_view name, std::string& bytes) override {
    path_ = name;
    line_number_ = 0;
    if (name.ends_with(".jsonl")) {
      const std::optional<EntryType> type = entry_type_of_log_file(name);
      return change_lines(bytes, [&](std::string_view line) {
        ++line_number_;
        return type ? changed_entry(*type, line) : changed_line(line);
      });
    }
    std::string other = name.ends_with(".json")
                            ? changed_document(bytes)
                            : rules_.redact_text(bytes, session_id_, &report_.counts);
    place_taken(rules_, path_, 0, report_);
    const bool is_same = other == bytes;
    bytes = std::move(other);
    return is_same ? 0 : 1;
  }

  Status note_in_audit() {
    if (dry_run_ || files_.empty()) {
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
                         .count = log_lines_,
                         .detail = rules});
  }

  const StoreRedaction& rules_;
  RedactReport report_;
  std::string_view path_;          // Of the file at hand,
  std::uint64_t line_number_ = 0;  // and its line; 0: one of several files.
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
    place_taken(rules, path, 0, report);
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
  BMAD_TRY_ASSIGN(const std::string waiting, waiting_text(store));
  if (rules.has_secret(waiting)) {
    leave(store.origins->state_file(RootOrigins::kWaitingName),
          "in an entry that waits for its key",
          "name the key, so that it is written, and redact again");
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
                                                  const MemoryManager::Progress& on_progress,
                                                  bool only_repeated) {
  BMAD_TRY_ASSIGN(std::vector<std::string> sessions, rewritable_sessions(store, wanted));
  if (!wanted.empty()) {
    sessions.assign(wanted.begin(), wanted.end());
  }
  // Whoever asks for it means it, also where the config says not to redact what is written. An id
  // that is a secret has to become the same one after a crash, so the key is kept.
  BMAD_TRY_ASSIGN(const std::string policy, load_hub_policy(store));
  BMAD_TRY_ASSIGN(const std::unique_ptr<StoreRedaction> rules,
                  StoreRedaction::make(store, dry_run ? KeyUse::kNone : KeyUse::kKept, policy));
  assert(rules != nullptr);
  if (wanted.empty()) {
    rules->judge_for_all();
  }
  std::uint64_t looked_at = 0;
  const auto show = [&] {
    if (on_progress && looked_at < 2 * sessions.size()) {
      on_progress(looked_at++, 2 * sessions.size());
    }
  };
  // What is named at the end may stand at the begin: nothing is changed before all is judged.
  const int looks_max = only_repeated ? 0 : 4;
  if (only_repeated) {
    rules->seek_repeated();
  }
  std::uint64_t judged = ~std::uint64_t{0};
  for (int look = 0; look < looks_max && judged != rules->judged_count(); ++look) {
    judged = rules->judged_count();
    for (const std::string& session_id : sessions) {
      show();
      static_cast<void>(SessionRedaction(store, *rules, session_id, /*dry_run=*/true).run());
    }
    if (wanted.empty()) {
      static_cast<void>(redact_beside(store, *rules, /*dry_run=*/true));
    }
  }
  rules->list();
  const ViewsDropped views(store, !dry_run);
  BMAD_TRY(views.status());
  std::vector<RedactReport> reports;
  for (const std::string& session_id : sessions) {
    show();
    Result<RedactReport> report = SessionRedaction(store, *rules, session_id, dry_run).run();
    if (!report) {
      BMAD_TRY(wanted.empty() ? store.leave_out(session_id, std::move(report).error())
                              : Status(std::move(report).error()));
      continue;
    }
    if (!dry_run && !report->files.empty()) {
      BMAD_TRY(renew_index(store, session_id));
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
