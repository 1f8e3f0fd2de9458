// session_index.hpp - the index of one session: what a segment knows of it, and the table of what
// came since.
//
//   logs     |<------------- known to a segment ------------>|<- tail ->| torn
//   index     its columns taken over, its postings in place     SessionTable in memory
//             ordinals 0 .. n-1                                 ordinals n ..
//
// refresh() makes it cover every whole line that the logs hold at that moment. It takes no lock,
// writes nothing and never repairs. Where the segment does not hold, or is of other logs, these are
// indexed from their beginning.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "search/indexed_session.hpp"
#include "search/log_cover.hpp"
#include "search/memtable.hpp"
#include "search/slot_table.hpp"

namespace bmad_mem {

struct Segment;
struct StatementRow;
class SegmentPart;
struct SessionTable;

/// The session in a segment, and what of its logs that covers.
struct SessionBase {
  std::shared_ptr<SegmentPart> part;  ///< Of this session alone.
  LogCovers covers;
};

/// Threads: refresh(), rebuild() and forget() take the index for themselves; everything below
/// lock() is for those who hold lock().
class SessionIndex final : public IndexedSession, public IndexPart {
 public:
  struct Options {
    std::string session_id;
    std::string language = "english";  ///< A Snowball name, see Analyzer.
    /// Bytes to scan in a log from which on two threads do it, where there are two cores. To start
    /// one costs 50 us, as long as it takes to scan 5 KB; less is not worth disturbing others.
    std::uint64_t word_thread_size = 256U << 10U;
    /// Postings kept decoded, in bytes.
    std::uint64_t cache_size = std::uint64_t{5} << 20U;
    /// The logs lie in one packed file, which this number tells from any other; each has it as its
    /// inode. What was made of the same file holds without a look at them. 0: the logs are
    /// files.
    std::uint64_t package = 0;
    /// What a segment knows of the session, from which on it is indexed; nothing where none does.
    std::function<std::optional<SessionBase>()> base = {};
    /// The segment that `base` would begin with now; null where there is none.
    std::function<std::shared_ptr<const Segment>()> base_segment = {};
    bool archived = false;  ///< The session is archived.
    /// Which part of what compaction moved out of the session this is; 0: none.
    std::uint32_t evicted = 0;
    /// How many entries there are for each that is in the logs: others, about as long, were left
    /// out since they hold no word of the question.
    double entries_for_each = 1;
  };

  /// `files` and `clock` must outlive the index. Touches nothing yet.
  SessionIndex(FileSystem& files, const Clock& clock, Options options);
  ~SessionIndex() override;

  /// Errors: as the file system's; E_SCHEMA_INVALID for a language without a stemmer.
  Status refresh();

  /// Forgets everything, the segment too, and indexes the logs from their beginning.
  /// `on_progress` is called now and then with the bytes of logs done.
  using Progress = std::function<void(std::uint64_t bytes)>;
  Status rebuild(const Progress& on_progress = {});

  /// Forgets everything, so that the next refresh() begins with a segment.
  void forget();

  /// Keeps the index as it is while it is held.
  [[nodiscard]] std::shared_lock<std::shared_mutex> lock() const {
    return std::shared_lock(mutex_);
  }

  /// Whether it holds what the last refresh() found. Not, when somebody made it forget() since: who
  /// holds it asks, and refreshes it again.
  [[nodiscard]] bool is_open() const;

  /// Refreshes it, and keeps it as it is then. Errors: as refresh().
  Result<std::shared_lock<std::shared_mutex>> fresh();

  [[nodiscard]] const std::string& session_id() const override { return options_.session_id; }
  [[nodiscard]] bool is_archived() const override { return options_.archived; }
  [[nodiscard]] std::uint32_t evicted_part() const override { return options_.evicted; }
  [[nodiscard]] IndexPart& part() override { return *this; }
  [[nodiscard]] Timestamp newest() const override;
  [[nodiscard]] SessionFacts facts() const override;
  /// What of its logs is covered, as they were looked at last.
  [[nodiscard]] const LogCovers& covers() const;
  /// How many encrypted lines are among them.
  [[nodiscard]] std::uint64_t encrypted_lines() const;
  /// What of it no segment knows: of a session without a base, all.
  struct Unknown {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Unknown unknown() const;
  /// Of the segment that it begins in; empty when there is none.
  [[nodiscard]] std::string base_path() const;
  /// Whether it begins in session `number` of `segment`, and nothing of that has moved.
  [[nodiscard]] bool has_base_of(const Segment* segment, std::uint32_t number) const;
  [[nodiscard]] Status status() const override;
  /// As Options has it.
  [[nodiscard]] std::uint64_t package() const { return options_.package; }
  /// Entries, tombstones among them.
  [[nodiscard]] Ordinal entry_count() const;

  Status load() override;
  Result<SlotTotals> totals() override;
  [[nodiscard]] SlotView slots() const override;
  Status load_times() override;
  [[nodiscard]] Timestamp timestamp(Ordinal ordinal) const override;
  [[nodiscard]] const OddEntry* odd(Ordinal ordinal) const override;

  [[nodiscard]] Result<VectorRange> vectors() override;
  [[nodiscard]] Result<IndexRow> row(Ordinal ordinal) const override;
  [[nodiscard]] Result<std::vector<IndexRow>> rows() const override;

  /// Ascending by ordinal, tombstones among them; empty for an unknown key.
  /// Errors: E_STORAGE_CORRUPT when the segment does not hold: rebuild() and ask again.
  Result<std::vector<Posting>> postings(PostingKind kind, std::string_view key) const;

  /// Kept for the next one who asks.
  Result<Postings> live_postings(PostingKind kind, std::string_view key) override;
  Result<PartPostings> part_postings(PostingKind kind, std::string_view key) override;
  Result<std::unique_ptr<KeyCursor>> keys(PostingKind kind, std::string_view prefix) override;
  Result<std::vector<PartEntry>> part_candidates(std::uint32_t id_hash) override;
  IndexedSession& session(std::uint32_t /*number*/) override { return *this; }
  void add_participants(Participants& all) const override;

  /// Hides the entries that are live in one of `newer`, too, by their ids and types; those that
  /// were hidden before show again. All are locked.
  Status hide_those_in(std::span<SessionIndex* const> newer);
  [[nodiscard]] std::shared_ptr<const std::vector<std::uint8_t>> hidden() const override;

  Status for_statements(const UseStatement& use) override;

  [[nodiscard]] Result<LoadedLine> line(Ordinal ordinal) const override;

 private:
  friend class MergedCursor;
  struct State;

  [[nodiscard]] bool covers_package() const;
  void note_package();
  Result<FileInfo> log_info(EntryType type) const;
  [[nodiscard]] Result<LogLook> log_look(EntryType type) const;
  [[nodiscard]] Result<bool> has_changed() const;
  [[nodiscard]] bool has_newer_base() const;
  void open_base();
  Status take_base(SessionBase base);
  [[nodiscard]] Result<std::map<std::string, Ordinal, std::less<>>> ends_in_base() const;
  Status bring_up_to_date();
  Status scan_changed();
  Status scan_all(const Progress& on_progress);
  Status scan_logs(const Progress& on_progress);
  Result<bool> scan_log_from(EntryType type, bool verify_prefix, const Progress& on_progress);
  Status prepare_growth();

  FileSystem& files_;
  const Clock& clock_;
  Options options_;
  mutable std::shared_mutex mutex_;  // Guards state_, but for what it guards itself.
  std::unique_ptr<State> state_;
  std::weak_ptr<const Segment> last_base_;  // As Options::base said last.
  std::atomic<std::uint64_t> look_{0};      // The last that found it fresh; see Question.
  std::uint64_t changes_ = 0;               // How often state_ was made to hold something else.
};

}  // namespace bmad_mem
