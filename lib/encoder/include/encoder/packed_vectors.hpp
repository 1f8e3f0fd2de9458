// packed_vectors.hpp - vectors of four bits a number, and how near they are to another one.
//
//   numbers   0 .. 31 | 32 .. 63      64 numbers in 32 bytes: the low halves of the bytes hold the
//   bytes     low       high          first 32, the high ones the others
//   value     1 .. 15                 -7 .. 7 steps of 3 / (7 sqrt(dimension)); 0: no number
//
// Numbers of a unit vector that are spread evenly have 1 / sqrt(dimension) as their deviation, so
// three deviations are kept and what is beyond is cut off. A row of zeros is one that is not there;
// one that was made of zeros is of a text with nothing in it, and near to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bmad_mem {

/// Bytes of a packed vector.
constexpr std::size_t packed_size(std::uint32_t dimension) {
  return (std::size_t{dimension} + 63) / 64 * 32;
}

/// Packs `vector`, a unit vector or zeros, into the packed_size() bytes at `row`.
void pack_vector(std::span<const float> vector, std::uint8_t* row);

/// Whether there is a vector in a row.
inline bool is_packed(const std::uint8_t* row) { return *row != 0; }

/// How near a row is that is not there, and one that has nothing in it.
inline constexpr std::int16_t kNoVector = -32768;
inline constexpr std::int16_t kNothing = -32767;
/// Whether it is a cosine, neither of these.
inline bool is_cosine(std::int16_t cosine) { return cosine > kNothing; }
/// What cosines are multiplied by.
inline constexpr double kCosineScale = 16384;

/// A vector that rows are compared with. Threads: safe.
class PackedQuery {
 public:
  /// `is_plain`: compared with the instructions that every processor has.
  explicit PackedQuery(std::span<const float> vector, bool is_plain = false);

  /// The cosines, by kCosineScale, of `count` rows that lie side by side, or kNoVector, or
  /// kNothing.
  void compare(const std::uint8_t* rows, std::size_t count, std::int16_t* cosines) const;

 private:
  std::int32_t (*dot_)(const std::uint8_t* row, std::span<const std::int8_t> numbers);
  std::vector<std::int8_t> numbers_;  // In the order of the rows' halves; whole groups of 64.
  std::int32_t offset_ = 0;           // What the 8 in each value adds.
  float scale_ = 0;
};

}  // namespace bmad_mem
