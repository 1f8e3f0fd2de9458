// indexed_session.hpp - a session as a search sees it, wherever its index is.
//
//   IndexedSession   one session: its slots, times and lines      SessionIndex, SegmentSession
//   IndexPart        what answers for all its sessions at once:   SessionIndex, SegmentPart
//                    the postings of a term, the terms there are
//
// A search asks parts for postings, so that sessions that hold no word of a question cost nothing,
// and sessions for all else. The sessions of a part stand side by side in what is searched.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "search/entry_columns.hpp"
#include "search/impact.hpp"
#include "search/memtable.hpp"
#include "search/slot_table.hpp"
#include "store/retention.hpp"

namespace bmad_mem {

class IndexedSession;
struct Segment;
struct StatementRow;

/// Who speaks in some sessions.
struct Participants {
  std::set<std::string> names;
  bool has_user = false;  ///< Messages with role user; so for the next.
  bool has_assistant = false;
};

/// The live entries of one session that hold a key. Nothing is in one that is not.
struct SessionPostings {
  std::uint32_t session = 0;              ///< Its number in the part.
  std::span<const SlotPosting> postings;  ///< Ascending by slot.
  const Impact* impacts = nullptr;        ///< Of each, see impact.hpp; null where nobody knows.
  std::uint64_t frequency_sum = 0;
  std::uint64_t window_count = 0;  ///< Of a term: entries that have one of them in their window.
};

/// Those of all sessions of a part, ascending by session.
struct PartPostings {
  std::vector<SessionPostings> sessions;
  std::shared_ptr<const void> owner;  ///< Keeps what the spans show.
};

/// Goes through the keys of a kind.
class KeyCursor {
 public:
  KeyCursor() = default;
  KeyCursor(const KeyCursor&) = delete;
  KeyCursor& operator=(const KeyCursor&) = delete;
  virtual ~KeyCursor() = default;
  /// Goes on to the next key, ascending by bytes; false behind the last. The first is behind the
  /// first call. Errors here and below: as IndexPart::part_postings().
  virtual Result<bool> next() = 0;
  /// Valid until the next next().
  [[nodiscard]] virtual std::string_view key() const = 0;
  /// How many live entries are under it; those of a segment are not read where it knows.
  virtual Result<std::uint64_t> count() = 0;
  /// They are there until the next next(). Of a key without live entries, none.
  virtual Result<std::span<const SessionPostings>> postings() = 0;
};

/// Threads: all calls may be made at the same time.
class IndexPart {
 public:
  IndexPart() = default;
  IndexPart(const IndexPart&) = delete;
  IndexPart& operator=(const IndexPart&) = delete;
  virtual ~IndexPart() = default;

  /// Errors here and below: E_STORAGE_CORRUPT with Error::field naming the index that does not
  /// hold, by IndexedSession::name().
  virtual Result<PartPostings> part_postings(PostingKind kind, std::string_view key) = 0;

  /// Calls `use` for the keys of live entries that start with `prefix` and that `wanted` wants,
  /// ascending, with how many entries are under each, until it says false.
  using WantKey = std::function<bool(std::string_view key)>;
  using UseKey = std::function<bool(std::string_view key, std::uint64_t entry_count)>;
  Status part_keys(PostingKind kind, std::string_view prefix, const WantKey& wanted,
                   const UseKey& use);
  /// The keys from `prefix` on; keys without live entries may be among them. The sessions are
  /// loaded, and the part outlives the cursor.
  virtual Result<std::unique_ptr<KeyCursor>> keys(PostingKind kind, std::string_view prefix) = 0;

  /// The live entries with this id, at most one a session and type. Errors: as line() and above.
  struct PartEntry {
    std::uint32_t session = 0;  ///< Its number in the part.
    Ordinal ordinal = 0;

    auto operator<=>(const PartEntry&) const = default;
  };
  Result<std::vector<PartEntry>> part_find(std::string_view id);
  /// The live entries whose id and type have this hash; see entry_id_hash().
  virtual Result<std::vector<PartEntry>> part_candidates(std::uint32_t id_hash) = 0;
  /// Its session `number`.
  virtual IndexedSession& session(std::uint32_t number) = 0;

  /// Adds those who speak in its sessions.
  virtual void add_participants(Participants& all) const = 0;

  /// What of the segment that it is, or begins in, did not hold where no error could be returned,
  /// with its path in Error::field.
  [[nodiscard]] virtual Status status() const = 0;
};

/// How many live entries a session has, and how long they are.
struct SlotTotals {
  std::uint64_t entries = 0;
  std::uint64_t lengths = 0;  ///< In terms; so for the next.
  std::uint64_t window_lengths = 0;
};

/// Where the vectors of a session's entries are, as far as a segment knows the session.
struct VectorRange {
  std::shared_ptr<Segment> segment;  ///< Null: none knows it.
  std::uint32_t first = 0;           ///< Slot of the segment; so for the next.
  std::uint32_t count = 0;
  /// By slot from `first` on, the slot of the session, SlotTable::kNoSlot for what has gone; empty
  /// when they are the same from 0 on.
  std::vector<std::uint32_t> slots = {};
};

/// Threads: all calls may be made at the same time.
class IndexedSession {
 public:
  IndexedSession() = default;
  IndexedSession(const IndexedSession&) = delete;
  IndexedSession& operator=(const IndexedSession&) = delete;
  virtual ~IndexedSession() = default;

  [[nodiscard]] virtual const std::string& session_id() const = 0;
  [[nodiscard]] virtual bool is_archived() const = 0;
  /// Which part of what was evicted of the session this is, from 1 on; 0: none.
  [[nodiscard]] virtual std::uint32_t evicted_part() const = 0;
  [[nodiscard]] bool is_evicted() const { return evicted_part() != 0; }
  /// What tells it from the other indexes of a search: the session's id, and a mark for what was
  /// evicted.
  [[nodiscard]] std::string name() const {
    return is_evicted() ? session_id() + "#evicted" + std::to_string(evicted_part()) : session_id();
  }
  /// The part that answers for it.
  [[nodiscard]] virtual IndexPart& part() = 0;

  /// Latest timestamp of all versions; 1970 without entries.
  [[nodiscard]] virtual Timestamp newest() const = 0;
  [[nodiscard]] virtual SessionFacts facts() const = 0;
  /// Reads no column.
  [[nodiscard]] virtual Result<SlotTotals> totals() = 0;

  /// Of its live entries, hidden ones too; null where no segment has all of them. Errors:
  /// E_STORAGE_CORRUPT.
  [[nodiscard]] virtual Result<const SessionSums*> sums() { return nullptr; }

  /// Makes slots(), timestamp() and odd() there. Errors: E_STORAGE_CORRUPT.
  virtual Status load() = 0;
  /// The same for the slots from `begin` to before `end`; slots() itself is there for none, too.
  virtual Status load_slots(std::uint32_t /*begin*/, std::uint32_t /*end*/) { return load(); }
  [[nodiscard]] virtual SlotView slots() const = 0;
  /// The columns of these slots alone, by the same numbers, without what load() takes for all. They
  /// hold until `room` is used again. Errors: E_STORAGE_CORRUPT.
  virtual Result<SlotView> slots_between(std::uint32_t /*begin*/, std::uint32_t /*end*/,
                                         SlotRoom& /*room*/) {
    BMAD_TRY(load());
    return slots();
  }
  /// Reads the times of all, for who wants most of them: timestamp() reads a few at a time.
  virtual Status load_times() { return {}; }
  [[nodiscard]] virtual Timestamp timestamp(Ordinal ordinal) const = 0;
  [[nodiscard]] virtual const OddEntry* odd(Ordinal ordinal) const = 0;
  /// By slot, 1 for an entry that must not be found; null when there is none.
  [[nodiscard]] virtual std::shared_ptr<const std::vector<std::uint8_t>> hidden() const {
    return nullptr;
  }

  /// Of the root that the session is of, once a question holds it.
  std::atomic<const PastRetention*> past_retention = nullptr;

  /// Errors: E_STORAGE_CORRUPT.
  [[nodiscard]] virtual Result<VectorRange> vectors() { return VectorRange{}; }

  /// Errors: E_STORAGE_CORRUPT.
  [[nodiscard]] virtual Result<IndexRow> row(Ordinal ordinal) const = 0;
  /// Those of all live entries, by slot; load() comes first. Errors: E_STORAGE_CORRUPT.
  [[nodiscard]] virtual Result<std::vector<IndexRow>> rows() const = 0;
  /// The id of an entry of `type`, from its row or else from its line. Errors: as line().
  [[nodiscard]] Result<std::string> id(EntryType type, Ordinal ordinal) const;

  /// The live entries that hold a key; load() comes first.
  using Postings = std::shared_ptr<const SlotPostings>;
  virtual Result<Postings> live_postings(PostingKind kind, std::string_view key) = 0;

  /// Calls `use` for each line of a preference and of a fact, superseded ones too, log by log in
  /// the order of their lines. Errors: E_STORAGE_CORRUPT.
  using UseStatement = std::function<void(const StatementRow& row)>;
  virtual Status for_statements(const UseStatement& use) = 0;

  /// The line of a live entry, where it stands. Errors: E_CONCURRENT_MOD when the log has changed
  /// since it was indexed; E_STORAGE_CORRUPT when the index does not hold.
  struct LoadedLine {
    std::string text;
    std::uint64_t number = 0;  ///< 1-based.
    EntryType type = EntryType::kConversation;
  };
  [[nodiscard]] virtual Result<LoadedLine> line(Ordinal ordinal) const = 0;
};

/// Whether an entry with `flags`, which are its own, is not valid any more at `now`.
inline bool has_expired(const IndexedSession& session, std::uint32_t flags, Ordinal ordinal,
                        Timestamp now) {
  if ((flags & kFlagExpires) == 0) {
    return false;
  }
  const OddEntry* const odd = session.odd(ordinal);
  return odd != nullptr && odd->expires_at && *odd->expires_at <= now;
}
/// Whether readers pass over such an entry at `now`: it has expired, or is past its retention.
inline bool is_hidden_at(const IndexedSession& session, std::uint32_t flags, Ordinal ordinal,
                         Timestamp now) {
  const PastRetention* const past = session.past_retention;
  return has_expired(session, flags, ordinal, now) ||
         (past != nullptr &&
          past->hides(session.session_id(), flag_type(flags), session.timestamp(ordinal),
                      (flags & kFlagPinned) != 0, now));
}

/// A part of what is searched; session `number` of it is number `first` + `number` there.
struct SearchedPart {
  IndexPart* part = nullptr;
  std::size_t first = 0;
};

inline std::vector<SearchedPart> parts_of(std::span<IndexedSession* const> sessions) {
  std::vector<SearchedPart> parts;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    IndexPart* const part = &sessions[i]->part();
    if (parts.empty() || parts.back().part != part) {
      parts.push_back({.part = part, .first = i});
    }
  }
  return parts;
}

/// `outcome`, whose error says in Error::field which index it is about, by IndexedSession::name(),
/// unless it does already: the engine makes that one anew.
template <typename Outcome>
Outcome in_session(const IndexedSession& session, Outcome outcome) {
  if (!outcome && outcome.error().field.empty()) {
    outcome.error().field = session.name();
  }
  return outcome;
}

/// Reads the line at `row` of the log of `type` of the session, which stays open, and compares its
/// hash. Errors: E_CONCURRENT_MOD when another line is there.
Result<IndexedSession::LoadedLine> read_row(FileSystem& files, const std::string& session_id,
                                            EntryType type, const EntryRow& row);

}  // namespace bmad_mem
