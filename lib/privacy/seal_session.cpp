// seal_session.cpp - lines that were written in clear are sealed, and sealed ones opened.
//
//   sealing.json -> index -> logs, documents, summary -> evicted, kept, deleted, archive, deleted
//   sessions -> audit; at the end of `off`, sealing.json goes; of `rotate`, the former key in it
//
// Every file of a session is replaced whole, one after another. A crash leaves both kinds of lines,
// which is what readers expect: running it again does the rest.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/audit_log.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/session_copies.hpp"
#include "model/entry.hpp"
#include "model/validate.hpp"
#include "privacy/sealing.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"
#include "session_rewrite.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/seal.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kSealedFileSizeMax = std::uint64_t{4} << 30U;
constexpr std::string_view kDocumentEnding = ".md";

/// What is to become of each line.
struct Sealing {
  SealStep step = SealStep::kOn;
  SealingRecord record;
  SealKeys keys;  ///< The first seals.
};

class SessionSealing {
 public:
  SessionSealing(Store& store, const Sealing& sealing, const std::string& session_id)
      : store_(store), sealing_(sealing), session_id_(session_id) {
    report_.session_id = session_id;
  }

  Result<SealReport> run() {
    BMAD_TRY_ASSIGN(const FileLock::Guard root_guard, store_.lock_root("seal"));
    BMAD_TRY_ASSIGN(const bool is_live, is_session_there(*store_.files, session_id_));
    std::optional<FileLock::Guard> guard;
    if (is_live) {
      BMAD_TRY_ASSIGN(guard, store_.session(session_id_)->writer.lock("seal"));
    }
    BMAD_TRY(remove_leftovers(*store_.files, session_id_));
    BMAD_TRY(cut_torn_ends(*store_.files, session_id_));
    if (is_live) {
      BMAD_TRY(change_folder());
    }
    BMAD_TRY(change_copies());
    if (report_.changed > 0) {
      BMAD_TRY(is_live ? Status() : make_deleted_folder(*store_.files, session_id_));
      BMAD_TRY(append_audit(*store_.files,
                            {.at = store_.clock.now(),
                             .session_id = session_id_,
                             .agent_id = store_.agent_id,
                             .action = sealing_.step == SealStep::kOff ? "unseal" : "seal",
                             .count = report_.changed,
                             .detail = sealing_.record.key_id}));
    }
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool is_wanted_whole() const {
    const SealingRecord& record = sealing_.record;
    return !record.ends &&
           (record.all || std::ranges::find(record.sessions, session_id_) != record.sessions.end());
  }
  /// Whether what is derived of the session may quote what is sealed.
  [[nodiscard]] bool may_quote() const { return is_wanted_whole() || !sealed_ids_.empty(); }

  Status change_folder() {
    const std::string folder = session_folder(session_id_);
    BMAD_TRY(remove_temporaries(*store_.files, folder));
    for (const std::string& log : log_files()) {
      BMAD_TRY(change_live(session_file(session_id_, log), log));
    }
    BMAD_TRY(change_live(session_file(session_id_, kQuarantineName), kQuarantineName));
    const std::string artifacts = session_file(session_id_, kArtifactsName);
    BMAD_TRY(remove_temporaries(*store_.files, artifacts));
    const Result<std::vector<std::string>> names = store_.files->list(artifacts);
    BMAD_TRY(names || is_not_found(names.error()) ? Status() : Status(names.error()));
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
      BMAD_TRY(change_live(fmt::format("{}/{}", artifacts, name),
                           fmt::format("{}/{}", kArtifactsName, name)));
    }
    if (!may_quote()) {
      return {};
    }
    for (const char* name :
         {kSummaryName, kIndexName, kSummaryStateName, kSummaryLogName, kLearningStateName}) {
      BMAD_TRY(drop(session_file(session_id_, name)));
    }
    return {};
  }

  Status drop(const std::string& path) {
    BMAD_TRY_ASSIGN(const bool there, is_there(*store_.files, path));
    if (there) {
      report_.gone.push_back(store_.files->display_path(path));
      BMAD_TRY(remove_durably(*store_.files, path));
    }
    return {};
  }

  Status change_live(const std::string& path, std::string_view name) {
    Result<std::string> bytes = read_file(*store_.files, path, kSealedFileSizeMax);
    if (!bytes) {
      return is_not_found(bytes.error()) ? Status() : Status(std::move(bytes).error());
    }
    const std::uint64_t count = change_file(name, *bytes);
    if (count == 0) {
      return {};
    }
    report_.changed += count;
    report_.files.push_back({.path = store_.files->display_path(path), .lines = count});
    for (const std::string& derived : {index_path(session_id_), std::string(kUserPreferencesFile),
                                       std::string(kAgentKnowledgeFile)}) {
      BMAD_TRY(remove_durably(*store_.files, derived));
    }
    BMAD_TRY(leave_root_index());
    carried_.settle();
    return replace_log(*store_.files, path, *bytes);
  }

  /// Before anything changes: after a crash nobody would find anything to do.
  Status leave_root_index() {
    if (has_left_index_) {
      return {};
    }
    has_left_index_ = true;
    return store_.root_index->remove({&session_id_, 1});
  }

  Status drop_packed_indexes() {
    for (const std::string& path :
         {archive_index_path(session_id_), archive_known_path(session_id_),
          evicted_index_path(session_id_)}) {
      BMAD_TRY(remove_durably(*store_.files, path));
    }
    return {};
  }

  Status change_copies() {
    BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store_.files, session_id_));
    BMAD_TRY_ASSIGN(SessionCopies copies, SessionCopies::read(*store_.files, session_id_, record));
    const bool is_packed = is_archived(store_, session_id_);
    if (is_packed || is_there(*store_.files, evicted_path(session_id_)).value_or(true)) {
      BMAD_TRY(leave_root_index());
      BMAD_TRY(drop_packed_indexes());
    }
    BMAD_TRY_ASSIGN(
        const std::vector<FileCount> files,
        copies.rewrite(
            *store_.files, /*dry_run=*/false,
            [this](EntryType type, std::string_view line) { return changed_line(type, line); },
            [this](std::string_view name, std::string& bytes) {
              return change_file(name, bytes);
            }));
    carried_.settle();
    for (const FileCount& file : files) {
      report_.changed += file.lines;
      report_.files.push_back(file);
    }
    return files.empty() ? Status() : drop_packed_indexes();
  }

  // Lines and documents.

  std::uint64_t change_file(std::string_view name, std::string& bytes) {
    if (const std::optional<EntryType> type = entry_type_of_log_file(name)) {
      return change_lines(bytes, [&](std::string_view line) { return changed_line(*type, line); });
    }
    if (name.starts_with(kArtifactsName) && name.ends_with(kDocumentEnding)) {
      return change_document(name, bytes);
    }
    if (name == kSummaryName && may_quote() && !bytes.empty()) {
      bytes.clear();
      return 1;
    }
    if (name == kQuarantineName && may_quote() && !bytes.empty()) {
      leave(name, "what repair took out of the logs is in clear",
            "look at it, then delete the file");
    }
    return 0;
  }

  void leave(std::string_view name, std::string detail, std::string remedy) {
    report_.left.push_back({.place = fmt::format("{}/{}", session_folder(session_id_), name),
                            .detail = std::move(detail),
                            .remedy = std::move(remedy)});
  }

  std::optional<std::string> changed_line(EntryType type, std::string_view line) {
    const std::string_view log = entry_type_info(type).log_file;
    if (is_blank(line)) {
      return std::nullopt;
    }
    const Result<JsonValue> value = parser_.parse(line);
    if (!value || entry_id(*value).empty()) {
      if (may_quote()) {
        leave(log, "a damaged line is in clear", "run `bmad-mem repair`, then this again");
      }
      return std::nullopt;
    }
    const LinePlace place{.session_id = session_id_, .type = type};
    Result<std::optional<std::string>> other = changed_value(place, *value, line, type);
    if (!other) {
      leave(log, fmt::format("entry {}: {}", entry_id(*value), other.error().message),
            "run this again with its key");
      return std::nullopt;
    }
    if (*other) {
      carried_.add(type, line, **other);
    }
    return *std::move(other);
  }

  Result<std::optional<std::string>> changed_value(const LinePlace& place, JsonValue value,
                                                   std::string_view line, EntryType type) {
    std::optional<std::string> opened;
    if (is_sealed(value) && check_entry(type, value)) {
      const bool is_new = sealing_key_id(value) == sealing_.keys.current().id();
      if (is_new && sealing_.step != SealStep::kOff) {
        note_sealed(type, value);
        return std::optional<std::string>();
      }
      BMAD_TRY_ASSIGN(opened, open_line(sealing_.keys, place, value));
      if (sealing_.step == SealStep::kOff) {
        return opened;
      }
      line = *opened;
      BMAD_TRY_ASSIGN(value, inner_.parse(line));
    } else if (!sealing_.record.wants(session_id_, type, value)) {
      return std::optional<std::string>();
    }
    note_sealed(type, value);
    BMAD_TRY_ASSIGN(std::string sealed, seal_line(sealing_.keys.current(), place, value, line));
    return std::optional(std::move(sealed));
  }

  void note_sealed(EntryType type, JsonValue value) {
    sealed_ids_.insert(type == EntryType::kArtifact ? std::string(entry_id(value)) : "");
  }

  /// A document becomes one sealed line, and one again.
  std::uint64_t change_document(std::string_view name, std::string& bytes) {
    const std::size_t begin = std::string_view(kArtifactsName).size() + 1;
    const std::string id(name.substr(begin, name.size() - begin - kDocumentEnding.size()));
    const LinePlace place{.session_id = session_id_, .type = EntryType::kArtifact};
    const Result<JsonValue> value = parser_.parse(bytes);
    const std::string_view key_id = value ? sealing_key_id(*value) : std::string_view();
    std::string text = bytes;
    if (!key_id.empty()) {
      if (key_id == sealing_.keys.current().id() && sealing_.step != SealStep::kOff) {
        return 0;
      }
      const Result<std::string> opened = open_line(sealing_.keys, place, *value);
      const Result<JsonValue> document =
          opened ? inner_.parse(*opened) : Result<JsonValue>(opened.error());
      if (!document) {
        leave(name, document.error().message, "run this again with its key");
        return 0;
      }
      text = (*document)["document"].string();
      if (sealing_.step == SealStep::kOff) {
        bytes = std::move(text);
        return 1;
      }
    } else if (!is_wanted_whole() && !sealed_ids_.contains(id)) {
      return 0;
    }
    const std::string line = document_line(id, text, /*is_sensitive=*/false);
    const Result<JsonValue> object = parser_.parse(line);
    Result<std::string> sealed = object ? seal_line(sealing_.keys.current(), place, *object, line)
                                        : Result<std::string>(object.error());
    if (!sealed) {
      leave(name, sealed.error().message, "move the document out of the memory");
      return 0;
    }
    bytes = *std::move(sealed) + '\n';
    return 1;
  }

  Store& store_;
  const Sealing& sealing_;
  const std::string& session_id_;
  bool has_left_index_ = false;
  std::set<std::string> sealed_ids_;  // Of artifacts; "" stands for others.
  JsonParser parser_;
  JsonParser inner_;
  CarriedLines carried_{store_.origins->ledger(), session_id_};
  SealReport report_;
};

Error nothing_sealed() {
  return {.code = ErrorCode::E_INVALID_QUERY,
          .message = "nothing is sealed in this memory; `bmad-mem seal on` begins",
          .field = "step"};
}

/// Whether a key here opens what an interrupted rotation has not reached.
bool has_former(const SealingRecord& record, const SealKeys& here) {
  return std::ranges::any_of(record.former_ids,
                             [&](const std::string& id) { return here.find(id) != nullptr; });
}

Error other_key(const SealingRecord& record, const SealKeys& here) {
  return {.code = ErrorCode::E_ACCESS_DENIED,
          .message = fmt::format(
              "the memory is sealed with the key {}, and the key here is {}; {}", record.key_id,
              here.current().id(),
              has_former(record, here)
                  ? "`bmad-mem seal rotate` was interrupted: run it again with the same new key"
                  : "name that one; nothing was changed"),
          .field = "key"};
}

/// The new key seals, and the one of before is a former one until all is sealed anew: a run that
/// is cut short loses neither. Errors: E_ACCESS_DENIED when no key here opens what is sealed,
/// before anything changes.
Status plan_rotation(const StoreSealing& own, const std::string& new_key_file, Sealing& sealing) {
  SealingRecord& record = sealing.record;
  std::error_code failed;
  const bool opens = sealing.keys.find(record.key_id) != nullptr;
  const bool may_go_on =
      has_former(record, sealing.keys) && std::filesystem::exists(new_key_file, failed);
  if (!opens && !may_go_on) {
    return other_key(record, sealing.keys);
  }
  BMAD_TRY(own.make_file(new_key_file));
  BMAD_TRY_ASSIGN(const SealKeys others, own.read_file(new_key_file));
  const SealKey& next = others.current();
  if (next.id() != record.key_id) {
    if (!opens) {
      return other_key(record, sealing.keys);
    }
    std::erase(record.former_ids, next.id());
    record.former_ids.push_back(std::exchange(record.key_id, next.id()));
  }
  if (sealing.keys.find(next.id()) == nullptr) {
    sealing.keys.rotate(next);
  }
  return {};
}

/// What sealing.json is to say, and the keys for it.
Result<Sealing> plan_sealing(Store& store, const StoreSealing& own, const SealOptions& options) {
  Sealing sealing{.step = options.step, .record = {}, .keys = {}};
  BMAD_TRY_ASSIGN(const std::optional<SealingRecord> before, load_sealing(*store.files));
  if (!before && options.step != SealStep::kOn) {
    return nothing_sealed();
  }
  SealingRecord& record = sealing.record = before.value_or(SealingRecord());
  if (!before && !own.source().passphrase.empty()) {
    record.recipe = new_passphrase_recipe();
  }
  if (!before && !own.source().key_file.empty()) {
    BMAD_TRY(own.make_file(own.source().key_file));
  }
  BMAD_TRY_ASSIGN(const std::shared_ptr<const SealKeys> keys, own.keys(record.recipe));
  sealing.keys = *keys;
  if (options.step == SealStep::kRotate) {
    BMAD_TRY(plan_rotation(own, options.new_key_file, sealing));
  }
  record.key_id = record.key_id.empty() ? keys->current().id() : record.key_id;
  const SealKey* const current = sealing.keys.find(record.key_id);
  if (current == nullptr) {
    return other_key(record, *keys);
  }
  sealing.keys.rotate(SealKey(*current));
  record.ends = options.step == SealStep::kOff;
  if (options.step == SealStep::kOn) {
    record.all = record.all || (options.sessions.empty() && !options.sensitive);
    record.sensitive = record.sensitive || options.sensitive;
    for (const std::string& session : options.sessions) {
      if (std::ranges::find(record.sessions, session) == record.sessions.end()) {
        record.sessions.push_back(session);
      }
    }
  }
  return sealing;
}

Status save_record(Store& store, const SealingRecord& record) {
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("seal"));
  BMAD_TRY(replace_file(*store.files, kLayoutFile,
                        fmt::format("{{\"layout_version\": {}}}\n", kLayoutVersion)));
  return replace_file(*store.files, kSealingFile, record.to_text());
}

}  // namespace

Result<std::vector<SealReport>> seal_sessions(Store& store, const SealOptions& options,
                                              const MemoryManager::Progress& on_progress) {
  const auto* const own = dynamic_cast<const StoreSealing*>(store.sealing.get());
  if (own == nullptr) {
    return nothing_sealed();
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, all_session_ids(store));
  for (const std::string& session_id : options.sessions) {
    BMAD_TRY(check_session_id(session_id));
    if (!std::ranges::binary_search(sessions, session_id)) {
      BMAD_TRY(check_session(store, session_id));
    }
  }
  BMAD_TRY_ASSIGN(Sealing sealing, plan_sealing(store, *own, options));
  BMAD_TRY(save_record(store, sealing.record));
  const ViewsDropped views(store);
  BMAD_TRY(views.status());
  std::vector<SealReport> reports;
  std::uint64_t done = 0;
  bool is_whole = true;
  for (const std::string& session_id : sessions) {
    if (on_progress) {
      on_progress(done++, sessions.size());
    }
    BMAD_TRY_ASSIGN(SealReport report, SessionSealing(store, sealing, session_id).run());
    is_whole = is_whole && report.left.empty();
    if (report.changed > 0) {
      store.forget_session(session_id);
      BMAD_TRY(store.root_index->remove({&session_id, 1}));
      refresh_index(store, session_id);
    }
    if (report.changed > 0 || !report.left.empty()) {
      reports.push_back(std::move(report));
    }
  }
  if (options.step != SealStep::kOff && is_whole && !sealing.record.former_ids.empty()) {
    sealing.record.former_ids.clear();
    sealing.record.recipe
        .reset();  // Only a former key is made of a passphrase: rotate takes a file.
    BMAD_TRY(save_record(store, sealing.record));
  }
  if (options.step == SealStep::kOff && is_whole) {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("seal"));
    BMAD_TRY(remove_durably(*store.files, kSealingFile));
    BMAD_TRY(remove_durably(*store.files, kLayoutFile));
  }
  return reports;
}

}  // namespace bmad_mem
