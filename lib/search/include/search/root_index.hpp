// root_index.hpp - the index of the whole memory: which sessions its segments cover, and whether
// that still holds.
//
//   index/CURRENT    JSON: the segments with their hashes, and what of each session's logs they
//                    cover; replaced whole
//   index/N.seg      some sessions each (index/segment.hpp); never changed
//
//   sessions there are --sweep--> as covered: in a part          one stat a log
//                             +-> anything else: an index of its own (SessionIndex)
//
// With a StoreWatch, what was found out of a session holds until its folder changes.
//
// All of it is derived. What is missing, damaged or of another program costs time and no answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json.hpp"
#include "encoder/text_encoder.hpp"
#include "search/index_state.hpp"
#include "search/segment.hpp"
#include "search/session_index.hpp"
#include "store/file_lock.hpp"
#include "store/store_watch.hpp"

namespace bmad_mem {

struct Store;

/// What is encoded of an entry.
std::string encoded_text(EntryType type, JsonValue entry);

/// What to do with vectors of another encoder.
enum class OtherVectors : std::uint8_t {
  kKeep,     ///< Two processes with an encoder each would undo each other's work.
  kReplace,  ///< When the first vectors are there that take their place.
};

/// How much to encode.
struct EncodeWish {
  VectorsOf of;
  OtherVectors others = OtherVectors::kReplace;
  std::size_t texts_max = std::numeric_limits<std::size_t>::max();
  TextEncoder::Deadline deadline = {};
  /// Called with the entries that got their vector so far.
  std::function<void(std::uint64_t encoded)> on_progress = {};
};

/// What was encoded.
struct Encoded {
  std::uint64_t encoded = 0;  ///< Entries that got their vector.
  std::uint64_t refused = 0;  ///< Of them, those whose text the encoder takes in no length.
  bool is_elsewhere = false;  ///< Another process is at it: nothing was done here.
  bool has_changed = false;   ///< Others took the place of segments: these wait.
};

/// How much that is new is worth a segment.
enum class FlushWhen : std::uint8_t {
  kMuch,  ///< What would make each question slow: a reader waits for no less.
  kMany,  ///< What it costs each question to read the logs.
  kSome,  ///< What is worth encoding.
  kAny,
};

/// Threads: safe.
class RootIndex {
 public:
  explicit RootIndex(const Store& store) : store_(store) {}

  /// A session that may be covered.
  struct Candidate {
    std::string id;
    bool archived = false;
    bool is_covered = false;      ///< What sweep() found out; so for the next.
    std::uint64_t encrypted = 0;  ///< If it is covered: its encrypted lines.
  };

  /// Looks which of `candidates` are as the segments have them. Their parts, in no order; a part
  /// that was made for the same sessions before is the same one.
  std::vector<std::shared_ptr<SegmentPart>> sweep(std::span<Candidate> candidates);

  /// The sessions of `part` that `is_wanted(session_id)` wants: `part` itself when these are all,
  /// and null when there are none.
  template <typename IsWanted>
  [[nodiscard]] std::shared_ptr<SegmentPart> only(const std::shared_ptr<SegmentPart>& part,
                                                  const IsWanted& is_wanted) const {
    std::vector<std::uint32_t> wanted;
    for (const std::uint32_t number : part->numbers()) {
      if (is_wanted(part->shared_segment()->sessions[number].id)) {
        wanted.push_back(number);
      }
    }
    if (wanted.size() == part->numbers().size()) {
      return part;
    }
    return wanted.empty()
               ? nullptr
               : std::make_shared<SegmentPart>(part->shared_segment(), wanted, files_of());
  }

  /// What a segment knows of a session, whatever its logs hold by now; nothing where none does.
  /// Of what is packed, an archive or what was evicted, nothing of another package.
  std::optional<SessionBase> base_of(const std::string& session_id, std::uint32_t evicted = 0,
                                     std::uint64_t package = 0);

  /// The segment that base_of() names; null where it names none.
  std::shared_ptr<Segment> segment_of(const std::string& session_id, std::uint32_t evicted = 0,
                                      std::uint64_t package = 0);

  /// From now on the segment of that path is not believed, in this process.
  void distrust(std::string_view path);
  /// The same where one of `indexes`, of which none is held, begins in it: they begin without it.
  bool leave(std::string_view path, std::span<SessionIndex* const> indexes);

  /// Takes `indexes`, which are of sessions that sweep() found not covered, into the segments when
  /// they hold enough that is new; merges segments where there are too many. Nothing happens while
  /// another process is at it. What fails here fails nothing.
  void flush(std::span<const std::shared_ptr<SessionIndex>> indexes, FlushWhen when);

  /// Whether `indexes`, none of them held, are worth FlushWhen::kMuch.
  [[nodiscard]] bool is_much(std::span<const std::shared_ptr<SessionIndex>> indexes) const;

  /// Takes what of `candidates` is not covered into the segments, some sessions at a time, where it
  /// is too much to be held in memory together, as after a clone. Whether it did.
  bool flush_in_turns(std::span<const Candidate> candidates);

  /// Encodes entries of segments that have no vector of `wish.of` yet, those of `encoder`. Nothing
  /// happens while another process is at it. What was done before an error, or the end of the time,
  /// is kept. Errors: those of the encoder; E_CONCURRENT_MOD when it has become another one;
  /// E_STORAGE_FULL, as the file system's; why a log can't be read, after all others.
  Result<Encoded> encode(TextEncoder& encoder, const EncodeWish& wish);
  /// Whether some entry of a segment has no vector of any encoder, or one beside which sensitive
  /// entries are not as the config wants them.
  bool wants_vectors();

  /// As long as it is held, new segments take over the vectors that lines have now, also where
  /// clear() or remove() comes between.
  [[nodiscard]] std::shared_ptr<const void> keep_vectors();

  /// When it returns, no byte of these sessions is in a segment. Waits for who is at it.
  /// Errors: as the file system's.
  Status remove(std::span<const std::string> session_ids);

  /// Makes all anew, when the next one asks.
  Status clear();

  /// Removes what a process that died left in the folder. Waits for who is at it.
  /// Errors: as the file system's; E_LOCK_TIMEOUT.
  Status tidy();

 private:
  using SharedState = std::shared_ptr<const IndexState>;

  SharedState state();
  [[nodiscard]] SharedState read_state() const;
  [[nodiscard]] std::shared_ptr<Segment> open_segment(const std::string& name,
                                                      std::uint64_t hash) const;
  [[nodiscard]] FileLock lock() const;
  Status write_state(const IndexState& state);
  /// What was found out of a session that its files alone did not tell.
  struct Finding {
    std::optional<CoveredSession> session;
    std::uint64_t hashed = 0;   ///< Bytes that it took.
    bool may_be_cached = true;  ///< No log can be changed under another name.
  };
  using Findings = std::map<std::string, Finding, std::less<>>;  // By covered_key().

  /// A candidate that CURRENT knows, and what it says of it.
  struct Look {
    Candidate* candidate = nullptr;
    const CoveredSession* covered = nullptr;
    Finding finding = {};
  };
  void compare(std::span<Look> looks) const;
  [[nodiscard]] bool is_as_covered(const std::string& id, const CoveredSession& covered,
                                   Finding& finding) const;
  [[nodiscard]] bool is_log_as_covered(const std::string& path, LogCover& log,
                                       Finding& finding) const;
  [[nodiscard]] std::optional<bool> is_empty_log(const std::string& id, EntryType type) const;
  std::shared_ptr<SegmentPart> part_of(const std::shared_ptr<Segment>& segment,
                                       std::vector<std::uint32_t> wanted);
  [[nodiscard]] FilesOf files_of() const;
  void remember(const SharedState& now, const Findings& findings);
  void remember_grown(const SharedState& now,
                      std::span<const std::shared_ptr<SessionIndex>> indexes);
  [[nodiscard]] bool is_distrusted(std::string_view name) const;
  [[nodiscard]] const CoveredSession* known_of(const IndexState& now, std::string_view key,
                                               std::uint64_t package) const;
  Status add_segments(IndexState& state, std::span<const std::shared_ptr<SessionIndex>> indexes);
  Status merge_segments(IndexState& state, const std::set<std::uint32_t>& which);
  Status merge_where_many(IndexState& state);
  Status remove_unused(const IndexState& state) const;
  [[nodiscard]] CoveredSession covered_by(const SessionIndex& index,
                                          const Result<FileInfo>& folder) const;
  Status add_segment(IndexState& state, std::span<const std::shared_ptr<SessionIndex>> indexes);
  Result<std::shared_ptr<Segment>> make_segment(IndexState& state,
                                                std::span<IndexedSession* const> sessions) const;
  [[nodiscard]] Result<std::optional<FileLock::Guard>> change(
      std::optional<std::chrono::milliseconds> timeout = {}) const;
  [[nodiscard]] std::chrono::milliseconds lock_timeout(TextEncoder::Deadline deadline) const;
  class Encoding;
  void carry_vectors(const IndexState& before, Segment& made) const;
  [[nodiscard]] bool may_keep(const VectorsOf& of) const;
  [[nodiscard]] std::vector<std::string> unwanted_vectors(const IndexState& state) const;
  Status remove_unwanted_vectors(TextEncoder::Deadline deadline);

  const Store& store_;
  mutable std::mutex mutex_;  // Guards what follows.
  SharedState state_;
  std::uint64_t state_look_ = 0;     // When it was compared with CURRENT; see Question.
  std::uint64_t last_question_ = 0;  // That asked for it.
  std::set<std::string, std::less<>> distrusted_;
  struct CachedVectors {
    SharedState state;
    std::vector<std::shared_ptr<SegmentVectors>> vectors;  // By segment, of files that may be gone.
  };
  std::weak_ptr<const CachedVectors> cached_vectors_;
  struct Part {
    std::shared_ptr<Segment> segment;
    std::vector<std::uint32_t> wanted;
    std::shared_ptr<SegmentPart> part;
  };
  std::vector<Part> parts_;
};

}  // namespace bmad_mem
