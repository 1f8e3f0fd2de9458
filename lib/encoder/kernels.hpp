// kernels.hpp - the arithmetic of the network, once for each kind of processor.
//
// Products of bytes are summed as integers of 32 bits, which is exact. Floats are added in 16 lanes
// and then lane to lane in one order, and never fused, so that all kernels give the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "weights.hpp"

namespace bmad_mem::encoder {

/// Rows of bytes: value = scales[row] * (bytes[row][at] - kByteZero).
struct Activations {
  std::uint32_t width = 0;
  std::uint32_t rows = 0;
  std::vector<std::uint8_t> bytes = {};
  std::vector<float> scales = {};

  void reshape(std::uint32_t new_rows, std::uint32_t new_width) {
    rows = new_rows;
    width = new_width;
    bytes.resize(std::size_t{rows} * width);
    scales.resize(rows);
  }
};

/// What becomes of a product.
enum class Finish : std::uint8_t {
  kStore,
  kStorePositive,  ///< ReLU.
  kAdd,            ///< To what the output holds.
};

/// Widths are multiples of 16. An `out` of Activations has its shape already: see reshape().
struct Kernels {
  std::string_view name;
  /// `in`: rows of matrix.shape.inputs bytes. `out`: [in.rows][matrix.shape.outputs].
  void (*multiply)(const Activations& in, const Matrix& matrix, Finish finish, float* out);
  /// out.width numbers to the bytes and the scale of a row.
  void (*quantize)(const float* in, std::uint32_t row, Activations& out);
  /// The same after layer norm; out.width is at most kWidth.
  void (*normalize)(const float* in, const Norm& norm, std::uint32_t row, Activations& out);
  /// `qkv`: queries, keys and values of one text, side by side: [tokens][3 * width]. `tokens`: 1 to
  /// kPiecesMax; `width`: kPieceWidth or kWidth. `out`: [tokens][width].
  void (*attend)(const float* qkv, std::uint32_t tokens, std::uint32_t width, float* out);
  /// out = 2 * the embedding + `timing`, kPieceWidth numbers.
  void (*embed)(const std::int8_t* embedding, float scale, const float* timing, float* out);
  /// The mean of `rows` rows of kWidth numbers, at least one.
  void (*average)(const float* in, std::uint32_t rows, float* out);
  /// Of `size` numbers: the hyperbolic tangent of each.
  void (*squash)(float* values, std::uint32_t size);
  /// To length 1; zeros stay as they are.
  void (*shorten)(float* values, std::uint32_t size);
};

/// Those that this processor runs, fastest first; the last one runs anywhere. Never empty.
const std::vector<const Kernels*>& kernels_here();

}  // namespace bmad_mem::encoder
