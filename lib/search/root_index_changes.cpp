// root_index_changes.cpp - adds, merges and removes segments under the lock of the index.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "bmad_mem/text.hpp"
#include "search/cached_indexes.hpp"
#include "search/root_index.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Logs that go into one segment at a time, before it is merged with others.
constexpr std::uint64_t kFlushBytesMax = 16U << 20U;
constexpr std::size_t kSegmentsMax = 8;
/// Bytes and entries that no segment covers which are worth a new one, to those who have time.
constexpr std::uint64_t kUnknownBytesMax = 256U << 10U;
constexpr std::uint64_t kMany = 1000;
/// Bytes and sessions that are worth it to a reader, where those that wrote left it to him; and
/// bytes that are worth it where they are a quarter of their sessions or more.
constexpr std::uint64_t kMuchBytesMax = 4U << 20U;
constexpr std::uint64_t kLittleBytesMax = 32U << 10U;
constexpr std::size_t kMuchSessionsMax = 128;
/// Entries that are worth a segment, so that they can get their vectors.
constexpr std::uint64_t kSome = 32;

SessionIndex::Unknown unknown_of(std::span<const std::shared_ptr<SessionIndex>> indexes) {
  SessionIndex::Unknown unknown;
  for (const std::shared_ptr<SessionIndex>& index : indexes) {
    const auto guard = index->lock();
    const SessionIndex::Unknown its = index->unknown();
    unknown.entries += its.entries;
    unknown.bytes += its.bytes;
  }
  return unknown;
}

}  // namespace

bool RootIndex::is_much(std::span<const std::shared_ptr<SessionIndex>> indexes) const {
  {
    const std::lock_guard guard(mutex_);
    if (!distrusted_.empty()) {
      return true;  // It costs everybody a try.
    }
  }
  const auto many = static_cast<std::uint64_t>(store_.config.indexing.rebuild_threshold_writes);
  const std::uint64_t much = many < kMany ? many : 8 * many;  // Who wants it often, gets it often.
  std::uint64_t bytes = 0;
  for (const std::shared_ptr<SessionIndex>& index : indexes) {
    const auto guard = index->lock();
    bytes += sum_of(index->covers(), &LogCover::bytes);
  }
  const SessionIndex::Unknown unknown = unknown_of(indexes);
  // A segment has all of a session: so each byte is written a few times at most.
  return indexes.size() > kMuchSessionsMax || unknown.bytes > kMuchBytesMax ||
         unknown.entries >= much || (unknown.bytes > kLittleBytesMax && unknown.bytes > bytes / 4);
}

void RootIndex::flush(std::span<const std::shared_ptr<SessionIndex>> indexes, FlushWhen when) {
  if (indexes.empty() || !store_.config.indexing.enabled) {
    return;
  }
  const SharedState now = state();
  const bool any =
      when == FlushWhen::kAny || (when == FlushWhen::kMuch && is_much(indexes)) ||
      std::ranges::any_of(now->names, [&](const std::string& name) { return is_distrusted(name); });
  const SessionIndex::Unknown unknown = unknown_of(indexes);
  const auto many = static_cast<std::uint64_t>(store_.config.indexing.rebuild_threshold_writes);
  const std::uint64_t entries_max = std::min(many, when == FlushWhen::kSome ? kSome : kMany);
  if (!any && (when == FlushWhen::kMuch ||
               (unknown.entries < entries_max && unknown.bytes < kUnknownBytesMax))) {
    remember_grown(now, indexes);
    return;
  }
  if (!store_.files->info(kIndexFolder)) {
    if (!store_.files->make_directory(kIndexFolder) ||
        !replace_derived_file(*store_.files, kIndexIgnoreFile, "*\n")) {
      return;
    }
  }
  const auto turn = change(std::chrono::milliseconds(0));
  if (!turn || !*turn) {
    return;
  }
  const SharedState before = state();
  IndexState next = *before;
  std::erase_if(next.sessions,
                [&](const auto& each) { return is_distrusted(next.names[each.second.segment]); });
  if (add_segments(next, indexes)) {
    IndexState merged = next;
    if (Status done = merge_where_many(merged); done) {
      next = std::move(merged);
    } else {
      distrust(done.error().field);  // Where that is a segment, the next time goes without it.
    }
    if (write_state(next)) {
      static_cast<void>(remove_unused(next));
      for (const std::shared_ptr<SessionIndex>& index : indexes) {
        if (index->package() == 0) {
          index->forget();  // It begins in the new segment the next time.
        }
      }
      return;
    }
  }
  for (const std::string& name : next.names) {
    if (std::ranges::find(before->names, name) == before->names.end()) {
      static_cast<void>(store_.files->remove(segment_path(name)));
      static_cast<void>(store_.files->remove(vectors_path(segment_path(name))));
    }
  }
}

bool RootIndex::flush_in_turns(std::span<const Candidate> candidates) {
  constexpr std::uint64_t kCachedMax = 64U << 20U;
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> sizes;
  for (const Candidate& each : candidates) {
    sizes.push_back(0);
    if (!each.is_covered && !each.archived && !has_index(store_, each.id) &&
        !has_gone(store_, each.id).value_or(false)) {
      sizes.back() = session_footprint(*store_.files, each.id, log_files()).value_or(0);
      sum += sizes.back();
    }
  }
  if (sum <= kCachedMax || !store_.config.indexing.enabled) {
    return false;
  }
  assert(sizes.size() == candidates.size());
  const SharedState before = state();
  for (std::size_t i = 0; i < candidates.size();) {
    std::vector<std::shared_ptr<SessionIndex>> indexes;
    for (std::uint64_t held = 0; i < candidates.size() && held < kFlushBytesMax; ++i) {
      if (sizes[i] > 0 && !store_.is_left_out(candidates[i].id)) {
        held += sizes[i];
        indexes.push_back(passing_index(store_, candidates[i].id));
      }
    }
    for_each_parallel(indexes.size(),
                      [&](std::size_t k) { static_cast<void>(indexes[k]->refresh()); });
    flush(indexes, FlushWhen::kAny);
    if (state() == before) {
      return false;  // Another process is at it, or nothing can be written.
    }
  }
  return true;
}

/// As `index`, which is held, has its logs. `folder`: what it was before they were looked at.
CoveredSession RootIndex::covered_by(const SessionIndex& index,
                                     const Result<FileInfo>& folder) const {
  CoveredSession its;
  if (index.package() != 0) {
    its.package = index.package();
    its.encrypted = index.encrypted_lines();
    return its;
  }
  if (folder && mtime_is_telling(*folder, store_.clock.now())) {
    its.folder_inode = folder->inode;
    its.folder_mtime_ns = folder->mtime_ns;
  }
  for (const EntryType type : kEntryTypes) {
    const LogCover& cover = index.covers()[static_cast<std::size_t>(type)];
    if (cover.exists()) {
      its.logs.push_back({.type = type, .cover = cover});
      its.logs.back().cover.was_hashed = false;
    } else if (is_empty_log(index.session_id(), type) != false) {
      its.empty_logs |= 1U << static_cast<unsigned>(type);
    }
  }
  return its;
}

/// Some segments of all that can be read of `indexes`.
Status RootIndex::add_segments(IndexState& state,
                               std::span<const std::shared_ptr<SessionIndex>> indexes) {
  for (std::size_t begin = 0; begin < indexes.size();) {
    std::size_t end = begin;
    for (std::uint64_t bytes = 0; end < indexes.size() && bytes < kFlushBytesMax; ++end) {
      const auto guard = indexes[end]->lock();
      bytes += sum_of(indexes[end]->covers(), &LogCover::bytes);
    }
    assert(end > begin && "each turn takes one or more");
    std::vector<std::shared_ptr<SessionIndex>> batch(
        indexes.begin() + static_cast<std::ptrdiff_t>(begin),
        indexes.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
    while (!batch.empty()) {
      Status added = add_segment(state, batch);
      if (added) {
        break;
      }
      std::vector<SessionIndex*> all;
      std::ranges::transform(batch, std::back_inserter(all), &std::shared_ptr<SessionIndex>::get);
      if (leave(added.error().field, all)) {
        continue;
      }
      // One that does not hold must not keep the others out; it is made anew for the next time.
      const auto at_fault = std::ranges::find(batch, added.error().field, &SessionIndex::name);
      if (at_fault == batch.end()) {
        return added;
      }
      (*at_fault)->forget();
      static_cast<void>((*at_fault)->rebuild());
      batch.erase(at_fault);
    }
  }
  return {};
}

/// One segment of `indexes`. Errors: as write_segment().
Status RootIndex::add_segment(IndexState& state,
                              std::span<const std::shared_ptr<SessionIndex>> indexes) {
  // Before any is held: who refreshes one waits for those who hold it.
  std::vector<Result<FileInfo>> folders(indexes.size());
  std::vector<char> are_fresh(indexes.size());
  for_each_parallel(indexes.size(), [&](std::size_t at) {
    // As it is before the logs are looked at: what comes later is seen at the next look.
    folders[at] = store_.files->info(session_folder(indexes[at]->session_id()));
    are_fresh[at] = indexes[at]->refresh() ? 1 : 0;
  });
  std::vector<IndexedSession*> sessions;
  std::vector<std::shared_lock<std::shared_mutex>> guards;
  CoveredSessions covered;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    if (are_fresh[i] == 0) {
      continue;
    }
    SessionIndex& index = *indexes[i];
    guards.push_back(index.lock());
    if (!index.is_open()) {
      continue;  // Another thread has flushed it since.
    }
    CoveredSession& its = covered[covered_key(index.session_id(), index.evicted_part())];
    its = covered_by(index, folders[i]);
    its.segment = static_cast<std::uint32_t>(state.names.size());
    its.number = static_cast<std::uint32_t>(sessions.size());
    sessions.push_back(&index);
  }
  if (sessions.empty()) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::shared_ptr<Segment> segment, make_segment(state, sessions));
  assert(state.segments.back() == segment && state.names.size() == state.segments.size());
  carry_vectors(state, *segment);
  for (auto& [id, its] : covered) {
    state.sessions.insert_or_assign(id, std::move(its));
  }
  return {};
}

/// Writes a segment, and puts it behind those of `state`.
Result<std::shared_ptr<Segment>> RootIndex::make_segment(
    IndexState& state, std::span<IndexedSession* const> sessions) const {
  std::string name;
  do {  // Where CURRENT was lost others may hold an old one of that name open.
    name = fmt::format("{}.seg", state.next++);
  } while (store_.files->info(segment_path(name)));
  const std::string& language = store_.config.indexing.language;
  BMAD_TRY(write_segment(*store_.files, segment_path(name), sessions, language));
  BMAD_TRY_ASSIGN(std::shared_ptr<Segment> segment,
                  Segment::open(*store_.files, segment_path(name), language));
  state.names.push_back(name);
  state.segments.push_back(segment);
  return segment;
}

/// Puts what is still covered of the segments `which` into one, in their place.
Status RootIndex::merge_segments(IndexState& state, const std::set<std::uint32_t>& which) {
  assert(!which.empty() && *which.rbegin() < state.names.size());
  std::map<std::uint32_t, std::vector<std::uint32_t>> wanted;
  for (const auto& [id, covered] : state.sessions) {
    if (which.contains(covered.segment)) {
      wanted[covered.segment].push_back(covered.number);
    }
  }
  std::vector<std::shared_ptr<SegmentPart>> parts;
  std::vector<IndexedSession*> sessions;
  for (auto& [number, its] : wanted) {
    std::ranges::sort(its);
    parts.push_back(std::make_shared<SegmentPart>(state.segments[number], its, files_of()));
    std::ranges::transform(parts.back()->sessions(), std::back_inserter(sessions),
                           &std::unique_ptr<IndexedSession>::get);
  }
  // The others keep their order.
  IndexState next{.next = state.next};
  std::vector<std::uint32_t> places(state.names.size());
  for (std::uint32_t i = 0; i < state.names.size(); ++i) {
    if (!which.contains(i)) {
      places[i] = static_cast<std::uint32_t>(next.names.size());
      next.names.push_back(state.names[i]);
      next.segments.push_back(state.segments[i]);
    }
  }
  const auto last = static_cast<std::uint32_t>(next.names.size());
  std::map<std::string, std::uint32_t, std::less<>> numbers;
  if (!sessions.empty()) {
    BMAD_TRY_ASSIGN(const std::shared_ptr<Segment> merged, make_segment(next, sessions));
    carry_vectors(state, *merged);
    for (std::uint32_t i = 0; i < merged->sessions.size(); ++i) {
      numbers.emplace(covered_key(merged->sessions[i].id, merged->sessions[i].evicted), i);
    }
  }
  for (auto& [id, covered] : state.sessions) {
    if (which.contains(covered.segment)) {
      covered.segment = last;
      covered.number = numbers.at(id);
    } else {
      covered.segment = places[covered.segment];
    }
  }
  assert(next.names.size() == next.segments.size());
  next.sessions = std::move(state.sessions);
  next.file = state.file;
  state = std::move(next);
  return {};
}

/// Few segments, and none that is mostly what was replaced.
Status RootIndex::merge_where_many(IndexState& state) {
  std::vector<std::uint64_t> live(state.names.size());
  for (const auto& [id, covered] : state.sessions) {
    assert(state.segments[covered.segment] != nullptr && "else the session is left out");
    live[covered.segment] += state.segments[covered.segment]->sessions[covered.number].count;
  }
  std::set<std::uint32_t> which;
  std::vector<std::uint32_t> by_size;
  for (std::uint32_t i = 0; i < state.names.size(); ++i) {
    if (state.segments[i] == nullptr || is_distrusted(state.names[i]) ||
        live[i] * 2 < state.segments[i]->entries) {
      which.insert(i);
    }
    by_size.push_back(i);
  }
  std::ranges::sort(by_size, {}, [&](std::uint32_t i) { return live[i]; });
  if (state.names.size() > kSegmentsMax) {
    // Small ones, and larger ones as long as they are no larger than those together.
    constexpr std::size_t kAtLeast = 4;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < by_size.size(); ++i) {
      if (i >= kAtLeast && live[by_size[i]] > sum) {
        break;
      }
      which.insert(by_size[i]);
      sum += live[by_size[i]];
    }
  }
  return which.empty() ? Status() : merge_segments(state, which);
}

/// Removes segments that CURRENT does not name, what a process that died left, and vectors that the
/// config wants no more. The caller holds the lock of the index.
Status RootIndex::remove_unused(const IndexState& state) const {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, store_.files->list(kIndexFolder));
  for (const std::string& name : names) {
    const bool is_vectors = name.ends_with(".vec");
    const std::string segment = is_vectors ? name.substr(0, name.size() - 4) + ".seg" : name;
    if ((is_segment_name(segment) || name.ends_with(".tmp")) &&
        std::ranges::find(state.names, segment) == state.names.end()) {
      const Status removed = store_.files->remove(segment_path(name));
      const Result<FileInfo> left = store_.files->info(segment_path(name));
      // A folder that somebody made is no segment.
      BMAD_TRY(removed || (left && left->kind == FileKind::kDirectory) ? Status() : removed);
    }
  }
  for (const std::string& path : unwanted_vectors(state)) {
    BMAD_TRY(store_.files->remove(path));
  }
  return {};
}

/// The right to change what is there, waited for; none when nothing is there. Errors: as the file
/// system's; E_LOCK_TIMEOUT.
Result<std::optional<FileLock::Guard>> RootIndex::change(
    std::optional<std::chrono::milliseconds> timeout) const {
  BMAD_TRY_ASSIGN(const auto folder, if_there(store_.files->info(kIndexFolder)));
  if (!folder || folder->kind != FileKind::kDirectory) {
    return std::optional<FileLock::Guard>();
  }
  FileLock index_lock = lock();
  Result<FileLock::Guard> turn =
      index_lock.acquire({.operation = "index", .timeout = timeout.value_or(store_.lock_timeout)});
  BMAD_TRY(turn ? Status() : Status(std::move(turn).error()));
  return std::optional<FileLock::Guard>(*std::move(turn));
}

Status RootIndex::remove(std::span<const std::string> session_ids) {
  BMAD_TRY_ASSIGN(const std::optional<FileLock::Guard> turn, change());
  if (!turn) {
    return {};
  }
  IndexState next = *state();
  std::set<std::uint32_t> which;
  for (std::uint32_t i = 0; i < next.names.size(); ++i) {
    const auto is_removed = [&](const auto& session) { return is_among(session_ids, session.id); };
    if (next.segments[i] == nullptr ||
        std::ranges::any_of(next.segments[i]->sessions, is_removed)) {
      which.insert(i);
    }
  }
  for (const std::string& id : session_ids) {
    next.sessions.erase(id);
    const std::string evicted = covered_key(id, 1);
    auto part = next.sessions.lower_bound(evicted);
    while (part != next.sessions.end() && part->first.starts_with(evicted)) {
      part = next.sessions.erase(part);
    }
  }
  if (!which.empty() && (!merge_segments(next, which) || !write_state(next))) {
    next = IndexState{};  // A full disk, or a segment that does not hold: all of it goes.
    BMAD_TRY(if_there(store_.files->remove(kIndexCurrentFile)));
  }
  BMAD_TRY(remove_unused(next));
  return store_.files->sync_directory(kIndexFolder);
}

Status RootIndex::clear() {
  BMAD_TRY_ASSIGN(const std::optional<FileLock::Guard> turn, change());
  if (!turn) {
    return {};
  }
  IndexState next{.next = state()->next};
  BMAD_TRY(write_state(next));
  BMAD_TRY(remove_unused(next));
  const std::lock_guard guard(mutex_);
  distrusted_.clear();
  return {};
}

Status RootIndex::tidy() {
  BMAD_TRY_ASSIGN(const std::optional<FileLock::Guard> turn, change());
  const SharedState now = state();
  // Where CURRENT is there and names nothing, it may be that it could not be read.
  const bool is_known = !now->names.empty() || !store_.files->info(kIndexCurrentFile);
  return turn && is_known ? remove_unused(*now) : Status();
}

}  // namespace bmad_mem
