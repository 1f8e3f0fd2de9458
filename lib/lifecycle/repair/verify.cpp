// verify.cpp - reads every byte of the truth and names what is wrong, changing nothing.
#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "lifecycle/repair.hpp"
#include "repair_steps.hpp"
#include "store/deletion_record.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_hashes.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Tells the caller how far the whole check is.
class ProgressMeter {
 public:
  ProgressMeter(const MemoryManager::Progress& report, std::uint64_t total)
      : report_(report), total_(total) {}

  void at(std::uint64_t offset) const {
    if (report_) {
      report_(done_ + offset, total_);
    }
  }
  void finish(std::uint64_t size) {
    done_ += size;
    at(0);
  }

 private:
  const MemoryManager::Progress& report_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
};

class Verifier {
 public:
  Verifier(const Store& store, ProgressMeter& progress)
      : store_(store), progress_(progress), encrypted_(store, report_) {
    Result<EncryptionRule> rule = store.encryption->rule();
    rule_ = rule ? *rule : EncryptionRule();
    rule_problem_ = rule ? std::optional<Error>() : std::move(rule).error();
    report_.encrypt_command = rule_.command;
  }

  void check_config() {
    if (store_.why_read_only && !store_.origins->link_problem()) {
      found_as(FindingKind::kNewerVersion, *store_.why_read_only);
    }
    if (store_.config_problem) {
      found_as(FindingKind::kDamagedConfig, *store_.config_problem);
    }
    if (rule_problem_) {
      found_as(FindingKind::kDamagedFile, *rule_problem_);
    }
  }

  /// What can't be read is a finding, and the rest is looked at all the same.
  void check_session(const std::string& session_id) {
    session_id_ = session_id;
    const std::size_t before = report_.findings.size();
    Status checked = check_files();
    const Result<FileInfo> folder = store_.files->info(session_folder(session_id));
    assert(report_.findings.size() >= before);
    if (!folder && is_not_found(folder.error())) {
      report_.findings.resize(before);  // Archived or deleted meanwhile: half of it was seen.
    } else if (!checked) {
      add_unreadable(session_folder(session_id), std::move(checked).error());
    }
  }

  VerifyReport& report() { return report_; }

 private:
  Status check_files() {
    const std::string folder = session_folder(session_id_);
    BMAD_TRY_ASSIGN(const FileInfo info, store_.files->info(folder));
    if (info.kind != FileKind::kDirectory) {
      add_foreign(folder, "is not the folder of a session; move away what is there");
      return {};
    }
    ++report_.sessions;
    BMAD_TRY(check_names());
    BMAD_TRY(check_manifest());
    for (const EntryType type : kEntryTypes) {
      BMAD_TRY(check_log(type));
    }
    BMAD_TRY(check_documents());
    LineHashCheck hashes = check_line_hashes(store_, session_id_);
    std::ranges::copy_if(hashes.damage, std::back_inserter(report_.findings),
                         [&](const Finding& found) { return !is_found(found); });
    std::ranges::copy_if(hashes.changes, std::back_inserter(report_.changes),
                         [&](const Finding& found) { return !is_found(found); });
    return {};
  }

  /// A line that is no entry is not named twice.
  [[nodiscard]] bool is_found(const Finding& other) const {
    return std::ranges::any_of(report_.findings, [&](const Finding& found) {
      return found.path == other.path && found.line == other.line;
    });
  }

  /// Links, FIFOs and devices are refused by everything else; here they are named.
  Status check_names() {
    BMAD_TRY_ASSIGN(const std::vector<std::string> names,
                    store_.files->list(session_folder(session_id_)));
    for (const std::string& name : names) {
      const std::string path = session_file(session_id_, name);
      BMAD_TRY_ASSIGN(const auto info, if_there(store_.files->info(path)));
      if (!info) {
        continue;  // A file that a writer has renamed meanwhile.
      }
      const bool folder_expected = name == kArtifactsName;
      const bool good =
          folder_expected ? info->kind == FileKind::kDirectory : info->kind == FileKind::kRegular;
      if (!good) {
        add_foreign(path, folder_expected ? "is not a folder; move away what is there"
                                          : "is not a regular file; move away what is there");
      } else if (info->kind == FileKind::kRegular && info->links > 1) {
        add_foreign(path,
                    "has a second name (a hard link), so nothing is written to it; give it bytes "
                    "of its own: cp -p F F.new && mv F.new F");
      }
    }
    return {};
  }

  void found_as(FindingKind kind, const Error& error) {
    FindingList(report_, session_id_).add_as(kind, error);
  }

  void add_foreign(const std::string& path, std::string reason) {
    FindingList(report_, session_id_)
        .add(FindingKind::kForeignFile, store_.files->display_path(path), 0, std::move(reason));
  }

  Status check_manifest() {
    const Result<Manifest> manifest = load_manifest(*store_.files, session_id_);
    if (manifest) {
      return {};
    }
    const Error& error = manifest.error();
    if (error.os_error != 0 && !is_not_found(error)) {
      return unreadable(manifest_path(session_id_), error);
    }
    const bool missing = error.code == ErrorCode::E_SESSION_NOT_FOUND;
    const bool newer = error.code == ErrorCode::E_NEWER_VERSION;
    found_as(missing ? FindingKind::kMissingManifest
             : newer ? FindingKind::kNewerVersion
                     : FindingKind::kDamagedManifest,
             error);
    return {};
  }

  /// A link or folder in the place of a file is a finding already.
  Status unreadable(const std::string& path, Error error) {
    const Result<FileInfo> info = store_.files->info(path);
    if (!info || info->kind == FileKind::kRegular) {
      add_unreadable(path, std::move(error));
    }
    return {};
  }

  void add_unreadable(const std::string& path, Error error) {
    if (error.path.empty()) {
      error.path = store_.files->display_path(path);
    }
    found_as(FindingKind::kUnreadable, error);
  }

  /// An encrypted document is one line.
  Status check_documents() {
    if (!store_.encryption->is_on()) {
      return {};
    }
    const std::string folder = session_file(session_id_, kArtifactsName);
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, list_if_there(*store_.files, folder));
    for (const std::string& name : names) {
      constexpr std::uint64_t kDocumentSizeMax = 4U << 20U;
      const std::string path = fmt::format("{}/{}", folder, name);
      const Result<std::string> text = read_file(*store_.files, path, kDocumentSizeMax);
      if (auto problem = text ? encrypted_.problem_of_document(session_id_, *text) : std::nullopt) {
        problem->path = store_.files->display_path(path);
        problem->line = 1;
        found_as(FindingKind::kDamagedFile, *problem);
      }
    }
    return {};
  }

  Status check_log(EntryType type) {
    const std::string path = log_path(session_id_, type);
    const std::string shown = store_.files->display_path(path);
    const auto on_damage = [&](const DamagedLine& line) {
      report_.findings.push_back({.kind = FindingKind::kDamagedLine,
                                  .session_id = session_id_,
                                  .path = shown,
                                  .line = line.line,
                                  .column = line.column,
                                  .offset = line.offset,
                                  .size = line.size,
                                  .field = line.field,
                                  .reason = line.reason});
    };
    const Result<LogScan> scan =
        scan_log(*store_.files, path, type, parser_,
                 {.on_entry =
                      [&](const ScannedEntry& entry) {
                        report_.unencrypted_lines +=
                            rule_.wants && rule_.wants(session_id_, type, entry.value) ? 1U : 0U;
                      },
                  .on_encrypted = encrypted_.handler(session_id_, on_damage),
                  .on_damage = on_damage,
                  .on_progress = [&](std::uint64_t offset) { progress_.at(offset); }});
    if (!scan) {
      return unreadable(path, scan.error());
    }
    if (scan->torn_size != 0) {
      report_.findings.push_back(torn_tail(shown, *scan));
      if (recorded_bytes(path) > scan->whole_end) {
        report_.findings.back().reason =
            "the line was acknowledged, and its end is cut off; bring the file back from git or "
            "from a backup";
      }
    }
    const std::uint64_t size = scan->whole_end + scan->torn_size;
    report_.logs += size != 0 ? 1 : 0;
    report_.lines += scan->entries + scan->encrypted + scan->damaged;
    report_.bytes += size;
    progress_.finish(size);
    return {};
  }

  /// How far the log is known to have been durable.
  [[nodiscard]] std::uint64_t recorded_bytes(const std::string& path) const {
    const Result<LineHashes> line_hashes = load_line_hashes(*store_.files, session_id_);
    if (!line_hashes) {
      return 0;
    }
    const auto found = line_hashes->logs.find(path.substr(path.rfind('/') + 1));
    return found == line_hashes->logs.end() ? 0 : found->second.bytes;
  }

  [[nodiscard]] Finding torn_tail(const std::string& shown, const LogScan& scan) const {
    assert(scan.torn_size > 0);
    return {
        .kind = FindingKind::kTornTail,
        .session_id = session_id_,
        .path = shown,
        .line = scan.torn_line,
        .column = 1,
        .offset = scan.whole_end,
        .size = scan.torn_size,
        .reason = fmt::format("{} bytes without a line end: a write that was interrupted and never "
                              "acknowledged; the next write or `bmad-mem repair` mends it",
                              scan.torn_size)};
  }

  const Store& store_;
  ProgressMeter& progress_;
  JsonParser parser_;
  std::string session_id_;
  VerifyReport report_;
  EncryptedCheck encrypted_;
  EncryptionRule rule_;
  std::optional<Error> rule_problem_;
};

/// Those that were asked for, which may be archived; or all that are folders.
Result<std::vector<std::string>> sessions_to_verify(const Store& store,
                                                    std::span<const std::string> wanted) {
  for (const std::string& session_id : wanted) {
    Status there = check_session(store, session_id);
    if (!there && there.error().code != ErrorCode::E_SESSION_ARCHIVED) {
      return std::move(there).error();
    }
  }
  return wanted.empty() ? store.session_ids()
                        : std::vector<std::string>(wanted.begin(), wanted.end());
}

std::uint64_t bytes_to_verify(const Store& store, std::span<const std::string> sessions) {
  return sum_of(sessions, [&](const std::string& session_id) {
    return session_footprint(*store.files, session_id, log_files()).value_or(0);
  });
}

}  // namespace

std::string_view finding_kind_name(FindingKind kind) {
  static constexpr std::array<std::string_view, 15> kNames = {
      "damaged_line", "torn_tail",       "missing_manifest", "damaged_manifest", "damaged_config",
      "foreign_file", "unreadable_file", "newer_version",    "damaged_archive",  "damaged_file",
      "changed_line", "lost_line",       "added_line",       "doubled_line",     "moved_line"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<VerifyReport> verify_store(const Store& store, std::span<const std::string> wanted,
                                  const MemoryManager::Progress& on_progress) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, sessions_to_verify(store, wanted));
  ProgressMeter progress(on_progress, on_progress ? bytes_to_verify(store, sessions) : 0);
  Verifier verifier(store, progress);
  VerifyReport& report = verifier.report();
  if (wanted.empty()) {
    verifier.check_config();
  }
  for (const std::string& session_id : sessions) {
    verifier.check_session(session_id);
  }
  std::vector<std::string> stored = sessions;
  if (wanted.empty()) {
    Result<std::vector<std::string>> others = stored_session_ids(store);
    if (others) {
      add_ids(stored, *std::move(others));
    } else if (others.error().code == ErrorCode::E_STORAGE_CORRUPT) {
      FindingList(report, {}).add(FindingKind::kForeignFile, others.error());
    } else {
      return std::move(others).error();
    }
    verify_memories(store, report);
    verify_names(store, report);
  }
  for (const std::string& session_id : stored) {
    verify_stored(store, session_id, report);
  }
  check_head(store, wanted, report);
  return std::move(report);
}

}  // namespace bmad_mem
