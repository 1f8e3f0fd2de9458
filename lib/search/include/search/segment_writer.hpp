// segment_writer.hpp - a segment of the index, made of other indexes.
//
//   sources    s1: 3 slots | s2: 2 slots      s9: 4 slots          a source has one session or many
//   segment    0 1 2       | 3 4              | 5 6 7 8
//
// Columns are copied session by session and keys merged, so what is held in memory does not grow
// with the segment but for its dictionary. No text is analyzed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"
#include "search/entry_columns.hpp"
#include "search/indexed_session.hpp"

namespace bmad_mem {

/// What a segment knows of a session, but for its entries.
struct SegmentSessionInfo {
  std::string id;
  bool archived = false;
  std::uint32_t evicted = 0;  ///< Which part of what compaction moved out of it; 0: none.
  std::uint32_t entries = 0;  ///< Live ones.
  SessionFacts facts = {};
};

/// Goes through the keys of a kind.
class KeyCursor {
 public:
  KeyCursor() = default;
  KeyCursor(const KeyCursor&) = delete;
  KeyCursor& operator=(const KeyCursor&) = delete;
  virtual ~KeyCursor() = default;
  /// Goes on to the next key, ascending by bytes; false behind the last. The first is behind the
  /// first call.
  virtual Result<bool> next() = 0;
  /// Valid until the next next(); so is what the postings show.
  [[nodiscard]] virtual std::string_view key() const = 0;
  [[nodiscard]] virtual std::span<const SessionPostings> postings() const = 0;
};

/// Threads: one.
class SegmentSource {
 public:
  SegmentSource() = default;
  SegmentSource(const SegmentSource&) = delete;
  SegmentSource& operator=(const SegmentSource&) = delete;
  virtual ~SegmentSource() = default;

  [[nodiscard]] virtual std::vector<SegmentSessionInfo> sessions() const = 0;
  /// Of session `number`, in the order of slots. Errors here and below: E_STORAGE_CORRUPT, with
  /// the session or the segment that does not hold in Error::field.
  virtual Result<SlotView> slots(std::uint32_t number) = 0;
  virtual Result<std::vector<std::int64_t>> times(std::uint32_t number) = 0;
  virtual Result<std::vector<IndexRow>> rows(std::uint32_t number) = 0;
  /// Ascending by slot.
  virtual Result<std::vector<std::pair<std::uint32_t, OddEntry>>> odd(std::uint32_t number) = 0;
  /// Preferences, then facts, each as in their log.
  virtual Result<std::vector<StatementRow>> statements(std::uint32_t number) = 0;
  virtual Result<std::unique_ptr<KeyCursor>> keys(PostingKind kind) = 0;
};

/// Writes the segment `path` of all sessions of `sources`, in their order. Nobody reads it before
/// CURRENT names it; it is not synced, its readers notice what is torn.
/// Errors: those of the sources; E_SIZE_LIMIT for more than 2^31 entries; as the file system's.
Status write_segment(FileSystem& files, const std::string& path,
                     std::span<const std::unique_ptr<SegmentSource>> sources,
                     std::string_view language);

}  // namespace bmad_mem
