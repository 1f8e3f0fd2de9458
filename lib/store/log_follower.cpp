// log_follower.cpp - gives what was added to one log since the last look.
#include <algorithm>
#include <cassert>
#include <memory>
#include <string_view>
#include <utility>

#include "base/hash.hpp"
#include "model/entry.hpp"
#include "store/entry_scanner.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

// A log that is replaced again while it is read is read again; who rewrites without end is left for
// the next look.
constexpr int kTriesMax = 4;

// Enough to reach into the last line's id and time.
constexpr std::size_t kEndSize = 1024;

// A log that is read as quickly as its end is opened, hashed and noted.
constexpr std::uint64_t kShortSize = 16U << 10U;

std::uint64_t version_hash(const ScannedEntry& scanned, std::string_view id) {
  std::string key(id);
  for (const char* member : {"timestamp", "updated_at"}) {
    key += '\n';
    key += scanned.value[member].string();
  }
  return xxh3(key);
}

}  // namespace

/// Of the bytes before `end`, at most kEndSize of them.
Result<std::uint64_t> LogFollower::end_hash(FileSystem& files, std::uint64_t end) const {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path_, OpenMode::kRead));
  const std::uint64_t size = std::min<std::uint64_t>(end, kEndSize);
  BMAD_TRY_ASSIGN(const std::string bytes, read_range(*log, end - size, size));
  return xxh3(bytes);
}

/// Whether the file is the one of the last look, with more behind its covered bytes or nothing.
Result<bool> LogFollower::goes_on(FileSystem& files, const FileInfo& info) const {
  if (!known_ || !info.same_file(file_) || info.size < covered_) {
    return false;
  }
  if (info.size == covered_) {
    return true;
  }
  // An editor that writes in place moves the lines.
  BMAD_TRY_ASSIGN(const std::uint64_t hash, end_hash(files, covered_));
  return hash == end_hash_;
}

void LogFollower::keep(std::vector<Found> found, bool rewritten, std::vector<TableEntry>* added) {
  if (rewritten) {
    versions_.clear();
  }
  for (Found& one : found) {
    const std::uint64_t versions = ++versions_[one.id_hash];
    const bool is_new = seen_.insert(one.version_hash).second;
    if (one.entry && (is_new || !rewritten)) {
      assert(added != nullptr && "entries are copied only for a caller that takes them");
      one.entry->versions = versions;
      added->push_back(std::move(*one.entry));
    }
  }
}

Status LogFollower::note(FileSystem& files, JsonParser& parser, Timestamp now) {
  assert(!known_ && "what was looked at needs no note");
  BMAD_TRY_ASSIGN(const auto info, if_there(files.info(path_)));
  if (!info || info->size <= kShortSize) {
    return look(files, parser, nullptr);
  }
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path_, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const std::string end, read_range(*log, info->size - kEndSize, kEndSize));
  BMAD_TRY_ASSIGN(const FileInfo opened, log->info());
  if (!end.ends_with('\n') || !opened.same_file(*info)) {  // Torn, or replaced just now.
    return look(files, parser, nullptr);
  }
  known_ = true;
  noted_ = now;
  file_ = *info;
  covered_ = info->size;
  end_hash_ = xxh3(end);
  return {};
}

/// False when the log was replaced meanwhile.
Result<bool> LogFollower::look_once(FileSystem& files, JsonParser& parser,
                                    std::vector<TableEntry>* added) {
  BMAD_TRY_ASSIGN(const auto before, if_there(files.info(path_)));
  if (!before) {
    rewritten_ = rewritten_ || known_;
    known_ = false;
    return true;
  }
  BMAD_TRY_ASSIGN(const bool appended, goes_on(files, *before));
  if (appended && before->size == covered_ && !noted_) {
    return true;
  }
  const auto is_known = [&](const ScannedEntry& scanned) {
    return noted_ &&
           (appended ? scanned.offset < covered_ : entry_written_time(scanned.value) < *noted_);
  };
  std::vector<Found> found;
  const ScanHandlers handlers{.on_entry = [&](const ScannedEntry& scanned) {
    const std::string_view id = scanned.value["id"].string();
    found.push_back({.id_hash = xxh3(id), .version_hash = version_hash(scanned, id)});
    if (added != nullptr && !is_known(scanned)) {
      found.back().entry = to_table_entry(scanned);
    }
  }};
  const ScanStart start =
      appended && !noted_ ? ScanStart{.offset = covered_, .line = next_line_} : ScanStart{};
  BMAD_TRY_ASSIGN(const LogScan scan, scan_log(files, path_, type_, parser, handlers, start));
  const Result<std::uint64_t> hash = end_hash(files, scan.whole_end);
  const Result<FileInfo> after = files.info(path_);
  if (!hash || !after || !after->same_file(*before)) {
    return false;
  }
  rewritten_ = rewritten_ || (!appended && (noted_ || !seen_.empty()));
  keep(std::move(found), !appended, added);
  known_ = true;
  noted_.reset();
  file_ = *before;
  covered_ = scan.whole_end;
  end_hash_ = *hash;
  next_line_ = scan.torn_line;
  return true;
}

Status LogFollower::look(FileSystem& files, JsonParser& parser, std::vector<TableEntry>* added) {
  for (int i = 0; i < kTriesMax; ++i) {
    BMAD_TRY_ASSIGN(const bool done, look_once(files, parser, added));
    if (done) {
      break;
    }
  }
  return {};
}

}  // namespace bmad_mem
