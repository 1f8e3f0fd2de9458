// conversion.hpp - the package's floats as the bytes of encoder.bmw.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "maker/package.hpp"
#include "weights.hpp"

namespace bmad_mem::encoder {

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

/// The file encoder.bmw. `projection`: kProjectionSize bytes, see projection.hpp; empty for a file
/// that a projection is to be made with. Errors: E_INVALID_FORMAT for a package that has another
/// network.
Result<std::string> converted(const Package& package, std::string_view projection);

}  // namespace bmad_mem::encoder
