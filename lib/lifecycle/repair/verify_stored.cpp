// verify_stored.cpp - archives, and all else that is stored of sessions beside their logs.
#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "repair_steps.hpp"
#include "search/archive_reader.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/return_lines.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kBringBack = "; bring the file back from git or from a backup";
constexpr std::uint64_t kStoredFileSizeMax = 256U << 20U;
constexpr std::string_view kIsUnread =
    "is no file of a memory, so its entries are not found; move it away once you have what is in "
    "it";

/// All that is stored of one session outside its logs.
class StoredCheck {
 public:
  StoredCheck(const Store& store, const std::string& session_id, VerifyReport& report)
      : files_(*store.files),
        store_(store),
        session_id_(session_id),
        report_(report),
        found_(report, session_id),
        encrypted_(store, report) {}

  void run() {
    const auto has_folder = [&] { return is_session_there(files_, session_id_).value_or(true); };
    if (!has_folder()) {
      const std::size_t before = report_.findings.size();
      check_archive();
      check_retained();
      assert(report_.findings.size() >= before);
      if (has_folder()) {
        report_.findings.resize(before);  // Brought back meanwhile.
      }
    } else if (files_.info(archive_path(session_id_))) {
      check_archive_beside_folder();
    }
    check_evicted();
    check_deleted();
    check_json_lines(deleted_audit_path(session_id_));
    const Result<FileInfo> folder = files_.info(session_folder(session_id_));
    if (folder && folder->kind == FileKind::kDirectory) {
      check_json_lines(audit_path(session_id_));
      check_json_lines(quarantine_path(session_id_));
      check_names();
    }
  }

 private:
  /// Adds the error of a read; what isn't there is none.
  template <typename T>
  bool note(FindingKind kind, const Result<T>& result) {
    const bool is_missing = !result && is_not_found(result.error());
    if (!result && !is_missing) {
      found_.add(kind, result.error());
    }
    return result.has_value();
  }

  void add(FindingKind kind, const std::string& path, std::string reason) {
    found_.add(kind, files_.display_path(path), 0, std::move(reason));
  }

  void check_archive() {
    const Result<ArchiveManifest> manifest = read_archive_manifest(files_, session_id_);
    const Result<FileInfo> info = files_.info(archive_path(session_id_));
    if (!info && is_not_found(info.error())) {
      if (manifest) {
        add(FindingKind::kDamagedArchive, archive_path(session_id_),
            fmt::format("is missing{}", kBringBack));
      }
      return;
    }
    Result<std::vector<ArchivedFile>> members = read_session_archive(files_, session_id_);
    if (!members && members.error().code == ErrorCode::E_SIZE_LIMIT &&
        archive_files(store_, session_id_)) {
      return check_logs_in_archive();  // In parts: too large for its hashes.
    }
    if (!members) {
      members.error().message += kBringBack;
    }
    if (note(FindingKind::kDamagedArchive, members)) {
      check_manifest_of(manifest, *members, info ? info->size : 0);
      check_logs_in_archive();
    }
  }

  /// The folder counts; the archive must not hold more.
  void check_archive_beside_folder() {
    Result<bool> holds_more = holds_more_than_folder(store_, session_id_);
    if (!holds_more) {
      holds_more.error().message += kBringBack;
    }
    if (note(FindingKind::kDamagedArchive, holds_more) && *holds_more &&
        !is_remains(files_, session_id_).value_or(false) &&
        files_.info(session_folder(session_id_))) {
      add(FindingKind::kDamagedArchive, archive_path(session_id_),
          fmt::format("holds lines that the session's folder does not; `bmad-mem session restore "
                      "{}` takes them in",
                      session_id_));
    }
  }

  void check_manifest_of(const Result<ArchiveManifest>& manifest,
                         const std::vector<ArchivedFile>& members, std::uint64_t packed_size) {
    if (!manifest) {
      if (manifest.error().code == ErrorCode::E_SESSION_NOT_FOUND) {
        add(FindingKind::kMissingManifest, archive_manifest_path(session_id_),
            "is missing; `bmad-mem repair` makes it from the archive");
      } else {
        found_.add(FindingKind::kDamagedManifest, manifest.error());
      }
      return;
    }
    const ArchiveSize now = size_of_archive(members, packed_size);
    if (!manifest->hashes.empty()) {
      compare(manifest->hashes, now.hashes);
    }
  }

  void compare(const std::vector<ArchivedHash>& then, const std::vector<ArchivedHash>& now) {
    const auto by_name = [](const std::vector<ArchivedHash>& list, const std::string& name) {
      return std::ranges::find(list, name, &ArchivedHash::name);
    };
    for (const ArchivedHash& each : then) {
      const auto found = by_name(now, each.name);
      if (found == now.end() || *found != each) {
        add(FindingKind::kDamagedArchive, archive_path(session_id_),
            fmt::format("{} {} what was archived{}", each.name,
                        found == now.end() ? "is missing from" : "is not", kBringBack));
      }
    }
  }

  void check_logs_in_archive() {
    const Result<std::shared_ptr<FileSystem>> archive = archive_files(store_, session_id_);
    if (!note(FindingKind::kDamagedArchive, archive)) {
      return;
    }
    if (const Result<Manifest> manifest = load_manifest(**archive, session_id_); !manifest) {
      found_.add(FindingKind::kDamagedManifest, in_archive(manifest.error()));
    }
    for (const EntryType type : kEntryTypes) {
      const std::string log_file(entry_type_info(type).log_file);
      check_log(**archive, session_file(session_id_, log_file), type, archive_path(session_id_),
                fmt::format("{}: ", log_file));
    }
  }

  [[nodiscard]] Error in_archive(Error error) const {
    error.path = files_.display_path(archive_path(session_id_));
    error.message = fmt::format("{}: {}", kManifestName, error.message);
    return error;
  }

  /// A log in a packed file or in a folder under deleted/.
  void check_log(FileSystem& files, const std::string& path, EntryType type,
                 const std::string& shown, const std::string& prefix) {
    JsonParser parser;
    const auto on_damage = [&](const DamagedLine& line) {
      found_.add(FindingKind::kDamagedLine, files_.display_path(shown), line.line,
                 prefix + line.reason);
    };
    const Result<LogScan> scan =
        scan_log(files, path, type, parser,
                 {.on_entry = [](const ScannedEntry&) {},
                  .on_encrypted = encrypted_.handler(session_id_, on_damage),
                  .on_damage = on_damage});
    if (note(FindingKind::kDamagedFile, scan)) {
      report_.lines += scan->entries + scan->encrypted + scan->damaged;
      report_.bytes += scan->whole_end + scan->torn_size;
    }
  }

  /// Of the folder; no command reads what a cloud drive makes of a conflict.
  void check_names() {
    const std::string folder = session_folder(session_id_);
    const auto names = list_if_there(files_, folder).value_or(std::vector<std::string>());
    for (const std::string& name : names) {
      const std::string path = fmt::format("{}/{}", folder, name);
      const Result<FileInfo> info = files_.info(path);
      const bool has_finding = info && info->kind != FileKind::kRegular;  // By the check of names.
      if (!has_finding &&
          (is_editor_leftover(name) ||
           (!is_local_name(name) && !is_session_file(name) && name != kArtifactsName))) {
        add(FindingKind::kForeignFile, path,
            log_of_copy(name) ? "is a copy of a log that no command reads; `bmad-mem repair` "
                                "adds the lines that are missing"
                              : std::string(kIsUnread));
      }
    }
  }

  void check_retained() { note(FindingKind::kDamagedFile, read_retained(files_, session_id_)); }

  void check_evicted() {
    const std::uint32_t parts = evicted_parts(files_, session_id_).value_or(0);
    for (std::uint32_t part = 1; part <= parts; ++part) {
      const Result<std::vector<EvictedLine>> lines = read_evicted(files_, session_id_, part);
      std::uint64_t number = 0;
      for (const EvictedLine& line :
           note(FindingKind::kDamagedFile, lines) ? *lines : std::vector<EvictedLine>()) {
        check_encrypted(evicted_path(session_id_, part), ++number, line.type, line.line);
      }
    }
  }

  void check_encrypted(const std::string& path, std::uint64_t number, EntryType type,
                       std::string_view text) {
    assert(number > 0 && "lines count from 1");
    const Result<JsonValue> value = line_parser_.parse(text);
    if (value && is_encrypted(*value) && check_entry(type, *value)) {
      const ScannedEntry scanned{.type = type, .value = *value, .text = text, .line = number};
      if (const auto problem = encrypted_.problem_of(session_id_, scanned)) {
        found_.add(FindingKind::kDamagedLine, files_.display_path(path), number, problem->message);
      }
    }
  }

  void check_deleted() {
    const Result<std::vector<DeletedLine>> lines = read_deleted(files_, session_id_);
    if (note(FindingKind::kDamagedFile, lines)) {
      for (const DeletedLine& line : *lines) {
        if (line.is_damaged) {
          found_.add(FindingKind::kDamagedLine,
                     files_.display_path(deleted_entries_path(session_id_)), line.number,
                     "is not a deleted line; correct it by hand, or it can't be restored");
        } else {
          check_encrypted(deleted_entries_path(session_id_), line.number, line.type, line.line);
        }
      }
    }
    const Result<DeletionRecord> record = load_deletion_record(files_, session_id_);
    if (!note(FindingKind::kDamagedFile, record)) {
      return;
    }
    for (const Deletion& deletion : record->deletions) {
      if (deletion.whole_session) {
        check_deleted_session(deletion);
      }
    }
  }

  void check_deleted_session(const Deletion& deletion) {
    const std::string folder = deleted_session_folder(session_id_, deletion.deletion_id);
    if (!files_.info(folder)) {
      return;  // A deletion that was killed before it moved the folder.
    }
    for (const EntryType type : kEntryTypes) {
      const std::string path = fmt::format("{}/{}", folder, entry_type_info(type).log_file);
      check_log(files_, path, type, path, {});
    }
    const std::string path = fmt::format("{}/{}", folder, kManifestName);
    const Result<std::string> text = read_file(files_, path, kStoredFileSizeMax);
    if (note(FindingKind::kDamagedFile, text)) {
      note(FindingKind::kDamagedManifest, parse_manifest(*text, files_.display_path(path)));
    }
  }

  void check_json_lines(const std::string& path) {
    const Result<std::string> text = read_file(files_, path, kStoredFileSizeMax);
    const std::string shown = files_.display_path(path);
    if (!text &&
        std::ranges::find(report_.findings, shown, &Finding::path) != report_.findings.end()) {
      return;  // A folder or a link, as the look at the session's names has said.
    }
    if (!note(FindingKind::kDamagedFile, text)) {
      return;
    }
    JsonParser parser;
    std::uint64_t number = 0;
    for_each_text_line(whole_lines(*text), [&](std::string_view line) {
      ++number;
      const Result<JsonValue> value = parser.parse(line);
      if (!is_blank(line) && (!value || !value->is_object())) {
        found_.add(FindingKind::kDamagedLine, shown, number,
                   "is not a JSON object; correct it by hand, or remove it");
      }
    });
  }

  FileSystem& files_;
  const Store& store_;
  const std::string& session_id_;
  VerifyReport& report_;
  FindingList found_;
  EncryptedCheck encrypted_;
  JsonParser line_parser_;
};

/// Names what can't be read in `folder`, and below it.
void verify_folder(FileSystem& files, const std::string& folder, int depth, FindingList& found) {
  constexpr int kMemoriesDepthMax = 32;
  const Result<std::vector<std::string>> names = files.list(folder);
  if (!names || depth > kMemoriesDepthMax) {
    if (!names && !is_not_found(names.error())) {
      found.add(FindingKind::kUnreadable, names.error());
    }
    return;
  }
  for (const std::string& name : *names) {
    const std::string path = fmt::format("{}/{}", folder, name);
    const Result<FileInfo> info = files.info(path);
    if (info && info->kind == FileKind::kDirectory) {
      verify_folder(files, path, depth + 1, found);
    } else if (info && info->kind == FileKind::kOther) {
      found.add(FindingKind::kForeignFile, files.display_path(path), 0,
                "is not a regular file; move away what is there");
    } else if (const Result<std::string> text = read_file(files, path, kStoredFileSizeMax);
               !text && !is_not_found(text.error())) {
      found.add(FindingKind::kUnreadable, text.error());
    }
  }
}

}  // namespace

EncryptedCheck::EncryptedCheck(const Store& store, VerifyReport& report) : report_(report) {
  Result<std::unique_ptr<LineOpener>> opener = store.encryption->opener();
  opener_ = opener ? *std::move(opener) : nullptr;
}

std::optional<Error> EncryptedCheck::problem_of(std::string_view session_id,
                                                const ScannedEntry& scanned) {
  assert(report_.closed_lines <= report_.encrypted_lines);
  ++report_.encrypted_lines;
  if (opener_ == nullptr || !opener_->has_key(scanned.value)) {
    ++report_.closed_lines;
    return std::nullopt;
  }
  const Result<OpenedEntry> opened = open_entry(*opener_, session_id, scanned, parser_);
  return opened ? std::optional<Error>() : opened.error();
}

std::optional<Error> EncryptedCheck::problem_of_document(std::string_view session_id,
                                                         std::string_view text) {
  const ParsedJson value(text);
  if (!value || (*value)["sealed"].string().empty() || opener_ == nullptr ||
      !opener_->has_key(*value)) {
    return std::nullopt;
  }
  const Result<std::string> opened = opener_->open(session_id, EntryType::kArtifact, *value);
  return opened ? std::optional<Error>() : opened.error();
}

void FindingList::add(FindingKind kind, std::string path, std::uint64_t line, std::string reason) {
  report_.findings.push_back({.kind = kind,
                              .session_id = session_id_,
                              .path = std::move(path),
                              .line = line,
                              .reason = std::move(reason)});
}

void FindingList::add(FindingKind kind, const Error& error) {
  if (error.code == ErrorCode::E_NEWER_VERSION) {
    kind = FindingKind::kNewerVersion;
  } else if (error.code == ErrorCode::E_STORAGE_IO) {
    kind = FindingKind::kUnreadable;
  }
  add_as(kind, error);
}

void FindingList::add_as(FindingKind kind, const Error& error) {
  report_.findings.push_back({.kind = kind,
                              .session_id = session_id_,
                              .path = error.path,
                              .line = error.line,
                              .column = error.column,
                              .field = error.field,
                              .reason = error.message});
}

Result<std::vector<std::string>> stored_session_ids(const Store& store) {
  std::vector<std::string> all;
  for (const char* suffix : {".tar.gz", ".manifest.json", ".evicted.jsonl.gz"}) {
    BMAD_TRY_ASSIGN(std::vector<std::string> ids,
                    ids_of_files(*store.files, kArchiveFolder, suffix));
    add_ids(all, std::move(ids));
  }
  BMAD_TRY_ASSIGN(std::vector<std::string> kept, retained_session_ids(*store.files));
  add_ids(all, std::move(kept));
  BMAD_TRY_ASSIGN(std::vector<std::string> deleted, sessions_with_deletions(*store.files));
  add_ids(all, std::move(deleted));
  return all;
}

void verify_stored(const Store& store, const std::string& session_id, VerifyReport& report) {
  StoredCheck(store, session_id, report).run();
}

void verify_names(const Store& store, VerifyReport& report) {
  FindingList found(report, {});
  for (const char* folder : {kSessionsFolder, kArchiveFolder}) {
    const auto names = list_if_there(*store.files, folder).value_or(std::vector<std::string>());
    for (const std::string& name : names) {
      if (!is_session_id(name) && !name.starts_with('.')) {
        found.add(FindingKind::kForeignFile,
                  store.files->display_path(fmt::format("{}/{}", folder, name)), 0,
                  std::string(kIsUnread));
      }
    }
  }
}

void verify_memories(const Store& store, VerifyReport& report) {
  FindingList found(report, {});
  verify_folder(*store.files, "memories", 0, found);
}

}  // namespace bmad_mem
