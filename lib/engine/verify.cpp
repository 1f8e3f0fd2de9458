// verify.cpp - reads every byte of the truth and names what is wrong, changing nothing.
#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "index/entry_scanner.hpp"
#include "storage/layout.hpp"
#include "store.hpp"

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
  Verifier(const Store& store, ProgressMeter& progress) : store_(store), progress_(progress) {}

  void check_config() {
    if (store_.config_problem) {
      report_.findings.push_back(from_error(FindingKind::kDamagedConfig, *store_.config_problem));
    }
  }

  Status check_session(const std::string& session_id) {
    session_id_ = session_id;
    const std::string folder = session_folder(session_id);
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
    return {};
  }

  VerifyReport take() { return std::move(report_); }

 private:
  [[nodiscard]] Finding from_error(FindingKind kind, const Error& error) const {
    return {.kind = kind,
            .session_id = session_id_,
            .path = error.path,
            .line = error.line,
            .column = error.column,
            .offset = 0,
            .size = 0,
            .field = error.field,
            .reason = error.message};
  }

  /// Links, FIFOs and devices are refused by everything else; here they are named.
  Status check_names() {
    BMAD_TRY_ASSIGN(const std::vector<std::string> names,
                    store_.files->list(session_folder(session_id_)));
    for (const std::string& name : names) {
      const std::string path = session_file(session_id_, name);
      BMAD_TRY_ASSIGN(const FileInfo info, store_.files->info(path));
      const bool folder_expected = name == kArtifactsName;
      const bool good =
          folder_expected ? info.kind == FileKind::kDirectory : info.kind == FileKind::kRegular;
      if (!good) {
        add_foreign(path, folder_expected ? "is not a folder; move away what is there"
                                          : "is not a regular file; move away what is there");
      }
    }
    return {};
  }

  void add_foreign(const std::string& path, std::string reason) {
    report_.findings.push_back({.kind = FindingKind::kForeignFile,
                                .session_id = session_id_,
                                .path = store_.files->display_path(path),
                                .field = {},
                                .reason = std::move(reason)});
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
    report_.findings.push_back(
        from_error(missing ? FindingKind::kMissingManifest : FindingKind::kDamagedManifest, error));
    return {};
  }

  /// A file that can't be read: a link or folder in its place is a finding already, but a disk that
  /// fails says nothing about what is on it.
  Status unreadable(const std::string& path, const Error& error) const {
    const Result<FileInfo> info = store_.files->info(path);
    return info && info->kind != FileKind::kRegular ? Status() : Status(error);
  }

  Status check_log(EntryType type) {
    const std::string path = session_file(session_id_, entry_type_info(type).log_file);
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
                 {.on_entry = [](const ScannedEntry&) {},
                  .on_damage = on_damage,
                  .on_progress = [&](std::uint64_t offset) { progress_.at(offset); }});
    if (!scan) {
      return unreadable(path, scan.error());
    }
    if (scan->torn_size != 0) {
      report_.findings.push_back(torn_tail(shown, *scan));
    }
    const std::uint64_t size = scan->whole_end + scan->torn_size;
    report_.logs += size != 0 ? 1 : 0;
    report_.lines += scan->entries + scan->damaged;
    report_.bytes += size;
    progress_.finish(size);
    return {};
  }

  [[nodiscard]] Finding torn_tail(const std::string& shown, const LogScan& scan) const {
    return {
        .kind = FindingKind::kTornTail,
        .session_id = session_id_,
        .path = shown,
        .line = scan.torn_line,
        .column = 1,
        .offset = scan.whole_end,
        .size = scan.torn_size,
        .field = {},
        .reason = fmt::format("{} bytes without a line end: a write that was interrupted and never "
                              "acknowledged; the next write or `bmad-mem repair` mends it",
                              scan.torn_size)};
  }

  const Store& store_;
  ProgressMeter& progress_;
  JsonParser parser_;
  std::string session_id_;
  VerifyReport report_;
};

}  // namespace

std::string_view finding_kind_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kDamagedLine:
      return "damaged_line";
    case FindingKind::kTornTail:
      return "torn_tail";
    case FindingKind::kMissingManifest:
      return "missing_manifest";
    case FindingKind::kDamagedManifest:
      return "damaged_manifest";
    case FindingKind::kDamagedConfig:
      return "damaged_config";
    case FindingKind::kForeignFile:
      return "foreign_file";
  }
  return {};
}

Result<VerifyReport> verify_store(const Store& store, std::span<const std::string> wanted,
                                  const MemoryManager::Progress& on_progress) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.selected_sessions(wanted));
  std::uint64_t total = 0;
  if (on_progress) {
    for (const std::string& session_id : sessions) {
      BMAD_TRY_ASSIGN(const SessionFootprint footprint,
                      session_footprint(*store.files, session_id, log_files()));
      total += footprint.size;
    }
  }
  ProgressMeter progress(on_progress, total);
  Verifier verifier(store, progress);
  if (wanted.empty()) {
    verifier.check_config();
  }
  for (const std::string& session_id : sessions) {
    BMAD_TRY(verifier.check_session(session_id));
  }
  return verifier.take();
}

}  // namespace bmad_mem
