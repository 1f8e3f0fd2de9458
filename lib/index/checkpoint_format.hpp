// checkpoint_format.hpp - index.json: what of it lies where.
//
//   {"version": 2, "head_size":    1733, "head_xxh3": "…16…", "file_size":     391022,     line 1
//   "session_id": "sess-…", "created_at": "…", "analyzer": 1, "language": "english",
//   "counts": {"entries": 17000, "tombstones": 0},
//   "facts": {"participants": ["Ann", …], "has_user": true, "has_assistant": true, "newest": …},
//   "covers": {"conversation": {"bytes": …, "lines": …, "size": …, "device": …, "inode": …,
//                               "mtime_ns": …, "xxh3": "…16…"}, …},
//   "sections": {"term_blocks": [0, 8123, "…16…"], …, "temporal_index": [391000, 17, ""]},
//   "term_blocks": {                                                        <- head ends before
//   "acid": "AAAAAw8rKd0pQ",                                        block: offset (5), hash (8)
//   …
//   "entries": {
//   "lengths": "AAMAAH…",                                           columns, see entry_columns.hpp
//   …
//   "inverted_index": {
//   "acid": [3,5,-2,4],                                             see posting_codec.hpp
//   …
//   },
//   "topic_index": {…}, "temporal_index": {…}
//   }
//
// One JSON value. A reader takes the head, the three directories behind it and, for each term, one
// block of an index: the directory names the first key of each block, blocks end with a line.
// Offsets count from the end of the head. Everything a reader uses is checked by a hash: the head
// and each section by the one in front of it, each block by the one in its directory, each row by
// its own digits. So a changed byte is found where it matters, without reading the whole file.
//
// Sections in the order of the file. A change here is a new kCheckpointVersion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "index/memtable.hpp"

namespace bmad_mem {

inline constexpr int kCheckpointVersion = 2;  // 1 is the specification's, with ids in the lists.

enum class Section : std::uint8_t {
  kTermBlocks,
  kTopicBlocks,
  kHourBlocks,
  kLengths,
  kFlags,
  kWindows,
  kSlots,
  kTimestamps,
  kPrevious,
  kIdHashes,
  kOdd,
  kConversations,
  kRows,
  kTerms,
  kTopics,
  kHours,
};
inline constexpr std::size_t kSectionCount = 16;

/// The keys of the sections, in the order of the enum.
inline constexpr std::array<std::string_view, kSectionCount> kSectionNames = {
    "term_blocks", "topic_blocks",   "hour_blocks", "lengths",       "flags", "window_lengths",
    "slots",       "timestamps",     "previous",    "id_hashes",     "odd",   "conversations",
    "rows",        "inverted_index", "topic_index", "temporal_index"};

inline Section blocks_section(PostingKind kind) {
  return static_cast<Section>(static_cast<int>(Section::kTermBlocks) + static_cast<int>(kind));
}
inline Section postings_section(PostingKind kind) {
  return static_cast<Section>(static_cast<int>(Section::kTerms) + static_cast<int>(kind));
}

/// Bytes of the first line, without its '\n': all numbers in it are padded.
inline constexpr std::size_t kFirstLineSize = 99;
/// A block ends with the line that makes it at least so long. Smaller blocks make the directories
/// longer, which every query reads; larger ones cost more for each term.
inline constexpr std::size_t kBlockSize = 4096;
/// What a reader takes in its first read: head and directories of most checkpoints.
inline constexpr std::size_t kFirstReadSize = 32U << 10U;

inline constexpr std::size_t kBlockOffsetDigits = 6;
inline constexpr std::size_t kBlockHashDigits = 8;

/// Whether `key` stands above `other` in an index: keys are sorted as they are written, and escapes
/// ("\"" in a tag) sort elsewhere than what they mean.
bool precedes_in_file(std::string_view key, std::string_view other);

}  // namespace bmad_mem
