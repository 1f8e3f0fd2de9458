// cached_indexes.hpp - the indexes of the sessions that a question is asked of: refreshed, held
// still, and made anew where one turns out not to hold.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "search/archive_reader.hpp"
#include "search/root_index.hpp"
#include "search/search.hpp"
#include "search/session_index.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// The index of `session_id`, kept as long as the root is open; refresh() it before use.
std::shared_ptr<SessionIndex> session_index(const Store& store, const std::string& session_id);
/// The same for who works through all sessions and needs each index once: one that is not there is
/// not kept.
std::shared_ptr<SessionIndex> passing_index(const Store& store, const std::string& session_id);
/// Whether the index of `session_id` is in memory: refresh() takes in what is new, and no more.
bool has_index(const Store& store, const std::string& session_id);

/// The indexes that a question is asked of.
struct ChosenIndexes {
  /// Those whose sessions the index of the memory covers, and those of the others.
  std::vector<std::shared_ptr<SegmentPart>> parts = {};
  std::vector<std::shared_ptr<SessionIndex>> indexes = {};
  std::vector<SeenFolder> live = {};          ///< Of the latter, the sessions that are folders.
  std::vector<ArchiveReaderPtr> packed = {};  ///< Those of archives and of what was evicted.
  EvictedParts evicted = {};                  ///< The sessions that something was evicted from.
  /// The sessions in parts that have encrypted lines, and how many.
  std::map<std::string, std::uint64_t, std::less<>> encrypted = {};
  std::optional<FileInfo> folder;  ///< archive/, before it was listed.
  bool is_only_one = false;        ///< One session was named: its errors are the answer.
  bool is_past = false;            ///< The indexes are of past_files(), and nobody else's.

  /// Takes out what `is_wanted(session_id)` doesn't want.
  template <typename IsWanted>
  void keep(const RootIndex& root, const IsWanted& is_wanted) {
    for (std::shared_ptr<SegmentPart>& part : parts) {
      part = root.only(part, is_wanted);
    }
    std::erase(parts, nullptr);
    std::erase_if(indexes, [&](const auto& index) { return !is_wanted(index->session_id()); });
    std::erase_if(packed,
                  [&](const ArchiveReaderPtr& each) { return !is_wanted(each->session_id()); });
  }
};

enum class EvictedEntries : std::uint8_t { kWith, kWithout };

/// The indexes of the sessions that `filter` names, each once; of all when it names none.
Result<ChosenIndexes> chosen_indexes(const Store& store, const EntryFilter& filter,
                                     EvictedEntries evicted = EvictedEntries::kWith);

/// Whether everything is where it was, after it was searched. Errors: one that is_not_found().
Status check_still_there(const Store& store, const EntryFilter& filter,
                         const ChosenIndexes& chosen);

/// The indexes of some sessions, as fresh as their logs, held still. A session that can't be read
/// is left out, see Store::leave_out().
class CachedIndexes {
 public:
  CachedIndexes(const Store& store, ChosenIndexes chosen);

  /// Runs `work` on the held indexes; when one of them turns out not to hold, it is made anew and
  /// the work is done again: first from a segment, then from the logs alone. Each index has
  /// its own tries, since many may be damaged at once.
  template <typename Work>
  auto run(const Work& work) -> decltype(work()) {
    constexpr int kTries = 4;
    std::map<const SessionIndex*, int> tries;
    while (true) {
      BMAD_TRY(hold());
      const Status hidden = hide_what_came_back();
      auto result = hidden ? work() : decltype(work())(hidden.error());
      for (const SearchedPart& each : parts_of(sessions_)) {
        if (Status holds = result ? each.part->status() : Status(); !holds) {
          result = std::move(holds).error();
        }
      }
      if (!result && !is_of_this_memory(result.error())) {
        return result;
      }
      if (!result && is_about_an_index(result.error())) {
        BMAD_TRY_ASSIGN(const bool is_mended, leave_parts(result.error().field));
        if (is_mended) {
          continue;
        }
      }
      SessionIndex* const doubtful = result ? nullptr : named(result.error().field);
      if (doubtful == nullptr) {
        BMAD_TRY(result ? check_those_that_left() : Status());
        return result;
      }
      const int done = is_about_an_index(result.error()) ? ++tries[doubtful] : kTries;
      locks_.clear();
      if (done == kTries) {
        BMAD_TRY(drop(*doubtful, std::move(result).error()));
      } else if (done == 1) {
        doubtful->forget();
      } else {
        const Status rebuilt = doubtful->rebuild();
        BMAD_TRY(rebuilt ? Status() : drop(*doubtful, rebuilt.error()));
      }
    }
  }

  [[nodiscard]] std::span<IndexedSession* const> sessions() const { return sessions_; }
  /// Those of them that have encrypted lines, which no index has, with how many.
  using EncryptedSessionLines = std::vector<std::pair<IndexedSession*, std::uint64_t>>;
  [[nodiscard]] EncryptedSessionLines with_encrypted_lines() const;
  [[nodiscard]] std::uint64_t encrypted_lines() const;

  /// Takes what the next process would miss into the segments: a reader, only where those that
  /// write have not.
  /// What goes wrong (a full disk, a store that may only be read) is no concern of the one who
  /// asked: the logs are the truth.
  void flush(FlushWhen when = FlushWhen::kMuch);

 private:
  Status hold();
  void list_sessions();
  Result<bool> leave_parts(const std::string& field);
  Status add_index(const IndexedSession& session);
  [[nodiscard]] Status check_those_that_left() const;
  Status hide_what_came_back();
  static bool is_about_an_index(const Error& error);
  SessionIndex* named(std::string_view name);
  Status drop(SessionIndex& session, Error error);
  /// Whether `error` may be about a file of this memory: another one that is asked as well may have
  /// a session of the same id.
  [[nodiscard]] bool is_of_this_memory(const Error& error) const;

  const Store& store_;
  ChosenIndexes chosen_;  // And those that take the place of parts.
  std::vector<std::shared_ptr<SegmentPart>> kept_;
  std::vector<SeenFolder> left_;           // Folders that were in a part, and are read since.
  std::vector<SessionIndex*> indexes_;     // Those of sessions that are indexed by themselves.
  std::vector<IndexedSession*> sessions_;  // All.
  std::vector<std::shared_lock<std::shared_mutex>> locks_;
};

/// Of `indexes` those of the session that `evicted` was evicted from, and of what was evicted of it
/// later.
std::vector<SessionIndex*> newer_than(const SessionIndex& evicted,
                                      std::span<SessionIndex* const> indexes);

/// Takes what is new in the sessions into the index of the memory: when it is enough to be worth
/// it. For those who have time. What fails here fails nothing.
void flush_index(const Store& store, FlushWhen when = FlushWhen::kMany);

/// What `work` makes of the indexes of the sessions that `filter` names; afterwards what is
/// new is flushed where that is worth it.
template <typename Work>
auto with_indexes(const Store& store, const EntryFilter& filter, const Work& work)
    -> decltype(work(std::declval<CachedIndexes&>())) {
  const auto ask = [&]() -> decltype(work(std::declval<CachedIndexes&>())) {
    BMAD_TRY_ASSIGN(const ChosenIndexes chosen, chosen_indexes(store, filter));
    CachedIndexes indexes(store, chosen);
    auto result = indexes.run([&] { return work(indexes); });
    if (result) {
      BMAD_TRY(check_still_there(store, filter, chosen));
      indexes.flush();
    }
    return result;
  };
  return choose_steadily(store, ask);
}

/// A memory that a question is asked of.
struct AskedRoot {
  const Store* store = nullptr;
  MemoryKind kind = MemoryKind::kProject;
  EntryFilter filter = {};           ///< Names its own sessions, if any.
  std::size_t first = 0;             ///< The number of its first session; when they are held.
  CachedIndexes* indexes = nullptr;  ///< So too.
};

/// What a question is asked of: the sessions of all memories, side by side.
struct AskedSessions {
  std::vector<IndexedSession*> sessions;
  std::vector<AskedRoot> roots;
};

/// As with_indexes(), of all `asked.roots` from number `next` on. `work(asked)`.
template <typename Work>
auto with_all_indexes(AskedSessions& asked, const Work& work, std::size_t next = 0)
    -> decltype(work(std::as_const(asked))) {
  if (next == asked.roots.size()) {
    return work(std::as_const(asked));
  }
  AskedRoot& root = asked.roots[next];
  assert(root.store != nullptr);
  root.first = asked.sessions.size();
  return with_indexes(*root.store, root.filter,
                      [&](CachedIndexes& indexes) -> decltype(work(std::as_const(asked))) {
                        asked.sessions.resize(root.first);  // It may not be the first time.
                        asked.sessions.insert(asked.sessions.end(), indexes.sessions().begin(),
                                              indexes.sessions().end());
                        root.indexes = &indexes;
                        return with_all_indexes(asked, work, next + 1);
                      });
}

/// The memory whose sessions these are: the user's when all are there and none is in `store`.
const Store& store_of(const Store& store, std::span<const std::string> sessions);

}  // namespace bmad_mem
