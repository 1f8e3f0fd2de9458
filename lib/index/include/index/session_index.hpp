// session_index.hpp - the index of one session: its checkpoint, and the table of what came since.
//
//   logs     |<---------- covered by index.json ---------->|<- tail ->| torn
//   index     CheckpointReader, searched in place            SessionTable in memory
//             ordinals 0 .. n-1                              ordinals n ..
//
// refresh() makes it cover every whole line that the logs hold at that moment. It takes no lock on
// the session and never repairs. A checkpoint that does not hold, or is of other logs, is left
// aside, and the logs are indexed from their beginning.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "core/file_system.hpp"
#include "index/checkpoint_reader.hpp"
#include "index/indexed_session.hpp"
#include "index/slot_table.hpp"

namespace bmad_mem {

struct KeyedSlots;
class SegmentPart;
class SegmentSource;
struct SessionTable;

struct CheckpointReport {
  std::uint64_t entries = 0;      ///< Live ones.
  std::uint64_t terms = 0;        ///< Distinct keys of the inverted index.
  std::uint64_t log_bytes = 0;    ///< Covered.
  std::uint64_t index_bytes = 0;  ///< Of index.json.
};

/// The session in a segment, and what of its logs that covers.
struct SessionBase {
  std::shared_ptr<SegmentPart> part;  ///< Of this session alone.
  LogCovers covers;
};

/// Bytes of the tail that make a new checkpoint worth its cost: to scan them takes a millisecond.
inline constexpr std::uint64_t kTailSizeMax = 256U << 10U;

/// How many bytes of the logs of session `session_id` its checkpoint covers; 0 without a good one.
std::uint64_t checkpointed_bytes(FileSystem& files, const std::string& session_id,
                                 std::string_view language);

/// Threads: refresh(), rebuild() and write_checkpoint() take the index for themselves; everything
/// below lock() is for those who hold lock().
class SessionIndex final : public IndexedSession, public IndexPart {
 public:
  struct Options {
    std::string session_id;
    std::string language = "english";  ///< A Snowball name, see Analyzer.
    /// Off: index.json is left alone, and the logs are scanned.
    bool use_checkpoint = true;
    /// Bytes to scan in a log from which on two threads do it, where there are two cores. To start
    /// one costs 50 us, as long as it takes to scan 5 KB; less is not worth disturbing others.
    std::uint64_t word_thread_size = 256U << 10U;
    /// Postings kept decoded, in bytes.
    std::uint64_t cache_size = std::uint64_t{5} << 20U;
    /// The logs lie in one packed file, which this number tells from any other; each has it as its
    /// inode. A checkpoint that was made of the same file holds without a look at them. Whoever
    /// writes one holds the lock that guards the packed file. 0: the logs are files.
    std::uint64_t package = 0;
    /// What a segment knows of the session, from which on it is indexed; nothing where none does.
    std::function<std::optional<SessionBase>()> base = {};
    bool archived = false;  ///< The session is archived.
    bool evicted = false;   ///< This is what compaction moved out of the session.
  };

  /// `files` and `clock` must outlive the index. Touches nothing yet.
  SessionIndex(FileSystem& files, const Clock& clock, Options options);
  ~SessionIndex() override;

  /// Errors: as the file system's; E_SCHEMA_INVALID for a language without a stemmer.
  Status refresh();

  /// Forgets everything, the checkpoint too, and indexes the logs from their beginning.
  /// `on_progress` is called now and then with the bytes of logs done.
  using Progress = std::function<void(std::uint64_t bytes)>;
  Status rebuild(const Progress& on_progress = {});

  /// Forgets everything, so that the next refresh() begins with the checkpoint.
  void forget();

  /// Writes index.json so that it covers what this index covers, if nobody else is at it. Not
  /// synced: what a crash leaves of it is recognised and built anew. Nothing when another process
  /// is writing it.
  Result<std::optional<CheckpointReport>> write_checkpoint();

  /// Whether what came since the checkpoint is more than `entries_max` entries or kTailSizeMax; or
  /// there is an index.json that does not hold.
  [[nodiscard]] bool wants_checkpoint(std::uint64_t entries_max) const;

  /// Whether a newer program wrote index.json: only rebuild() takes its place.
  [[nodiscard]] bool is_newer_file() const { return is_newer_file_; }

  /// Whether it reads and writes an index.json at all.
  [[nodiscard]] bool has_checkpoint_file() const { return options_.use_checkpoint; }

  /// Keeps the index as it is while it is held.
  [[nodiscard]] std::shared_lock<std::shared_mutex> lock() const {
    return std::shared_lock(mutex_);
  }

  [[nodiscard]] const std::string& session_id() const override { return options_.session_id; }
  [[nodiscard]] bool is_archived() const override { return options_.archived; }
  [[nodiscard]] bool is_evicted() const override { return options_.evicted; }
  [[nodiscard]] IndexPart& part() override { return *this; }
  [[nodiscard]] const SessionFacts& facts() const;
  [[nodiscard]] Timestamp newest() const override { return facts().newest; }
  /// Bytes of the log of `type` that are covered.
  [[nodiscard]] std::uint64_t log_size(EntryType type) const;
  /// What of its logs is covered, as they were looked at last.
  [[nodiscard]] const LogCovers& covers() const;
  /// What of it no segment knows: of a session without a base, all.
  struct Unknown {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Unknown unknown() const;
  /// As Options has it.
  [[nodiscard]] std::uint64_t package() const { return options_.package; }
  /// Entries, tombstones among them.
  [[nodiscard]] Ordinal entry_count() const;

  Status load() override;
  Result<SlotTotals> totals() override;
  [[nodiscard]] SlotView slots() const override;
  [[nodiscard]] Timestamp timestamp(Ordinal ordinal) const override;
  [[nodiscard]] const OddEntry* odd(Ordinal ordinal) const override;

  /// Reads a column of the checkpoint.
  [[nodiscard]] Result<std::uint32_t> id_hash(Ordinal ordinal) const override;
  [[nodiscard]] Result<std::uint32_t> line_number(Ordinal ordinal) const override;

  /// Ascending by ordinal, tombstones among them; empty for an unknown key.
  /// Errors: E_STORAGE_CORRUPT when the checkpoint does not hold: rebuild() and ask again.
  Result<std::vector<Posting>> postings(PostingKind kind, std::string_view key) const;

  /// Kept for the next one who asks.
  Result<Postings> live_postings(PostingKind kind, std::string_view key) override;
  Result<PartPostings> part_postings(PostingKind kind, std::string_view key) override;
  Status part_keys(PostingKind kind, std::string_view prefix, const WantKey& wanted,
                   const UseKey& use) override;
  void add_participants(Participants& all) const override;

  /// Calls `use` for all keys of live entries that start with `prefix`, ascending, until it says
  /// false.
  Status keys(PostingKind kind, std::string_view prefix, const UseKey& use) const;

  Result<std::vector<PartEntry>> part_find(std::string_view id) override;
  /// The live entries with this id, at most one a type. Errors: as line().
  Result<std::vector<Ordinal>> find(std::string_view id);
  /// Whether an entry, live or not, may have one of `ids`: no is certain. Reads no line.
  Result<bool> may_hold(std::span<const std::string> ids) const;

  /// Hides the entries that are live in `newer`, too, by the hashes of their ids and types; those
  /// that were hidden before show again. Both are locked.
  Status hide_those_in(SessionIndex& newer);
  [[nodiscard]] std::shared_ptr<const std::vector<std::uint8_t>> hidden() const override;

  using IndexedSession::line;
  Result<LoadedLine> line(Ordinal ordinal, OpenLogs& logs) const override;

  /// What a segment takes of it. It is refreshed, and stays as it is as long as the source is used.
  Result<std::unique_ptr<SegmentSource>> segment_source();

 private:
  friend class IndexSource;
  struct State;

  Status keys_behind_base(PostingKind kind, std::string_view prefix, const WantKey& wanted,
                          const UseKey& use) const;
  Result<KeyedSlots> keyed_slots(PostingKind kind) const;

  [[nodiscard]] bool covers_package() const;
  void note_package();
  Result<std::vector<std::uint32_t>> id_hashes() const;
  Result<std::optional<CheckpointReport>> write_locked();
  [[nodiscard]] Result<EntryRow> row(Ordinal ordinal) const;
  Result<FileInfo> log_info(EntryType type) const;
  Status look_for_changes(bool& changed) const;
  Status open_checkpoint();
  Status take_base(SessionBase base);
  [[nodiscard]] Result<std::map<std::string, Ordinal, std::less<>>> ends_in_base() const;
  Status bring_up_to_date();
  Status scan_all(const Progress& on_progress);
  Status scan_log_from(EntryType type, bool verify_prefix, bool& prefix_holds,
                       const Progress& on_progress);
  Status prepare_growth();

  FileSystem& files_;
  const Clock& clock_;
  Options options_;
  mutable std::shared_mutex mutex_;  // Guards state_, but for what it guards itself.
  std::unique_ptr<State> state_;
  std::atomic<bool> is_newer_file_{false};  // index.json is a newer program's, who goes on with it.
  std::uint64_t changes_ = 0;               // How often state_ was made to hold something else.
};

}  // namespace bmad_mem
