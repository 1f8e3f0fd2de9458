// encrypt_session.cpp - encrypts lines that are in clear, and decrypts encrypted ones.
//
//   sealing.json -> index -> logs, documents, summary -> evicted, kept, deleted, archive, deleted
//   sessions -> audit; at the end of `off`, sealing.json goes; of `rotate`, the former key in it
//
// Every file of a session is replaced whole, one after another. A crash leaves both kinds of lines,
// which is what readers expect: running it again does the rest.
#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "encryption_plan.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "lifecycle/session_copies.hpp"
#include "model/entry.hpp"
#include "privacy/encryption.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"
#include "session_rewrite.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/line_hashes.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kDocumentEnding = ".md";

/// Takes sessions out of the root's index before they change, and those behind them as well, more
/// each time: each call writes what is left of the index.
class LeavingIndex {
 public:
  LeavingIndex(Store& store, const std::vector<std::string>& sessions)
      : store_(store), sessions_(sessions) {
    assert(std::ranges::is_sorted(sessions));
  }

  Status leave(const std::string& session_id) {
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(sessions_, session_id) -
                                             sessions_.begin());
    assert(at < sessions_.size() && sessions_[at] == session_id);
    if (at < end_) {
      return {};
    }
    const std::size_t count = std::min(batch_, sessions_.size() - at);
    end_ = at + count;
    batch_ *= 8;
    return store_.root_index->remove(std::span(sessions_).subspan(at, count));
  }

 private:
  Store& store_;
  const std::vector<std::string>& sessions_;  // Sorted.
  std::size_t end_ = 0;
  std::size_t batch_ = 1;
};

class SessionEncryption final : public SessionRewriter {
 public:
  SessionEncryption(Store& store, const Encryption& encryption, const std::string& session_id,
                    LeavingIndex& index)
      : SessionRewriter(store, session_id, /*dry_run=*/false),
        encryption_(encryption),
        leaving_(index) {
    report_.session_id = session_id;
  }

  Result<EncryptReport> run() {
    BMAD_TRY(lock("encrypt"));
    BMAD_TRY(note_hidden());
    if (is_live_) {
      BMAD_TRY(change_folder());
    }
    BMAD_TRY(change_copies());
    for (const FileCount& file : files_) {
      report_.changed += file.lines;
    }
    report_.files = std::move(files_);
    if (report_.changed > 0) {
      BMAD_TRY(is_live_ ? Status() : make_deleted_folder(*store_.files, session_id_));
      BMAD_TRY(append_audit(
          store_, {.session_id = session_id_,
                   .action = encryption_.step == EncryptStep::kOff ? "decrypt" : "encrypt",
                   .count = report_.changed,
                   .detail = encryption_.record.key_id}));
    }
    return std::move(report_);
  }

 private:
  /// An entry with one encrypted version is encrypted in all.
  Status note_hidden() {
    if (is_wanted_whole() || encryption_.step == EncryptStep::kOff) {
      return {};
    }
    const auto note = [this](EntryType type, std::string_view line) {
      const Result<JsonValue> value = parser_.parse(line);
      if (value && ((is_encrypted(*value) && check_entry(type, *value)) ||
                    encryption_.record.wants(session_id_, type, *value))) {
        hidden_.emplace(type, entry_id(*value));
      }
      return std::optional<std::string>();
    };
    const auto note_file = [&](std::string_view name, std::string& bytes) -> std::uint64_t {
      const std::optional<EntryType> type = entry_type_of_log_file(name);
      return type ? change_lines(bytes, [&](std::string_view line) { return note(*type, line); })
                  : 0;
    };
    for (const std::string& log : log_files()) {
      BMAD_TRY_ASSIGN(
          std::string bytes,
          read_if_there(*store_.files, session_file(session_id_, log), kRewrittenSizeMax));
      note_file(log, bytes);
    }
    BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store_.files, session_id_));
    BMAD_TRY_ASSIGN(SessionCopies copies, SessionCopies::read(*store_.files, session_id_, record));
    const auto seen = copies.rewrite(*store_.files, /*dry_run=*/true, note, note_file);
    return seen ? Status() : Status(seen.error());
  }

  [[nodiscard]] bool is_wanted_whole() const {
    const EncryptionRecord& record = encryption_.record;
    return !record.ends && (record.all || is_among(record.sessions, session_id_));
  }
  /// Whether what is derived of the session may quote what is encrypted.
  [[nodiscard]] bool may_quote() const { return is_wanted_whole() || !encrypted_ids_.empty(); }

  Status change_folder() {
    BMAD_TRY(rewrite_logs());
    BMAD_TRY(rewrite_file(session_file(session_id_, kQuarantineName), kQuarantineName, true));
    BMAD_TRY(for_each_artifact([&](const std::string& path, const std::string& name) {
      return rewrite_file(path, fmt::format("{}/{}", kArtifactsName, name), true);
    }));
    if (!may_quote()) {
      return {};
    }
    for (const char* name : {kSummaryName, kIndexName, kSummaryStateName, kSummaryLogName,
                             kLearningStateName, kToldName}) {
      const std::string path = session_file(session_id_, name);
      BMAD_TRY_ASSIGN(const bool there, is_there(*store_.files, path));
      if (there) {
        report_.gone.push_back(store_.files->display_path(path));
        BMAD_TRY(remove_durably(*store_.files, path));
      }
    }
    return {};
  }

  Status leave_index() override { return leaving_.leave(session_id_); }

  Status drop_archive_indexes() {
    for (const std::string& path :
         {archive_index_path(session_id_), archive_known_path(session_id_),
          evicted_index_path(session_id_)}) {
      BMAD_TRY(remove_durably(*store_.files, path));
    }
    return {};
  }

  Status change_copies() {
    const bool is_packed = is_archived(store_, session_id_);
    if (is_packed || is_there(*store_.files, evicted_path(session_id_)).value_or(true)) {
      BMAD_TRY(leave_root_index());
      BMAD_TRY(drop_archive_indexes());
    }
    BMAD_TRY_ASSIGN(const bool any,
                    rewrite_copies([this](std::string_view name, std::string& bytes) {
                      return change_file(name, bytes);
                    }));
    return any ? drop_archive_indexes() : Status();
  }

  // Lines and documents.

  std::uint64_t change_file(std::string_view name, std::string& bytes) override {
    if (const std::optional<EntryType> type = entry_type_of_log_file(name)) {
      newest_.clear();
      return change_lines(bytes, [&](std::string_view line) {
        return is_outdated(line) ? std::optional(std::string()) : changed_entry(*type, line);
      });
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

  /// Of an encrypted line after a newer version: in clear it would replace that.
  bool is_outdated(std::string_view line) {
    const Result<JsonValue> value = parser_.parse(line);
    if (encryption_.step != EncryptStep::kOff || !value) {
      return false;
    }
    Timestamp& newest = newest_[std::string(entry_id(*value))];
    const Timestamp at = entry_written_time(*value);
    const bool is_older = is_encrypted(*value) && at < newest;
    newest = std::max(newest, at);
    return is_older;
  }

  void leave(std::string_view name, std::string detail, std::string remedy) {
    report_.left.push_back({.place = fmt::format("{}/{}", session_folder(session_id_), name),
                            .detail = std::move(detail),
                            .remedy = std::move(remedy)});
  }

  std::optional<std::string> changed_entry(EntryType type, std::string_view line) override {
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
    if (is_encrypted(value) && check_entry(type, value)) {
      if (is_current(encryption_key_id(value))) {
        note_encrypted(type, value);
        return std::optional<std::string>();
      }
      BMAD_TRY_ASSIGN(opened, open_line(encryption_.keys, place, value));
      if (encryption_.step == EncryptStep::kOff) {
        return opened;
      }
      line = *opened;
      BMAD_TRY_ASSIGN(value, inner_.parse(line));
    } else if (!encryption_.record.wants(session_id_, type, value) &&
               !hidden_.contains({type, std::string(entry_id(value))})) {
      return std::optional<std::string>();
    }
    note_encrypted(type, value);
    BMAD_TRY_ASSIGN(std::string encrypted,
                    encrypt_line(encryption_.keys.current(), place, value, line));
    return std::optional(std::move(encrypted));
  }

  /// Whether what has that key stays as it is.
  [[nodiscard]] bool is_current(std::string_view key_id) const {
    return encryption_.step != EncryptStep::kOff && key_id == encryption_.keys.current().id();
  }

  void note_encrypted(EntryType type, JsonValue value) {
    encrypted_ids_.insert(type == EntryType::kArtifact ? std::string(entry_id(value)) : "");
  }

  /// A document becomes one encrypted line, and one again.
  std::uint64_t change_document(std::string_view name, std::string& bytes) {
    const std::size_t begin = std::string_view(kArtifactsName).size() + 1;
    const std::string id(name.substr(begin, name.size() - begin - kDocumentEnding.size()));
    const LinePlace place{.session_id = session_id_, .type = EntryType::kArtifact};
    const Result<JsonValue> value = parser_.parse(bytes);
    const std::string_view key_id = value ? encryption_key_id(*value) : std::string_view();
    std::string text = bytes;
    if (!key_id.empty()) {
      if (is_current(key_id)) {
        return 0;
      }
      const Result<std::string> opened = open_line(encryption_.keys, place, *value);
      const Result<JsonValue> document =
          opened ? inner_.parse(*opened) : Result<JsonValue>(opened.error());
      if (!document) {
        leave(name, document.error().message, "run this again with its key");
        return 0;
      }
      text = (*document)["document"].string();
      if (encryption_.step == EncryptStep::kOff) {
        bytes = std::move(text);
        return 1;
      }
    } else if (!is_wanted_whole() && !encrypted_ids_.contains(id)) {
      return 0;
    }
    const std::string line = document_line(id, text, /*is_sensitive=*/false);
    const Result<JsonValue> object = parser_.parse(line);
    Result<std::string> encrypted =
        object ? encrypt_line(encryption_.keys.current(), place, *object, line)
               : Result<std::string>(object.error());
    if (!encrypted) {
      leave(name, encrypted.error().message, "move the document out of the memory");
      return 0;
    }
    bytes = *std::move(encrypted) + '\n';
    return 1;
  }

  const Encryption& encryption_;
  LeavingIndex& leaving_;
  std::set<std::pair<EntryType, std::string>> hidden_;
  std::set<std::string> encrypted_ids_;      // Of artifacts; "" stands for others.
  std::map<std::string, Timestamp> newest_;  // In the log, so far; of kOff.
  JsonParser inner_;
  EncryptReport report_;
};

Status save_record(Store& store, const StoreEncryption& own, const EncryptionRecord& record) {
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("encrypt"));
  BMAD_TRY(replace_file(*store.files, kLayoutFile,
                        fmt::format("{{\"layout_version\": {}}}\n", kLayoutVersion)));
  BMAD_TRY(replace_file(*store.files, kEncryptionFile, record.to_text()));
  own.note(&record);  // Only now: a copy of what was never written would refuse all writes.
  return {};
}

/// False when something stays as it was.
Result<bool> change_sessions(Store& store, const Encryption& encryption,
                             const std::vector<std::string>& sessions,
                             const MemoryManager::Progress& on_progress,
                             std::vector<EncryptReport>& reports) {
  LeavingIndex index(store, sessions);
  std::vector<std::string> changed;
  std::uint64_t done = 0;
  bool is_whole = true;
  Status failed;
  for (const std::string& session_id : sessions) {
    if (on_progress) {
      on_progress(done++, sessions.size());
    }
    Result<EncryptReport> report = SessionEncryption(store, encryption, session_id, index).run();
    if (!report) {
      changed.push_back(session_id);
      is_whole = false;
      failed = store.leave_out(session_id, std::move(report).error());
      if (failed) {
        continue;
      }
      break;
    }
    is_whole = is_whole && report->left.empty();
    if (report->changed > 0) {
      store.forget_session(session_id);
      changed.push_back(session_id);
    }
    if (report->changed > 0 || !report->left.empty()) {
      reports.push_back(*std::move(report));
    }
  }
  if (!changed.empty()) {  // Somebody may have put what was there back in the meantime.
    BMAD_TRY(store.root_index->remove(changed));
    refresh_indexes(store, changed);
  }
  BMAD_TRY(std::move(failed));
  return is_whole;
}

}  // namespace

Result<std::vector<EncryptReport>> encrypt_sessions(Store& store, const EncryptOptions& options,
                                                    const MemoryManager::Progress& on_progress) {
  const auto* const own = dynamic_cast<const StoreEncryption*>(store.encryption.get());
  if (own == nullptr) {
    return nothing_encrypted();
  }
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions,
                  rewritable_sessions(store, options.sessions));
  BMAD_TRY_ASSIGN(Encryption encryption, plan_encryption(*own, options));
  BMAD_TRY(save_record(store, *own, encryption.record));
  const ViewsDropped views(store);
  BMAD_TRY(views.status());
  std::vector<EncryptReport> reports;
  BMAD_TRY_ASSIGN(const bool is_whole,
                  encryption.forgets
                      ? Result<bool>(false)
                      : change_sessions(store, encryption, sessions, on_progress, reports));
  if (options.step != EncryptStep::kOff && is_whole && !encryption.record.former_ids.empty()) {
    encryption.record.former_ids.clear();
    encryption.record.recipe.reset();  // Only a former key is of a passphrase: rotate takes a file.
    BMAD_TRY(save_record(store, *own, encryption.record));
  }
  if (options.step == EncryptStep::kOff && (is_whole || encryption.forgets)) {
    own->note(nullptr);
    static_cast<void>(store.origins->change_state(kHeadName, [](const auto&) { return ""; }));
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("encrypt"));
    BMAD_TRY(remove_durably(*store.files, kEncryptionFile));
    BMAD_TRY(is_whole ? remove_durably(*store.files, kLayoutFile) : Status());
  } else {
    update_head(store);
  }
  return reports;
}

}  // namespace bmad_mem
