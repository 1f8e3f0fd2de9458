// posting_lines.hpp - the lines of an index of index.json, and the directory of their blocks.
//
//   old lines   | a | b | c | d | e | f |          new postings for  b, cc, f
//   merged      | a | b+| c | cc| d | e | f+|      a, and then c, and then d e copied as they are
//
// See checkpoint_format.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "checkpoint_format.hpp"
#include "index/checkpoint_reader.hpp"
#include "index/memtable.hpp"
#include "live_entries.hpp"

namespace bmad_mem {

/// Lines of an index, cut into blocks, and the directory of the blocks.
class PostingLines {
 public:
  void reserve(std::size_t size) { lines_.reserve(size); }

  /// A key, escaped, with its postings. Keys come in ascending order.
  void add(std::string_view key, std::span<const Posting> postings);

  /// The same, behind what `old_list` holds, `last` of them the last.
  void add_grown(std::string_view key, std::string_view old_list, Ordinal last,
                 std::span<const Posting> postings);

  /// `count` whole lines of another index, each with its comma.
  void copy(std::string_view lines, std::uint64_t count);

  /// No more keys.
  void finish();

  [[nodiscard]] const std::string& lines() const { return lines_; }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }

 private:
  void begin_line(std::string_view key);
  void end_block();
  [[nodiscard]] bool is_block_full() const { return lines_.size() - block_begin_ >= kBlockSize; }

  std::string lines_;
  std::string directory_;
  std::size_t block_begin_ = 0;
  std::uint64_t keys_ = 0;
};

/// The keys of one kind: those of `memtable`, and those of `old` when it isn't null. `live`, when
/// it isn't null, says which postings count, and how they are numbered. Errors: E_STORAGE_CORRUPT
/// when the old checkpoint does not hold.
Result<PostingLines> make_posting_lines(const Memtable& memtable, PostingKind kind,
                                        const CheckpointReader* old, LiveEntries* live);

}  // namespace bmad_mem
