// segment_vectors.hpp - the vectors of a segment's entries, in a file beside it.
//
//   index/7.seg     words to entries                      never changed
//   index/7.vec     header | block | block | ...          blocks are filled in one by one
//
//   header   magic, version, dimension, the encoder, the segment, its entries, whether sensitive
//            ones are encoded; the XXH3 of these; then the XXH3 of all that once nothing waits
//   block    128 rows of packed_vectors.hpp, by slot; then their XXH3 ^ (the segment's salt + the
//            number of the block)
//
// The file has its full size from the beginning, with holes: a row of zeros waits for its vector. A
// block that is torn, or was never written, is one without vectors: who encodes writes it again.
// Each write gives the file a time that it never had, so that readers see that they are behind.
// All numbers are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

class TextEncoder;
struct Segment;

inline constexpr std::uint32_t kVectorBlock = 128;

/// Whose vectors a file holds.
struct VectorsOf {
  std::uint64_t encoder = 0;  ///< TextEncoder::id().
  std::uint32_t dimension = 0;
  bool sensitive = false;  ///< Those of sensitive entries, too; else nothing is in their place.

  bool operator==(const VectorsOf&) const = default;
};

/// Those of `encoder`.
VectorsOf vectors_of(const TextEncoder& encoder, bool sensitive);

/// "index/7.vec" of "index/7.seg".
std::string vectors_path(std::string_view segment_path);

/// Threads: safe.
class SegmentVectors {
 public:
  /// Those beside `segment`; null where there are none, or those of another segment. With kUpdate
  /// they can be written. Errors: as the file system's.
  static Result<std::shared_ptr<SegmentVectors>> open(const Segment& segment,
                                                      OpenMode mode = OpenMode::kRead);
  /// An empty file, in place of one that is there. Errors: as the file system's.
  static Result<std::shared_ptr<SegmentVectors>> create(const Segment& segment, VectorsOf of);

  [[nodiscard]] const VectorsOf& of() const { return of_; }
  [[nodiscard]] std::size_t row_size() const { return row_size_; }
  /// Whether `info` is of the file as it was opened: then the rows that were read hold.
  [[nodiscard]] bool is_as(const FileInfo& info) const { return info.is_unchanged(info_); }

  /// The rows of the slots from `begin` to before `end`, side by side; valid as long as this. What
  /// can't be read is not there.
  const std::uint8_t* rows(std::uint32_t begin, std::uint32_t end);
  /// Reads all rows at once if `count` of them, which are about to be asked for, are most of them.
  void expect(std::uint64_t count);

  /// Writes block `block`, whose rows are `rows`, padded with zeros. The caller holds the lock of
  /// the index, and shares this object with nobody. Errors: as the file system's.
  Status write_block(std::uint32_t block, std::span<const std::uint8_t> rows);
  /// Notes that no entry waits for its vector, so that nobody has to read all rows to know. The
  /// caller is the same.
  Status mark_whole(const Segment& segment);
  [[nodiscard]] bool is_whole() const { return is_whole_; }

 private:
  SegmentVectors(std::unique_ptr<File> file, const Segment& segment, VectorsOf of);
  [[nodiscard]] std::uint64_t block_place(std::uint32_t block) const;
  [[nodiscard]] std::uint64_t file_size() const;
  void read_blocks(std::uint32_t first, std::uint32_t last);
  Status renew_time();

  std::unique_ptr<File> file_;
  VectorsOf of_;
  std::size_t row_size_;
  std::uint32_t entries_;
  std::uint64_t salt_;
  bool is_whole_ = false;
  FileInfo info_;
  std::mutex mutex_;  // Guards what follows.
  std::unique_ptr<std::uint8_t[]> rows_;
  std::vector<bool> has_block_;
};

}  // namespace bmad_mem
