// conversion.hpp - the package's floats as the bytes of encoder.bmw.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "maker/package.hpp"

namespace bmad_mem::encoder {

/// A matrix of the projection as a file has it: weights [128][512] as bytes, then the scales of
/// the outputs as floats, little-endian.
inline constexpr std::size_t kProjectionSize = std::size_t{128} * (512 + sizeof(float));

/// The file encoder.bmw. `projection`: kProjectionSize bytes, see projection.hpp; empty for a file
/// that a projection is to be made with. Errors: E_INVALID_FORMAT for a package that has another
/// network.
Result<std::string> converted(const Package& package, std::string_view projection);

}  // namespace bmad_mem::encoder
