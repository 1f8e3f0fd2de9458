// anonymize.cpp - a memory without the people, hosts and places in it: as an export, or in place.
//
// Everything is read twice: first to learn who is a person, then to write.
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/exports.hpp"
#include "bmad_mem/json_copy.hpp"
#include "bmad_mem/json_parser.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/audit_log.hpp"
#include "model/entry.hpp"
#include "privacy/anonymizer.hpp"
#include "privacy/redaction.hpp"
#include "search/indexing.hpp"
#include "search/reads.hpp"
#include "search/root_index.hpp"
#include "session_rewrite.hpp"
#include "store/atomic_file.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"
#include "store/seal.hpp"
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

void note_pseudonyms(const Anonymizer& anonymizer, AnonymizeReport& report) {
  for (const auto& [kind, count] : anonymizer.pseudonyms().counts()) {
    report.pseudonyms[kind] = count;
  }
  report.left = anonymizer.left();
}

/// Files with texts of the session that stay as they are.
std::vector<std::string> untouched_of(const Store& store, const std::string& session_id) {
  std::vector<std::string> found;
  for (const std::string& path :
       {quarantine_path(session_id), session_file(session_id, kSummaryName),
        session_file(session_id, kArtifactsName), audit_path(session_id), evicted_path(session_id),
        deleted_folder(session_id)}) {
    if (store.files->info(path)) {
      found.push_back(store.files->display_path(path));
    }
  }
  return found;
}

class SessionRewrite {
 public:
  SessionRewrite(Store& store, const std::string& session_id, bool dry_run, Anonymizer& anonymizer,
                 AnonymizeReport& report, const std::function<void(const Error&)>& on_problem)
      : store_(store),
        session_id_(session_id),
        dry_run_(dry_run),
        anonymizer_(anonymizer),
        report_(report),
        on_problem_(on_problem) {}

  Status run() {
    const std::uint64_t changed_before = report_.changed;
    {
      BMAD_TRY_ASSIGN(const FileLock::Guard guard,
                      store_.session(session_id_)->writer.lock("anonymize"));
      for (const EntryType type : kEntryTypes) {
        BMAD_TRY(rewrite_log(type));
      }
      BMAD_TRY(rewrite_manifest());
      if (!touched_) {
        return {};
      }
      BMAD_TRY(append_audit(store_, {.session_id = session_id_,
                                     .action = "anonymize",
                                     .count = report_.changed - changed_before}));
    }
    store_.forget_session(session_id_);
    BMAD_TRY(store_.root_index->remove({&session_id_, 1}));
    refresh_index(store_, session_id_);
    return {};
  }

 private:
  Status rewrite_log(EntryType type) {
    const std::string path = session_file(session_id_, entry_type_info(type).log_file);
    struct Line {
      std::uint64_t offset = 0;
      std::uint64_t size = 0;
      std::string text;
    };
    std::vector<Line> lines;
    CarriedLines carried(dry_run_ ? nullptr : store_.origins->ledger(), session_id_);
    JsonParser parser;
    const auto take = [&](const ScannedEntry& entry) {
      ++report_.entries;
      if (std::string other = anonymizer_.json(entry.text); other != entry.text) {
        carried.add(type, entry.text, other);
        lines.push_back({entry.offset, entry.line_size, std::move(other)});
      }
    };
    const auto damaged = [&](const DamagedLine& line) {
      ++report_.problems;
      if (on_problem_) {
        on_problem_({.code = ErrorCode::E_STORAGE_CORRUPT,
                     .message = "the line can't be read and stays as it is: " + line.reason,
                     .path = store_.files->display_path(path),
                     .line = line.line});
      }
    };
    BMAD_TRY(scan_log(*store_.files, path, type, parser, {.on_entry = take, .on_damage = damaged}));
    report_.changed += lines.size();
    if (lines.empty() || dry_run_) {
      return {};
    }
    BMAD_TRY_ASSIGN(const std::string old, read_file(*store_.files, path, kRewrittenSizeMax));
    std::string bytes;
    bytes.reserve(old.size());
    std::size_t from = 0;
    for (const Line& line : lines) {
      bytes.append(old, from, line.offset - from).append(line.text).append("\n");
      from = line.offset + line.size;
    }
    bytes.append(old, from);
    BMAD_TRY(remove_derived());
    carried.settle();
    return replace_log(*store_.files, path, bytes);
  }

  Status rewrite_manifest() {
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
    JsonParser parser;
    if (const Result<JsonValue> metadata = parser.parse(session.metadata_json)) {
      for (const JsonMember& member : metadata->members()) {
        manifest.set_metadata(member.key, json_of(member.value));
      }
    }
    if (dry_run_ || manifest.to_text() == before) {
      return {};
    }
    BMAD_TRY(remove_derived());
    store_.session(session_id_)->manifest_known = false;
    return save_manifest(*store_.files, manifest);
  }

  /// What is made from the logs holds the names too.
  Status remove_derived() {
    if (touched_) {
      return {};
    }
    touched_ = true;
    BMAD_TRY(remove_derived_files(*store_.files, session_id_));
    return store_.root_index->remove({&session_id_, 1});
  }

  Store& store_;
  const std::string& session_id_;
  bool dry_run_;
  Anonymizer& anonymizer_;
  AnonymizeReport& report_;
  const std::function<void(const Error&)>& on_problem_;
  bool touched_ = false;
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
  for (const std::string& id : exported.archived) {
    report.untouched.push_back(store.files->display_path(archive_path(id)));
  }
  note_pseudonyms(anonymizer, report);
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
    BMAD_TRY(
        SessionRewrite(store, session_id, options.dry_run, anonymizer, report, on_problem).run());
    ++report.sessions;
    for (std::string& path : untouched_of(store, session_id)) {
      report.untouched.push_back(std::move(path));
    }
  }
  if (options.sessions.empty()) {
    BMAD_TRY_ASSIGN(const std::vector<std::string> archived, archived_session_ids(*store.files));
    for (const std::string& id : archived) {
      report.untouched.push_back(store.files->display_path(archive_path(id)));
    }
  }
  note_pseudonyms(anonymizer, report);
  return report;
}

}  // namespace bmad_mem
