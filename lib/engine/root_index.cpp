#include "root_index.hpp"

#include <algorithm>
#include <chrono>

#include "core/parallel.hpp"
#include "packed_session.hpp"
#include "storage/atomic_file.hpp"
#include "storage/layout.hpp"
#include "store.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kCurrentSizeMax = 1U << 30U;
constexpr std::size_t kPartsMax = 16;  // Kept for the next question.

}  // namespace

RootIndex::SharedState RootIndex::state() {
  const Result<FileInfo> info = store_.files->info(kIndexCurrentFile);
  const std::lock_guard guard(mutex_);
  const bool is_same = state_ != nullptr && info && info->same_file(state_->file) &&
                       info->size == state_->file.size && info->mtime_ns == state_->file.mtime_ns;
  if (!is_same) {
    state_ = info ? read_state() : std::make_shared<IndexState>();
  }
  return state_;
}

/// What CURRENT says; nothing is covered where it does not hold.
RootIndex::SharedState RootIndex::read_state() const {
  const Result<FileInfo> info = store_.files->info(kIndexCurrentFile);
  const Result<std::string> text = read_file(*store_.files, kIndexCurrentFile, kCurrentSizeMax);
  std::shared_ptr<IndexState> read =
      text ? parse_index_state(*text, store_.config.indexing.language,
                               [this](const std::string& name, std::uint64_t hash) {
                                 return open_segment(name, hash);
                               })
           : nullptr;
  if (read == nullptr) {
    read = std::make_shared<IndexState>();
  }
  read->file = info.value_or(FileInfo{});
  return read;
}

/// One that is open already, if it is the same: one of that name may come from another memory, or
/// be older than a folder made anew.
std::shared_ptr<Segment> RootIndex::open_segment(const std::string& name,
                                                 std::uint64_t hash) const {
  for (std::size_t i = 0; state_ != nullptr && i < state_->names.size(); ++i) {
    const std::shared_ptr<Segment>& known = state_->segments[i];
    if (state_->names[i] == name && known != nullptr && known->hash() == hash) {
      return known;
    }
  }
  Result<std::shared_ptr<Segment>> opened =
      Segment::open(*store_.files, segment_path(name), store_.config.indexing.language);
  return opened && (*opened)->hash() == hash ? *std::move(opened) : nullptr;
}

FileLock RootIndex::lock() const {
  return {*store_.files, store_.clock, segment_path(kLockName), segment_path(kLockInfoName)};
}

/// Replaces CURRENT. The caller holds the lock of the index.
Status RootIndex::write_state(const IndexState& state) {
  return replace_derived_file(*store_.files, kIndexCurrentFile,
                              index_state_text(state, store_.config.indexing.language));
}

/// Whether the log at `path` holds what is covered and nothing else; `log` is put right where only
/// the file is another one, as in a copy.
bool RootIndex::is_log_as_covered(const std::string& path, CoveredLog& log, bool& is_other) const {
  const Result<FileInfo> info = store_.files->info(path);
  if (!info) {
    return is_not_found(info.error()) && log.bytes == 0;
  }
  if (info->kind != FileKind::kRegular || info->size != log.size) {
    return false;
  }
  const FileInfo covered{.device = log.device, .inode = log.inode};
  if (log.mtime_is_telling && info->same_file(covered) && info->mtime_ns == log.mtime_ns) {
    return true;
  }
  if (log.bytes != log.size) {
    return false;  // What stood behind the covered lines, torn, may be a line now.
  }
  const bool telling = mtime_is_telling(*info, store_.clock.now());
  const Result<std::uint64_t> hash = hash_of_prefix(*store_.files, path, log.bytes);
  if (!hash || *hash != log.xxh3) {
    return false;
  }
  log.mtime_is_telling = telling;
  log.device = info->device;
  log.inode = info->inode;
  log.mtime_ns = info->mtime_ns;
  is_other = true;
  return true;
}

/// Whether it is there, without a byte. Nothing when there is something in it, or nobody can tell.
std::optional<bool> RootIndex::is_empty_log(const std::string& id, EntryType type) const {
  const Result<FileInfo> info =
      store_.files->info(session_file(id, entry_type_info(type).log_file));
  if (info) {
    return info->kind == FileKind::kRegular && info->size == 0 ? std::optional(true) : std::nullopt;
  }
  return is_not_found(info.error()) ? std::optional(false) : std::nullopt;
}

bool RootIndex::is_as_covered(const std::string& id, const CoveredSession& covered,
                              std::optional<CoveredSession>& remembered) const {
  if (covered.package != 0) {
    const Result<std::uint64_t> package = package_of_archive(store_, id);
    return package && *package == covered.package;
  }
  const Result<FileInfo> folder = store_.files->info(session_folder(id));
  if (!folder || folder->kind != FileKind::kDirectory) {
    return false;
  }
  const bool is_same_folder = covered.folder_mtime_ns != 0 &&
                              folder->inode == covered.folder_inode &&
                              folder->mtime_ns == covered.folder_mtime_ns;
  CoveredSession now = covered;
  bool is_other = false;
  std::uint32_t seen = 0;
  for (CoveredLog& log : now.logs) {
    seen |= 1U << static_cast<unsigned>(log.type);
    if (!is_log_as_covered(session_file(id, entry_type_info(log.type).log_file), log, is_other)) {
      return false;
    }
  }
  for (const EntryType type : kEntryTypes) {
    const std::uint32_t bit = 1U << static_cast<unsigned>(type);
    if ((seen & bit) == 0 && (!is_same_folder || (covered.empty_logs & bit) != 0)) {
      const std::optional<bool> is_there = is_empty_log(id, type);
      if (!is_there) {
        return false;
      }
      now.empty_logs |= *is_there ? bit : 0;
    }
  }
  if (!is_same_folder) {
    if (mtime_is_telling(*folder, store_.clock.now())) {
      now.folder_inode = folder->inode;
      now.folder_mtime_ns = folder->mtime_ns;
      is_other = true;
    }
  }
  if (is_other) {
    remembered = std::move(now);
  }
  return true;
}

FilesOf RootIndex::files_of() const {
  const Store* const store = &store_;
  return
      [store](const std::string& session_id, bool archived) -> Result<std::shared_ptr<FileSystem>> {
        return archived ? archive_lines(*store, session_id)
                        : std::shared_ptr<FileSystem>(std::shared_ptr<void>(), store->files.get());
      };
}

std::shared_ptr<SegmentPart> RootIndex::part_of(const std::shared_ptr<Segment>& segment,
                                                std::vector<std::uint32_t> wanted) {
  std::ranges::sort(wanted);
  const std::lock_guard guard(mutex_);
  for (const Part& each : parts_) {
    if (each.segment == segment && each.wanted == wanted) {
      return each.part;
    }
  }
  if (parts_.size() >= kPartsMax) {
    parts_.clear();
  }
  parts_.push_back({.segment = segment,
                    .wanted = wanted,
                    .part = std::make_shared<SegmentPart>(segment, wanted, files_of())});
  return parts_.back().part;
}

std::vector<std::shared_ptr<SegmentPart>> RootIndex::sweep(std::span<Candidate> candidates) {
  std::vector<std::shared_ptr<SegmentPart>> parts;
  if (!store_.config.indexing.enabled) {
    return parts;
  }
  const SharedState now = state();
  std::vector<const CoveredSession*> found(candidates.size());
  std::vector<std::optional<CoveredSession>> remembered(candidates.size());
  // One stat takes half a microsecond: a few sessions at a time.
  constexpr std::size_t kAtOnce = 64;
  for_each_parallel((candidates.size() + kAtOnce - 1) / kAtOnce, [&](std::size_t chunk) {
    for (std::size_t i = chunk * kAtOnce; i < std::min((chunk + 1) * kAtOnce, candidates.size());
         ++i) {
      const auto known = now->sessions.find(candidates[i].id);
      if (known != now->sessions.end() && (known->second.package != 0) == candidates[i].archived &&
          is_as_covered(known->first, known->second, remembered[i])) {
        found[i] = &known->second;
      }
    }
  });
  std::vector<std::vector<std::uint32_t>> wanted(now->segments.size());
  CoveredSessions changed;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (found[i] == nullptr) {
      continue;
    }
    if (is_distrusted(now->names[found[i]->segment])) {
      continue;
    }
    candidates[i].is_covered = true;
    wanted[found[i]->segment].push_back(found[i]->number);
    if (remembered[i]) {
      changed.emplace(candidates[i].id, *std::move(remembered[i]));
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].empty()) {
      parts.push_back(part_of(now->segments[i], std::move(wanted[i])));
    }
  }
  if (!changed.empty()) {
    remember(now, changed);
  }
  return parts;
}

/// Writes down what was found out about copies and checkouts, so that nobody has to hash them
/// again.
void RootIndex::remember(const SharedState& now, const CoveredSessions& changed) {
  auto next = std::make_shared<IndexState>(*now);
  bool is_worth_it = false;
  for (const auto& [id, covered] : changed) {
    CoveredSession& known = next->sessions.at(id);
    for (const CoveredLog& log : covered.logs) {
      is_worth_it = is_worth_it || log.mtime_is_telling;
    }
    is_worth_it = is_worth_it || known.folder_mtime_ns != covered.folder_mtime_ns;
    known = covered;
  }
  {
    const std::lock_guard guard(mutex_);
    if (state_ != now) {
      return;  // It may say something else of these sessions.
    }
    state_ = next;
  }
  if (!is_worth_it || changed.size() * 8 < next->sessions.size()) {
    return;  // A few are asked again as quickly as CURRENT is written.
  }
  FileLock index_lock = lock();
  const Result<FileLock::Guard> turn =
      index_lock.acquire({.operation = "index", .timeout = std::chrono::milliseconds(0)});
  const Result<FileInfo> info = store_.files->info(kIndexCurrentFile);
  if (turn && info && info->same_file(next->file) && info->mtime_ns == next->file.mtime_ns) {
    static_cast<void>(write_state(*next));
  }
}

std::optional<SessionBase> RootIndex::base_of(const std::string& session_id) {
  return base_of(session_id, false, 0);
}

std::optional<SessionBase> RootIndex::base_of(const std::string& session_id, bool evicted,
                                              std::uint64_t package) {
  const IndexingConfig& config = store_.config.indexing;
  if (!config.enabled || config.update_strategy == "full") {
    return std::nullopt;
  }
  const SharedState now = state();
  const auto known = now->sessions.find(covered_key(session_id, evicted));
  if (known == now->sessions.end() || known->second.package != package) {
    return std::nullopt;
  }
  const std::shared_ptr<Segment>& segment = now->segments[known->second.segment];
  if (segment == nullptr || is_distrusted(now->names[known->second.segment])) {
    return std::nullopt;
  }
  SessionBase base;
  base.part =
      std::make_shared<SegmentPart>(segment, std::span(&known->second.number, 1), files_of());
  for (const CoveredLog& log : known->second.logs) {
    base.covers[static_cast<std::size_t>(log.type)] = {.bytes = log.bytes,
                                                       .lines = log.lines,
                                                       .xxh3 = log.xxh3,
                                                       .file = {.device = log.device,
                                                                .inode = log.inode,
                                                                .size = log.size,
                                                                .mtime_ns = log.mtime_ns},
                                                       .mtime_is_telling = log.mtime_is_telling};
  }
  return base;
}

void RootIndex::distrust(std::string_view path) {
  const std::lock_guard guard(mutex_);
  distrusted_.emplace(path);
}

bool RootIndex::leave(std::string_view path, std::span<SessionIndex* const> indexes) {
  bool is_here = false;
  for (SessionIndex* const index : indexes) {
    bool is_its = false;
    {
      const auto guard = index->lock();
      is_its = !path.empty() && index->base_path() == path;
    }
    if (is_its) {
      distrust(path);
      index->forget();
      is_here = true;
    }
  }
  return is_here;
}

bool RootIndex::is_distrusted(std::string_view name) const {
  const std::lock_guard guard(mutex_);
  return !distrusted_.empty() && distrusted_.contains(segment_path(name));
}

}  // namespace bmad_mem
