// kernel_body.hpp - the kernels, written once with the compiler's vectors: each file that includes
// it compiles them for its processors.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kernel_floats.hpp"
#include "kernels.hpp"

namespace bmad_mem::encoder {

template <std::uint32_t kSize>
BMAD_INLINE void quantize_row(const float* in, std::uint32_t row, Activations& out) {
  constexpr float kByteMax = 127.0F;
  const std::uint32_t width = out.width;
  assert(row < out.rows && width % kLanes == 0);
  Floats<kSize> greatest = spread<kSize>(0);
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    const Floats<kSize> value = load<kSize>(in + at);
    greatest = larger(larger(value, greatest), spread<kSize>(0) - value);
  }
  const float top = greatest_of(greatest);
  const float scale = top > 0 ? kByteMax / top : 0;
  out.scales[row] = top / kByteMax;
  std::uint8_t* bytes = out.bytes.data() + std::size_t{row} * width;
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    const Floats<kSize> value = load<kSize>(in + at) * scale + kRounder;
    BMAD_UNROLLED
    for (std::uint32_t part = 0; part < Floats<kSize>::kParts; ++part) {
      typename Floats<kSize>::Integers bits;
      std::memcpy(&bits, &value.parts[part], sizeof bits);
      // The low byte of the rounder is 0, so this is the integer modulo 256, above kByteZero.
      const auto made = __builtin_convertvector(bits + kByteZero, typename Floats<kSize>::Bytes);
      std::memcpy(bytes + at + std::size_t{part} * kSize, &made, sizeof made);
    }
  }
}

template <std::uint32_t kSize>
BMAD_INLINE void normalize_row(const float* in, const Norm& norm, std::uint32_t row,
                               Activations& out) {
  constexpr float kEpsilon = 1e-6F;
  const std::uint32_t width = out.width;
  assert(width <= kWidth && norm.scales.size() == width && norm.biases.size() == width);
  Floats<kSize> sum = spread<kSize>(0);
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    sum = sum + load<kSize>(in + at);
  }
  const float mean = sum_of(sum) / static_cast<float>(width);
  Floats<kSize> squares = spread<kSize>(0);
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    const Floats<kSize> value = load<kSize>(in + at) - mean;
    squares = squares + value * value;
  }
  const float scale = 1.0F / std::sqrt(sum_of(squares) / static_cast<float>(width) + kEpsilon);
  alignas(64) float normal[kWidth];
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    const Floats<kSize> value = (load<kSize>(in + at) - mean) * scale;
    store(value * load<kSize>(norm.scales.data() + at) + load<kSize>(norm.biases.data() + at),
          normal + at);
  }
  quantize_row<kSize>(normal, row, out);
}

/// `sums`: of one row and block, of bytes or of what they stand for.
template <typename Isa>
BMAD_INLINE void finish_block(const std::int32_t* sums, const Matrix& matrix, std::uint32_t first,
                              float scale, Finish finish, float* out) {
  constexpr std::uint32_t kSize = Isa::kRegisterFloats;
  using Integers = typename Floats<kSize>::Integers;
  for (std::uint32_t at = first; at < first + kBlock; at += kLanes) {
    const Floats<kSize> product = each_part<kSize>([&](std::uint32_t part) BMAD_INLINED {
      Integers whole;
      std::memcpy(&whole, sums + (at - first) + std::size_t{part} * kSize, sizeof whole);
      if constexpr (!Isa::kSubtractsZero) {
        Integers zeros;
        std::memcpy(&zeros, matrix.zeros.data() + at + std::size_t{part} * kSize, sizeof zeros);
        whole -= zeros;
      }
      return __builtin_convertvector(whole, typename Floats<kSize>::Part);
    });
    Floats<kSize> value = load<kSize>(matrix.biases.data() + at) +
                          product * (load<kSize>(matrix.scales.data() + at) * scale);
    if (finish == Finish::kStorePositive) {
      value = larger(value, spread<kSize>(0));
    } else if (finish == Finish::kAdd) {
      value = value + load<kSize>(out + at);
    }
    store(value, out + at);
  }
}

/// Inputs of some rows, and their weights for a block of outputs.
struct Slice {
  const std::uint8_t* bytes = nullptr;   ///< Of the first row.
  const std::int8_t* weights = nullptr;  ///< Of the first 16 outputs.
  std::uint32_t inputs = 0;              ///< At most kSliceInputs.
  std::uint32_t width = 0;               ///< Of the rows and of the matrix.
};

// What a file of kernels gives as its struct Isa:
//   kRows             how many rows it adds at once, as many as its registers hold the sums of
//   kRegisterFloats   how many floats a register holds
//   kSubtractsZero    whether it sums the bytes less kByteZero; else finish_block() takes `zeros`
//   add_rows<kCount>  adds the products of kCount rows, 1 to kRows, to their sums, kBlock a row

// The add_rows() of an Isa, with its TARGET. The sums of kParts registers a row stay there while
// the inputs go by: for each row the four bytes of a quad, repeated, against outputs of four
// weights each. What it takes of the Isa:
//   Sums, Weights                       what a register holds of them
//   repeated_quad(bytes)                the four bytes, as often as Weights hold them
//   with_products(sums, quad, weights)  the sums, and the products of a quad
#define BMAD_ADD_ROWS(TARGET)                                                                    \
  using LooseSums [[gnu::aligned(1), gnu::may_alias]] = Sums;                                    \
  using LooseWeights [[gnu::aligned(1), gnu::may_alias]] = Weights;                              \
  template <std::uint32_t kCount>                                                                \
  TARGET static void add_rows(const Slice& slice, std::int32_t* sums) {                          \
    for (std::uint32_t first = 0; first < kBlock; first += kParts * kRegisterFloats) {           \
      Sums all[kCount][kParts];                                                                  \
      const std::int8_t* from[kParts];                                                           \
      BMAD_UNROLLED                                                                              \
      for (std::uint32_t part = 0; part < kParts; ++part) {                                      \
        const std::uint32_t output = first + part * kRegisterFloats;                             \
        from[part] = slice.weights + std::size_t{output / kLanes * kLanes} * slice.width +       \
                     std::size_t{output % kLanes} * kQuad;                                       \
        BMAD_UNROLLED                                                                            \
        for (std::uint32_t row = 0; row < kCount; ++row) {                                       \
          all[row][part] =                                                                       \
              *reinterpret_cast<const LooseSums*>(sums + std::size_t{row} * kBlock + output);    \
        }                                                                                        \
      }                                                                                          \
      for (std::uint32_t at = 0; at < slice.inputs; at += kQuad) {                               \
        Weights weights[kParts];                                                                 \
        BMAD_UNROLLED                                                                            \
        for (std::uint32_t part = 0; part < kParts; ++part) {                                    \
          weights[part] =                                                                        \
              *reinterpret_cast<const LooseWeights*>(from[part] + std::size_t{at} * kLanes);     \
        }                                                                                        \
        BMAD_UNROLLED                                                                            \
        for (std::uint32_t row = 0; row < kCount; ++row) {                                       \
          const Weights quad = repeated_quad(slice.bytes + std::size_t{row} * slice.width + at); \
          BMAD_UNROLLED                                                                          \
          for (std::uint32_t part = 0; part < kParts; ++part) {                                  \
            all[row][part] = with_products(all[row][part], quad, weights[part]);                 \
          }                                                                                      \
        }                                                                                        \
      }                                                                                          \
      BMAD_UNROLLED                                                                              \
      for (std::uint32_t part = 0; part < kParts; ++part) {                                      \
        std::int32_t* to = sums + first + std::size_t{part} * kRegisterFloats;                   \
        BMAD_UNROLLED                                                                            \
        for (std::uint32_t row = 0; row < kCount; ++row) {                                       \
          *reinterpret_cast<LooseSums*>(to + std::size_t{row} * kBlock) = all[row][part];        \
        }                                                                                        \
      }                                                                                          \
    }                                                                                            \
  }

template <typename Isa>
BMAD_INLINE void add_some_rows(const Slice& slice, std::uint32_t count, std::int32_t* sums) {
  assert(count > 0 && count <= Isa::kRows);
  static constexpr auto kByRows = []<std::size_t... kLess>(std::index_sequence<kLess...>) {
    return std::array{Isa::template add_rows<kLess + 1>...};
  }(std::make_index_sequence<Isa::kRows>());
  kByRows[count - 1](slice, sums);
}

/// So that the weights of a slice, 16 KB, stay in the first cache while all rows pass.
inline constexpr std::uint32_t kSliceInputs = 512;
/// Rows whose sums are kept meanwhile.
inline constexpr std::uint32_t kRowsAtOnce = 96;

/// Of a block of outputs, for at most kRowsAtOnce rows from `first`.
template <typename Isa>
BMAD_INLINE void sum_block(const Activations& in, const Matrix& matrix, std::uint32_t block,
                           std::uint32_t first, std::uint32_t rows, std::int32_t* sums) {
  const std::uint32_t width = in.width;
  assert(rows > 0 && rows <= kRowsAtOnce && first + rows <= in.rows);
  // Even shares: a row alone would read all weights for itself.
  const std::uint32_t shares = (rows + Isa::kRows - 1) / Isa::kRows;
  std::fill_n(sums, std::size_t{rows} * kBlock, 0);
  for (std::uint32_t from = 0; from < width; from += kSliceInputs) {
    for (std::uint32_t share = 0; share < shares; ++share) {
      const std::uint32_t begin = rows * share / shares;
      const std::uint32_t end = rows * (share + 1) / shares;
      const Slice slice = {.bytes = in.bytes.data() + std::size_t{first + begin} * width + from,
                           .weights = matrix.weights.data() + std::size_t{block} * width +
                                      std::size_t{from} * kLanes,
                           .inputs = std::min(kSliceInputs, width - from),
                           .width = width};
      add_some_rows<Isa>(slice, end - begin, sums + std::size_t{begin} * kBlock);
    }
  }
}

template <typename Isa>
BMAD_INLINE void multiply_all(const Activations& in, const Matrix& matrix, Finish finish,
                              float* out) {
  const std::uint32_t outputs = matrix.shape.outputs;
  assert(in.width == matrix.shape.inputs && outputs % kBlock == 0);
  alignas(64) std::int32_t sums[std::size_t{kRowsAtOnce} * kBlock];
  for (std::uint32_t first = 0; first < in.rows; first += kRowsAtOnce) {
    const std::uint32_t rows = std::min(kRowsAtOnce, in.rows - first);
    for (std::uint32_t block = 0; block < outputs; block += kBlock) {
      sum_block<Isa>(in, matrix, block, first, rows, sums);
      for (std::uint32_t row = 0; row < rows; ++row) {
        finish_block<Isa>(sums + std::size_t{row} * kBlock, matrix, block, in.scales[first + row],
                          finish, out + std::size_t{first + row} * outputs);
      }
    }
  }
}

/// `scores`: of `blocks` * kLanes keys, of which `tokens` are there; become their shares.
template <std::uint32_t kSize>
BMAD_INLINE void soft_maximum(float* scores, std::uint32_t blocks, std::uint32_t tokens) {
  constexpr float kNothing = -1e9F;
  const std::uint32_t keys = blocks * kLanes;
  assert(tokens > 0 && tokens <= keys && keys <= kPiecesMax);
  std::fill(scores + tokens, scores + keys, kNothing);
  Floats<kSize> greatest = spread<kSize>(kNothing);
  for (std::uint32_t at = 0; at < keys; at += kLanes) {
    greatest = larger(load<kSize>(scores + at), greatest);
  }
  const float top = greatest_of(greatest);
  // What stands behind the keys is e to the lowest power: lost in all sums.
  Floats<kSize> sum = spread<kSize>(0);
  for (std::uint32_t at = 0; at < keys; at += kLanes) {
    const Floats<kSize> power = exponential(load<kSize>(scores + at) - top);
    sum = sum + power;
    store(power, scores + at);
  }
  const float scale = 1.0F / sum_of(sum);
  for (std::uint32_t at = 0; at < keys; at += kLanes) {
    store(load<kSize>(scores + at) * scale, scores + at);
  }
}

/// Two sums at once, since one alone would wait for each addition: of `count` rows, each times its
/// factor in the sum.
struct TwoSums {
  const float* factors[2];
  float* out[2];
  const float* rows;
  std::size_t stride;
  std::uint32_t count;
};

/// `kCount` * kLanes numbers of each sum, from `at`.
template <std::uint32_t kSize, std::uint32_t kCount>
BMAD_INLINE void sum_rows(const TwoSums& of, std::size_t at) {
  Floats<kSize> first[kCount];
  Floats<kSize> second[kCount];
  BMAD_UNROLLED
  for (std::uint32_t part = 0; part < kCount; ++part) {
    first[part] = spread<kSize>(0);
    second[part] = spread<kSize>(0);
  }
  const float* rows = of.rows + at;
  for (std::uint32_t row = 0; row < of.count; ++row, rows += of.stride) {
    const Floats<kSize> one = spread<kSize>(of.factors[0][row]);
    const Floats<kSize> two = spread<kSize>(of.factors[1][row]);
    BMAD_UNROLLED
    for (std::uint32_t part = 0; part < kCount; ++part) {
      const Floats<kSize> value = load<kSize>(rows + std::size_t{part} * kLanes);
      first[part] = first[part] + value * one;
      second[part] = second[part] + value * two;
    }
  }
  BMAD_UNROLLED
  for (std::uint32_t part = 0; part < kCount; ++part) {
    store(first[part], of.out[0] + at + std::size_t{part} * kLanes);
    store(second[part], of.out[1] + at + std::size_t{part} * kLanes);
  }
}

/// The same for 1 to `kCount` of them.
template <std::uint32_t kSize, std::uint32_t kCount>
BMAD_INLINE void sum_some_rows(const TwoSums& of, std::uint32_t parts, std::size_t at) {
  if constexpr (kCount > 0) {
    if (parts == kCount) {
      sum_rows<kSize, kCount>(of, at);
    } else {
      sum_some_rows<kSize, kCount - 1>(of, parts, at);
    }
  }
}

/// The same for any number, as many at once as half of the registers hold the sums of: 8 of 16, and
/// 16 of the 32 widest.
template <std::uint32_t kSize>
BMAD_INLINE void sum_wide_rows(const TwoSums& of, std::uint32_t parts) {
  constexpr std::uint32_t kAtOnce = kSize == kLanes ? 8 : kSize / 4;
  for (std::uint32_t part = 0; part < parts; part += kAtOnce) {
    sum_some_rows<kSize, kAtOnce>(of, std::min(kAtOnce, parts - part), std::size_t{part} * kLanes);
  }
}

/// One head, of `size` numbers for each query, key and value.
template <std::uint32_t kSize>
BMAD_INLINE void attend_head(const float* qkv, std::uint32_t tokens, std::uint32_t width,
                             float* out) {
  const std::uint32_t size = width / kHeads;
  const std::uint32_t blocks = (tokens + kLanes - 1) / kLanes;
  const std::uint32_t keys_size = blocks * kLanes;
  assert(tokens > 0 && tokens <= kPiecesMax && width <= kWidth && size % kLanes == 0);
  const std::size_t stride = std::size_t{3} * width;
  const float scale = 1.0F / std::sqrt(static_cast<float>(size));
  alignas(64) float keys[std::size_t{kWidth} / kHeads * kPiecesMax];  // One column a token.
  for (std::uint32_t block = 0; block < keys_size;
       block += kLanes) {  // Few rows at a time: cached.
    for (std::uint32_t at = 0; at < size; ++at) {
      float* column = keys + std::size_t{at} * keys_size;
      for (std::uint32_t token = block; token < block + kLanes; ++token) {
        column[token] = token < tokens ? qkv[token * stride + width + at] : 0;
      }
    }
  }
  for (std::uint32_t token = 0; token < tokens; token += 2) {
    const std::uint32_t pair[2] = {token, std::min(token + 1, tokens - 1)};
    alignas(64) float queries[2][kWidth / kHeads];
    alignas(64) float shares[2][kPiecesMax];
    for (std::uint32_t one = 0; one < 2; ++one) {
      for (std::uint32_t at = 0; at < size; at += kLanes) {
        store(load<kSize>(qkv + pair[one] * stride + at) * scale, queries[one] + at);
      }
    }
    sum_wide_rows<kSize>({.factors = {queries[0], queries[1]},
                          .out = {shares[0], shares[1]},
                          .rows = keys,
                          .stride = keys_size,
                          .count = size},
                         blocks);
    soft_maximum<kSize>(shares[0], blocks, tokens);
    soft_maximum<kSize>(shares[1], blocks, tokens);
    sum_wide_rows<kSize>(
        {.factors = {shares[0], shares[1]},
         .out = {out + std::size_t{pair[0]} * width, out + std::size_t{pair[1]} * width},
         .rows = qkv + std::size_t{2} * width,
         .stride = stride,
         .count = tokens},
        size / kLanes);
  }
}

template <std::uint32_t kSize>
BMAD_INLINE void attend_all(const float* qkv, std::uint32_t tokens, std::uint32_t width,
                            float* out) {
  for (std::uint32_t head = 0; head < kHeads; ++head) {
    const std::size_t at = std::size_t{head} * width / kHeads;
    attend_head<kSize>(qkv + at, tokens, width, out + at);
  }
}

template <std::uint32_t kSize>
BMAD_INLINE void embed_piece(const std::int8_t* embedding, float scale, const float* timing,
                             float* out) {
  for (std::uint32_t at = 0; at < kPieceWidth; at += kLanes) {
    const Floats<kSize> value = each_part<kSize>([&](std::uint32_t part) BMAD_INLINED {
      typename Floats<kSize>::SignedBytes bytes;
      std::memcpy(&bytes, embedding + at + std::size_t{part} * kSize, sizeof bytes);
      return __builtin_convertvector(bytes, typename Floats<kSize>::Part);
    });
    store(value * (2 * scale) + load<kSize>(timing + at), out + at);
  }
}

template <std::uint32_t kSize>
BMAD_INLINE void average_rows(const float* in, std::uint32_t rows, float* out) {
  assert(rows > 0);
  for (std::uint32_t at = 0; at < kWidth; at += kLanes) {
    Floats<kSize> sum = spread<kSize>(0);
    for (std::uint32_t row = 0; row < rows; ++row) {
      sum = sum + load<kSize>(in + std::size_t{row} * kWidth + at);
    }
    store(sum / static_cast<float>(rows), out + at);
  }
}

/// (1 - e) / (1 + e) with e = exp(-2 |x|), and the sign of x.
template <std::uint32_t kSize>
BMAD_INLINE void squash_all(float* values, std::uint32_t size) {
  assert(size % kLanes == 0);
  for (std::uint32_t at = 0; at < size; at += kLanes) {
    const Floats<kSize> value = load<kSize>(values + at);
    const Floats<kSize> zero = spread<kSize>(0);
    const Floats<kSize> absolute = larger(value, zero - value);
    const Floats<kSize> power = exponential(zero - (absolute + absolute));
    const Floats<kSize> squashed = (spread<kSize>(1) - power) / (spread<kSize>(1) + power);
    const auto signed_part = [&](std::uint32_t part) BMAD_INLINED {
      return value.parts[part] < zero.parts[part] ? -squashed.parts[part] : squashed.parts[part];
    };
    store(each_part<kSize>(signed_part), values + at);
  }
}

template <std::uint32_t kSize>
BMAD_INLINE void shorten_all(float* values, std::uint32_t size) {
  assert(size % kLanes == 0);
  Floats<kSize> squares = spread<kSize>(0);
  for (std::uint32_t at = 0; at < size; at += kLanes) {
    const Floats<kSize> value = load<kSize>(values + at);
    squares = squares + value * value;
  }
  const float square = sum_of(squares);
  const float scale = square > 0 ? 1.0F / std::sqrt(square) : 0;
  for (std::uint32_t at = 0; at < size; at += kLanes) {
    store(load<kSize>(values + at) * scale, values + at);
  }
}

// The functions of a struct Kernels in the namespace of an Isa, each with its TARGET: what it calls
// is compiled into it.
#define BMAD_KERNELS(NAME, TARGET)                                                                \
  TARGET void multiply(const Activations& in, const Matrix& matrix, Finish finish, float* out) {  \
    multiply_all<Isa>(in, matrix, finish, out);                                                   \
  }                                                                                               \
  TARGET void quantize(const float* in, std::uint32_t row, Activations& out) {                    \
    quantize_row<Isa::kRegisterFloats>(in, row, out);                                             \
  }                                                                                               \
  TARGET void normalize(const float* in, const Norm& norm, std::uint32_t row, Activations& out) { \
    normalize_row<Isa::kRegisterFloats>(in, norm, row, out);                                      \
  }                                                                                               \
  TARGET void attend(const float* qkv, std::uint32_t tokens, std::uint32_t width, float* out) {   \
    attend_all<Isa::kRegisterFloats>(qkv, tokens, width, out);                                    \
  }                                                                                               \
  TARGET void embed(const std::int8_t* embedding, float scale, const float* timing, float* out) { \
    embed_piece<Isa::kRegisterFloats>(embedding, scale, timing, out);                             \
  }                                                                                               \
  TARGET void average(const float* in, std::uint32_t rows, float* out) {                          \
    average_rows<Isa::kRegisterFloats>(in, rows, out);                                            \
  }                                                                                               \
  TARGET void squash(float* values, std::uint32_t size) {                                         \
    squash_all<Isa::kRegisterFloats>(values, size);                                               \
  }                                                                                               \
  TARGET void shorten(float* values, std::uint32_t size) {                                        \
    shorten_all<Isa::kRegisterFloats>(values, size);                                              \
  }                                                                                               \
  constexpr Kernels kKernels = {NAME,  multiply, quantize, normalize, attend,                     \
                                embed, average,  squash,   shorten};

}  // namespace bmad_mem::encoder
