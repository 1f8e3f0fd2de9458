// root_index.cpp - compares the sessions with what the segments cover, and remembers what it found.
#include "search/root_index.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>

#include "base/parallel.hpp"
#include "bmad_mem/question.hpp"
#include "search/archive_reader.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kCurrentSizeMax = 1U << 30U;
constexpr std::size_t kRetainedPartsMax = 16;  // Kept for the next question.

/// Whether both say the same of a session's logs, in whichever segments they are.
bool covers_the_same(const CoveredSession& one, const CoveredSession& other) {
  return one.package == other.package && one.empty_logs == other.empty_logs &&
         std::ranges::equal(one.logs, other.logs, [](const CoveredLog& a, const CoveredLog& b) {
           return a.type == b.type && a.cover.has_tail == b.cover.has_tail &&
                  a.cover.bytes == b.cover.bytes && a.cover.hash == b.cover.hash &&
                  a.cover.file.size == b.cover.file.size;
         });
}

}  // namespace

RootIndex::SharedState RootIndex::state() {
  {
    const std::lock_guard guard(mutex_);
    if (Question::holds(state_look_)) {
      return state_;
    }
  }
  const std::uint64_t look = Question::look();
  const Result<FileInfo> info = store_.files->info(kIndexCurrentFile);
  const std::lock_guard guard(mutex_);
  const bool is_known =
      state_ != nullptr && (info ? info->is_unchanged(state_->file) : state_->file.inode == 0);
  if (!is_known) {
    state_ = info ? read_state() : std::make_shared<IndexState>();
    store_.files->close_cached();  // Logs have been replaced: what was purged is not held on to.
  }
  assert(state_ != nullptr);
  state_look_ = look;
  if (const std::uint64_t question = Question::question(); question != last_question_) {
    last_question_ = question;
    for (const std::shared_ptr<Segment>& segment : state_->segments) {
      if (segment != nullptr) {
        segment->is_held = is_known;
      }
    }
  }
  return state_;
}

/// What CURRENT says; nothing is covered where it does not hold.
RootIndex::SharedState RootIndex::read_state() const {
  const Result<FileInfo> info = store_.files->info(kIndexCurrentFile);
  Result<std::string> text = read_file(*store_.files, kIndexCurrentFile, kCurrentSizeMax);
  std::shared_ptr<IndexState> read =
      text ? parse_index_state(*std::move(text), store_.config.indexing.language,
                               [this](const std::string& name, std::uint64_t hash) {
                                 return open_segment(name, hash);
                               })
           : nullptr;
  if (read == nullptr) {
    read = std::make_shared<IndexState>();
  }
  assert(read->names.size() == read->segments.size());
  if (state_ != nullptr) {
    for (const auto& [key, session] : read->sessions) {
      const auto before = state_->sessions.find(key);
      if (before != state_->sessions.end() && covers_the_same(before->second, session)) {
        session.last_look = before->second.last_look;
      }
    }
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
    if (state_->names[i] == name && known != nullptr && known->hash == hash) {
      return known;
    }
  }
  Result<std::shared_ptr<Segment>> opened =
      Segment::open(*store_.files, segment_path(name), store_.config.indexing.language);
  return opened && (*opened)->hash == hash ? *std::move(opened) : nullptr;
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
bool RootIndex::is_log_as_covered(const std::string& path, LogCover& log, Finding& finding) const {
  const Result<FileInfo> info = store_.files->info(path);
  if (!info) {
    return is_not_found(info.error()) && log.bytes == 0;
  }
  if (info->kind != FileKind::kRegular || info->size != log.file.size || log.has_tail) {
    return false;
  }
  finding.may_be_cached = finding.may_be_cached && info->links == 1;
  if (log.mtime_is_telling && info->same_file(log.file) && info->mtime_ns == log.file.mtime_ns &&
      (log.file.ctime_ns == 0 || info->ctime_ns == log.file.ctime_ns)) {
    return true;
  }
  if (log.bytes != log.file.size) {
    return false;  // What stood behind the covered lines, torn, may be a line now.
  }
  const bool telling = mtime_is_telling(*info, store_.clock.now());
  const Result<bool> holds = has_prefix(*store_.files, path, log.bytes, log.hash);
  if (!holds || !*holds) {
    return false;
  }
  log.mtime_is_telling = telling;
  log.file = *info;
  log.file.ctime_ns = 0;
  finding.hashed += std::max<std::uint64_t>(log.bytes, 1);
  return true;
}

/// Whether it is there, without a byte. Nothing when there is something in it, or nobody can tell.
std::optional<bool> RootIndex::is_empty_log(const std::string& id, EntryType type) const {
  const Result<FileInfo> info = store_.files->info(log_path(id, type));
  if (info) {
    return info->kind == FileKind::kRegular && info->size == 0 ? std::optional(true) : std::nullopt;
  }
  return is_not_found(info.error()) ? std::optional(false) : std::nullopt;
}

bool RootIndex::is_as_covered(const std::string& id, const CoveredSession& covered,
                              Finding& finding) const {
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
  bool is_other_folder = false;
  std::uint32_t seen = 0;
  for (CoveredLog& log : now.logs) {
    seen |= 1U << static_cast<unsigned>(log.type);
    if (!is_log_as_covered(log_path(id, log.type), log.cover, finding)) {
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
  if (!is_same_folder && mtime_is_telling(*folder, store_.clock.now())) {
    now.folder_inode = folder->inode;
    now.folder_mtime_ns = folder->mtime_ns;
    is_other_folder = true;
  }
  if (is_other_folder || finding.hashed > 0) {
    finding.session = std::move(now);
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
  assert(!wanted.empty() && wanted.back() < segment->sessions.size());
  const std::lock_guard guard(mutex_);
  for (const Part& each : parts_) {
    if (each.segment == segment && each.wanted == wanted) {
      return each.part;
    }
  }
  if (parts_.size() >= kRetainedPartsMax) {
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
  std::vector<Look> looks;
  looks.reserve(candidates.size());
  for (Candidate& candidate : candidates) {
    const auto known = now->sessions.find(candidate.id);
    if (known != now->sessions.end() && (known->second.package != 0) == candidate.archived) {
      looks.push_back({.candidate = &candidate, .covered = &known->second});
    }
  }
  compare(looks);
  std::vector<std::vector<std::uint32_t>> wanted(now->segments.size());
  Findings changed;
  for (Look& look : looks) {
    if (look.covered == nullptr || is_distrusted(now->names[look.covered->segment])) {
      continue;
    }
    assert(now->segments[look.covered->segment] != nullptr);
    look.candidate->is_covered = true;
    look.candidate->encrypted = encrypted_lines(*look.covered);
    wanted[look.covered->segment].push_back(look.covered->number);
    if (look.finding.session) {
      changed.emplace(look.candidate->id, std::move(look.finding));
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

/// Takes away from `looks` what is not as covered.
void RootIndex::compare(std::span<Look> looks) const {
  const std::uint64_t number = Question::look();
  StoreWatch* const watch = store_.watch.get();
  if (watch != nullptr) {
    watch->look();
  }
  std::vector<Look*> doubtful;
  for (Look& look : looks) {
    const LastLook& last = look.covered->last_look;
    if (Question::holds(last.number)) {
      continue;
    }
    // Asked of all, so that those that are in doubt are watched before they are looked at.
    const StoreWatch::Moment changed =
        watch == nullptr
            ? StoreWatch::kAlways
            : watch->changed(look.candidate->archived ? std::string(kArchiveFolder)
                                                      : session_folder(look.candidate->id));
    if (changed > last.moment) {
      doubtful.push_back(&look);
    }
  }
  const StoreWatch::Moment moment = watch == nullptr ? 0 : watch->now();
  // One stat takes half a microsecond: a few sessions at a time.
  constexpr std::size_t kAtOnce = 64;
  for_each_parallel((doubtful.size() + kAtOnce - 1) / kAtOnce, [&](std::size_t chunk) {
    for (std::size_t i = chunk * kAtOnce; i < std::min((chunk + 1) * kAtOnce, doubtful.size());
         ++i) {
      Look& look = *doubtful[i];
      LastLook& last = look.covered->last_look;
      if (!is_as_covered(look.candidate->id, *look.covered, look.finding)) {
        look.covered = nullptr;
      } else {
        last.number = number;
        last.moment = look.finding.may_be_cached ? moment : 0;
      }
    }
  });
}

/// Writes down what was found out about copies and checkouts, so that nobody has to hash them
/// again.
void RootIndex::remember(const SharedState& now, const Findings& findings) {
  auto next = std::make_shared<IndexState>(*now);
  bool is_telling = false;
  std::uint64_t hashed = 0;
  for (const auto& [id, finding] : findings) {
    CoveredSession& known = next->sessions.at(id);
    assert(finding.session && "only these are remembered");
    for (const CoveredLog& log : finding.session->logs) {
      is_telling = is_telling || log.cover.mtime_is_telling || log.cover.chain != 0;
    }
    is_telling = is_telling || known.folder_mtime_ns != finding.session->folder_mtime_ns;
    hashed += finding.hashed;
    finding.session->last_look = known.last_look;
    known = *finding.session;
  }
  {
    const std::lock_guard guard(mutex_);
    if (state_ != now) {
      return;  // It may say something else of these sessions.
    }
    state_ = next;
  }
  // CURRENT has some 256 bytes a session, and is written about as quickly as that is hashed.
  const std::uint64_t size = next->sessions.size() * 256;
  if (!is_telling || (findings.size() * 8 < next->sessions.size() && hashed < size)) {
    return;  // A few are asked again as quickly as CURRENT is written.
  }
  const auto turn = change(std::chrono::milliseconds(0));
  const Result<FileInfo> info = store_.files->info(kIndexCurrentFile);
  if (turn && *turn && info && info->same_file(next->file) &&
      info->mtime_ns == next->file.mtime_ns) {
    static_cast<void>(write_state(*next));
  }
}

/// The same of sessions that have grown, where it took their hash to find that what a segment knows
/// of them still holds. What they look like, or the chain of their stamp, says so the next time.
void RootIndex::remember_grown(const SharedState& now,
                               std::span<const std::shared_ptr<SessionIndex>> indexes) {
  Findings findings;
  for (const std::shared_ptr<SessionIndex>& index : indexes) {
    const auto guard = index->lock();
    const auto known = now->sessions.find(std::string_view(index->session_id()));
    if (index->package() != 0 || known == now->sessions.end() || known->second.package != 0 ||
        !index->has_base_of(now->segments[known->second.segment].get(), known->second.number)) {
      continue;
    }
    Finding finding;
    CoveredSession session = known->second;
    for (CoveredLog& log : session.logs) {
      const LogCover& cover = index->covers()[static_cast<std::size_t>(log.type)];
      LogCover& known_cover = log.cover;
      if (!cover.was_hashed || (!cover.mtime_is_telling && cover.chain == 0)) {
        continue;
      }
      if (cover.chain == known_cover.chain && cover.file.is_unchanged(known_cover.file)) {
        continue;  // It is known.
      }
      finding.hashed += std::max<std::uint64_t>(known_cover.bytes, 1);
      known_cover.has_tail = cover.file.size > known_cover.bytes;
      known_cover.mtime_is_telling = cover.mtime_is_telling;
      known_cover.chain = cover.chain;
      known_cover.file = cover.file;
    }
    if (finding.hashed > 0) {
      finding.session = std::move(session);
      findings.emplace(known->first, std::move(finding));
    }
  }
  if (!findings.empty()) {
    remember(now, findings);
  }
}

std::optional<SessionBase> RootIndex::base_of(const std::string& session_id, std::uint32_t evicted,
                                              std::uint64_t package) {
  const SharedState now = state();
  const CoveredSession* const known = known_of(*now, covered_key(session_id, evicted), package);
  if (known == nullptr) {
    return std::nullopt;
  }
  assert(known->number < now->segments[known->segment]->sessions.size());
  SessionBase base;
  base.part = std::make_shared<SegmentPart>(now->segments[known->segment],
                                            std::span(&known->number, 1), files_of());
  for (const CoveredLog& log : known->logs) {
    base.covers[static_cast<std::size_t>(log.type)] = log.cover;
  }
  base.covers.front().encrypted += known->encrypted;
  return base;
}

std::shared_ptr<Segment> RootIndex::segment_of(const std::string& session_id, std::uint32_t evicted,
                                               std::uint64_t package) {
  const SharedState now = state();
  const CoveredSession* const known = known_of(*now, covered_key(session_id, evicted), package);
  return known == nullptr ? nullptr : now->segments[known->segment];
}

/// What `now` says of a session that may begin in its segment; null where none may.
const CoveredSession* RootIndex::known_of(const IndexState& now, std::string_view key,
                                          std::uint64_t package) const {
  const IndexingConfig& config = store_.config.indexing;
  const auto known = now.sessions.find(key);
  const bool is_known = config.enabled && config.update_strategy != "full" &&
                        known != now.sessions.end() && known->second.package == package;
  return is_known && now.segments[known->second.segment] != nullptr &&
                 !is_distrusted(now.names[known->second.segment])
             ? &known->second
             : nullptr;
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
