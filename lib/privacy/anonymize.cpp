// anonymize.cpp - exports a memory, or rewrites it in place, without people, hosts and places.
//
// Everything is read twice: first to learn who is a person, then to write.
#include <cassert>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/exports.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "privacy/anonymizer.hpp"
#include "privacy/redaction.hpp"
#include "search/reads.hpp"
#include "search/root_index.hpp"
#include "session_rewrite.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_hashes.hpp"
#include "store/manifest.hpp"
#include "store/session_archive.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

class Learner final : public ExportVisitor {
 public:
  explicit Learner(Anonymizer& anonymizer) : anonymizer_(anonymizer) {}

  Status on_session(const Session& session) override {
    anonymizer_.learn(session);
    return {};
  }
  Status on_entry(const Entry& entry) override {
    if (const Result<JsonValue> value = parser_.parse(entry.json)) {
      anonymizer_.learn(entry.type, *value);
    }
    return {};
  }
  void on_problem(const Error& /*problem*/) override {}  // Told by the second reading.

 private:
  Anonymizer& anonymizer_;
  JsonParser parser_;
};

/// Hands on what comes, with pseudonyms.
class Veil final : public ExportVisitor {
 public:
  Veil(Anonymizer& anonymizer, ExportVisitor& inner, AnonymizeReport& report)
      : anonymizer_(anonymizer), inner_(inner), report_(report) {}

  Status on_session(const Session& session) override {
    ++report_.sessions;
    return inner_.on_session(anonymizer_.session(session));
  }
  Status on_entry(const Entry& entry) override {
    ++report_.entries;
    Entry other = entry;
    other.json = anonymizer_.json(entry.json);
    other.id = anonymizer_.id(entry.id);
    other.session_id = anonymizer_.id(entry.session_id);
    report_.changed += other.json == entry.json ? 0U : 1U;
    if (const Result<JsonValue> value = parser_.parse(other.json)) {
      other.who = entry_who(entry.type, *value);
      other.headline = entry_headline(entry.type, *value);
    }
    return inner_.on_entry(other);
  }
  Status on_session_end() override { return inner_.on_session_end(); }
  void on_problem(const Error& problem) override {
    ++report_.problems;
    inner_.on_problem(problem);
  }
  void on_progress(std::uint64_t done, std::uint64_t total) override {
    inner_.on_progress(done, total);
  }

 private:
  Anonymizer& anonymizer_;
  ExportVisitor& inner_;
  AnonymizeReport& report_;
  JsonParser parser_;
};

/// Who is a person is learned from the whole memory, whichever sessions are wanted.
Result<Anonymizer> learned(const Store& store, const AnonymizeOptions& options, bool ids) {
  Anonymizer anonymizer({.key = options.key.value_or(random_hash_key()),
                         .workspace = options.workspace,
                         .all_paths = options.all_paths,
                         .ids = ids});
  Learner learner(anonymizer);
  BMAD_TRY(export_entries(store, {.all_versions = true}, learner));
  anonymizer.finish_learning();
  return anonymizer;
}

/// What was done, and the archives of `archived`, which stay as they are.
void finish_report(const Store& store, const Anonymizer& anonymizer,
                   const std::vector<std::string>& archived, AnonymizeReport& report) {
  for (const std::string& id : archived) {
    report.untouched.push_back(store.files->display_path(archive_path(id)));
  }
  report.pseudonyms = anonymizer.pseudonyms().counts();
  report.left = anonymizer.left();
}

class SessionVeil final : public SessionRewriter {
 public:
  SessionVeil(Store& store, const std::string& session_id, bool dry_run, Anonymizer& anonymizer,
              AnonymizeReport& report, const std::function<void(const Error&)>& on_problem)
      : SessionRewriter(store, session_id, dry_run),
        anonymizer_(anonymizer),
        report_(report),
        on_problem_(on_problem) {}

  /// Whether something was written.
  Result<bool> run() {
    const std::uint64_t changed_before = report_.changed;
    BMAD_TRY(lock("anonymize"));
    BMAD_TRY(rewrite_logs());
    BMAD_TRY_ASSIGN(const bool has_other_manifest, rewrite_manifest());
    if (dry_run_ || (files_.empty() && !has_other_manifest)) {
      return false;
    }
    BMAD_TRY(append_audit(store_, {.session_id = session_id_,
                                   .action = "anonymize",
                                   .count = report_.changed - changed_before}));
    return true;
  }

 private:
  std::uint64_t change_file(std::string_view name, std::string& bytes) override {
    line_number_ = 0;
    assert(entry_type_of_log_file(name) && "run() rewrites logs only");
    const EntryType type = *entry_type_of_log_file(name);
    const std::uint64_t lines = change_lines(bytes, [&](std::string_view line) {
      ++line_number_;
      const bool is_torn = line.data() + line.size() == bytes.data() + bytes.size();
      return is_torn ? std::nullopt : changed_entry(type, line);
    });
    report_.changed += lines;
    return lines;
  }

  std::optional<std::string> changed_entry(EntryType type, std::string_view line) override {
    const Result<JsonValue> value = parser_.parse(line);
    const auto problem = value ? check_entry(type, *value) : std::nullopt;
    if (is_blank(line) || (problem && is_encrypted(*value))) {
      return std::nullopt;
    }
    if (!value || problem) {
      ++report_.problems;
      if (on_problem_) {
        on_problem_({.code = ErrorCode::E_STORAGE_CORRUPT,
                     .message = "the line can't be read and stays as it is: " +
                                (value ? problem->message : value.error().message),
                     .path = store_.files->display_path(
                         session_file(session_id_, entry_type_info(type).log_file)),
                     .line = line_number_});
      }
      return std::nullopt;
    }
    ++report_.entries;
    std::string other = anonymizer_.json(line);
    if (other == line) {
      return std::nullopt;
    }
    if (!dry_run_) {
      carried_.add(type, line, other);
    }
    return other;
  }

  /// Whether it was written.
  Result<bool> rewrite_manifest() {
    BMAD_TRY_ASSIGN(Manifest manifest, load_manifest(*store_.files, session_id_));
    BMAD_TRY_ASSIGN(Session session, describe_session(store_, session_id_));
    const std::string before = manifest.to_text();
    session = anonymizer_.session(session);
    manifest.user_id = session.user_id;
    manifest.agent_ids = session.agent_ids;
    manifest.project_name = session.project_name;
    manifest.session_type = session.session_type;
    manifest.tags = session.tags;
    manifest.title = session.title;
    if (const Result<JsonValue> metadata = parser_.parse(session.metadata_json)) {
      for (const JsonMember& member : metadata->members()) {
        manifest.set_metadata(member.key, json_of(member.value));
      }
    }
    if (dry_run_ || manifest.to_text() == before) {
      return false;
    }
    BMAD_TRY(remove_derived_files(*store_.files, session_id_));
    BMAD_TRY(leave_root_index());
    store_.session(session_id_)->manifest_known = false;
    BMAD_TRY(save_manifest(*store_.files, manifest));
    return true;
  }

  Anonymizer& anonymizer_;
  AnonymizeReport& report_;
  const std::function<void(const Error&)>& on_problem_;
  std::uint64_t line_number_ = 0;
};

}  // namespace

Result<AnonymizeReport> export_anonymized(const Store& store, const AnonymizeOptions& options,
                                          ExportVisitor& visitor) {
  BMAD_TRY_ASSIGN(Anonymizer anonymizer, learned(store, options, /*ids=*/true));
  AnonymizeReport report;
  Veil veil(anonymizer, visitor, report);
  ExportOptions chosen{.all_versions = true};
  chosen.filter.sessions = options.sessions;
  BMAD_TRY_ASSIGN(const ExportReport exported, export_entries(store, chosen, veil));
  finish_report(store, anonymizer, exported.archived, report);
  return report;
}

Result<AnonymizeReport> anonymize_sessions(Store& store, const AnonymizeOptions& options,
                                           const std::function<void(const Error&)>& on_problem) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions,
                  store.selected_sessions(options.sessions));
  BMAD_TRY_ASSIGN(Anonymizer anonymizer, learned(store, options, /*ids=*/false));
  const ViewsDropped views(store, !options.dry_run);
  BMAD_TRY(views.status());
  AnonymizeReport report;
  for (const std::string& session_id : sessions) {
    BMAD_TRY_ASSIGN(
        const bool is_changed,
        SessionVeil(store, session_id, options.dry_run, anonymizer, report, on_problem).run());
    if (is_changed) {
      BMAD_TRY(renew_index(store, session_id));
    }
    ++report.sessions;
    // Files with texts of the session that stay as they are.
    for (const std::string& path :
         {quarantine_path(session_id), session_file(session_id, kSummaryName),
          session_file(session_id, kArtifactsName), audit_path(session_id),
          evicted_path(session_id), deleted_folder(session_id)}) {
      if (store.files->info(path)) {
        report.untouched.push_back(store.files->display_path(path));
      }
    }
  }
  std::vector<std::string> archived;
  if (options.sessions.empty()) {
    BMAD_TRY_ASSIGN(archived, archived_session_ids(*store.files));
  }
  finish_report(store, anonymizer, archived, report);
  return report;
}

}  // namespace bmad_mem
