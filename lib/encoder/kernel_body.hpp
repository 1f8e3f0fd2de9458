// kernel_body.hpp - the kernels, written once with the compiler's vectors: each file that includes
// it compiles them for its processors.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels.hpp"

namespace bmad_mem::encoder {

#define BMAD_INLINE [[gnu::always_inline]] inline

inline constexpr std::uint32_t kLanes = 16;
using Floats [[gnu::vector_size(kLanes * 4)]] = float;
using Integers [[gnu::vector_size(kLanes * 4)]] = std::int32_t;
using Bytes [[gnu::vector_size(kLanes)]] = std::uint8_t;
using SignedBytes [[gnu::vector_size(kLanes)]] = std::int8_t;

/// Rounds to the nearest integer, once added and taken off: 1.5 * 2^23, for sizes below 2^22.
inline constexpr float kRounder = 12582912.0F;

BMAD_INLINE void load(const float* from, Floats& to) { std::memcpy(&to, from, sizeof to); }
BMAD_INLINE void store(const Floats& from, float* to) { std::memcpy(to, &from, sizeof from); }
BMAD_INLINE void greater(const Floats& other, Floats& value) {
  value = other > value ? other : value;
}

BMAD_INLINE float sum_of(const Floats& values) {
  float part[kLanes];
  store(values, part);
  for (std::uint32_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::uint32_t lane = 0; lane < half; ++lane) {
      part[lane] += part[lane + half];
    }
  }
  return part[0];
}

BMAD_INLINE float greatest_of(const Floats& values) {
  float part[kLanes];
  store(values, part);
  for (std::uint32_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::uint32_t lane = 0; lane < half; ++lane) {
      part[lane] = part[lane + half] > part[lane] ? part[lane + half] : part[lane];
    }
  }
  return part[0];
}

/// e to the power of each, for -87 to 0: 2^n * a polynomial of the rest (Cephes, expf).
BMAD_INLINE void exponential(Floats& x) {
  constexpr float kLowest = -87.0F;
  constexpr float kLog2E = 1.44269504088896341F;
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440e-4F;
  const Floats lowest = Floats{} + kLowest;
  greater(lowest, x);
  const Floats shifted = x * kLog2E + kRounder;
  const Floats whole = shifted - kRounder;
  const Floats rest = x - whole * kLn2High - whole * kLn2Low;
  Floats power = Floats{} + 1.9875691500e-4F;
  power = power * rest + 1.3981999507e-3F;
  power = power * rest + 8.3334519073e-3F;
  power = power * rest + 4.1665795894e-2F;
  power = power * rest + 1.6666665459e-1F;
  power = power * rest + 5.0000001201e-1F;
  power = power * rest * rest + rest + 1.0F;
  Integers bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  std::int32_t rounder_bits = 0;
  std::memcpy(&rounder_bits, &kRounder, sizeof rounder_bits);
  constexpr std::int32_t kExponentBias = 127;
  constexpr std::int32_t kExponentShift = 23;
  bits = (bits - rounder_bits + kExponentBias) << kExponentShift;
  Floats scale;
  std::memcpy(&scale, &bits, sizeof scale);
  x = power * scale;
}

BMAD_INLINE void quantize_row(const float* in, std::uint32_t row, Activations& out) {
  constexpr float kByteMax = 127.0F;
  const std::uint32_t width = out.width;
  Floats greatest = {};
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    Floats value;
    load(in + at, value);
    greater(value, greatest);
    greater(-value, greatest);
  }
  const float top = greatest_of(greatest);
  const float scale = top > 0 ? kByteMax / top : 0;
  out.scales[row] = top / kByteMax;
  std::uint8_t* bytes = out.bytes.data() + std::size_t{row} * width;
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    Floats value;
    load(in + at, value);
    value = value * scale + kRounder;
    Integers bits;
    std::memcpy(&bits, &value, sizeof bits);
    // The low byte of the rounder is 0, so this is the integer modulo 256, above kByteZero.
    const Bytes made = __builtin_convertvector(bits + kByteZero, Bytes);
    std::memcpy(bytes + at, &made, sizeof made);
  }
}

BMAD_INLINE void normalize_row(const float* in, const Norm& norm, std::uint32_t row,
                               Activations& out) {
  constexpr float kEpsilon = 1e-6F;
  const std::uint32_t width = out.width;
  Floats sum = {};
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    Floats value;
    load(in + at, value);
    sum += value;
  }
  const float mean = sum_of(sum) / static_cast<float>(width);
  Floats squares = {};
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    Floats value;
    load(in + at, value);
    value -= mean;
    squares += value * value;
  }
  const float scale = 1.0F / std::sqrt(sum_of(squares) / static_cast<float>(width) + kEpsilon);
  alignas(64) float normal[kWidth];
  for (std::uint32_t at = 0; at < width; at += kLanes) {
    Floats value;
    Floats scales;
    Floats biases;
    load(in + at, value);
    load(norm.scales.data() + at, scales);
    load(norm.biases.data() + at, biases);
    store((value - mean) * scale * scales + biases, normal + at);
  }
  quantize_row(normal, row, out);
}

/// `sums`: of one row and block, of bytes or of what they stand for.
template <bool SubtractsZero>
BMAD_INLINE void finish_block(const std::int32_t* sums, const Matrix& matrix, std::uint32_t first,
                              float scale, Finish finish, float* out) {
  for (std::uint32_t at = first; at < first + kBlock; at += kLanes) {
    Integers whole;
    Integers zeros;
    Floats scales;
    Floats value;
    std::memcpy(&whole, sums + (at - first), sizeof whole);
    std::memcpy(&zeros, matrix.zeros.data() + at, sizeof zeros);
    load(matrix.scales.data() + at, scales);
    load(matrix.biases.data() + at, value);
    if constexpr (!SubtractsZero) {
      whole -= zeros;
    }
    value += __builtin_convertvector(whole, Floats) * (scales * scale);
    if (finish == Finish::kStorePositive) {
      greater(Floats{}, value);
    } else if (finish == Finish::kAdd) {
      Floats before;
      load(out + at, before);
      value += before;
    }
    store(value, out + at);
  }
}

/// Isa::sum(bytes, width, count, weights, sums): of `count` rows, 1 to Isa::kRows, and one block;
/// Isa::kSubtractsZero: of the bytes less kByteZero.
template <typename Isa>
BMAD_INLINE void multiply_all(const Activations& in, const Matrix& matrix, Finish finish,
                              float* out) {
  const auto [width, outputs] = matrix.shape;
  // Even shares: a row alone would read all weights for itself.
  const std::uint32_t shares = (in.rows + Isa::kRows - 1) / Isa::kRows;
  for (std::uint32_t block = 0; block < outputs; block += kBlock) {
    const std::int8_t* weights = matrix.weights.data() + std::size_t{block} * width;
    for (std::uint32_t share = 0; share < shares; ++share) {
      const std::uint32_t first = in.rows * share / shares;
      const std::uint32_t count = in.rows * (share + 1) / shares - first;
      alignas(64) std::int32_t sums[Isa::kRows * kBlock];
      Isa::sum(in.bytes.data() + std::size_t{first} * width, width, count, weights, sums);
      for (std::uint32_t row = 0; row < count; ++row) {
        finish_block<Isa::kSubtractsZero>(sums + std::size_t{row} * kBlock, matrix, block,
                                          in.scales[first + row], finish,
                                          out + std::size_t{first + row} * outputs);
      }
    }
  }
}

/// Probabilities of `Blocks` * kLanes keys, of which `tokens` are there.
template <std::uint32_t Blocks>
BMAD_INLINE void soft_maximum(Floats (&scores)[Blocks], std::uint32_t tokens, float* out) {
  constexpr float kNothing = -1e9F;
  for (std::uint32_t block = 0; block < Blocks; ++block) {
    store(scores[block], out + std::size_t{block} * kLanes);
  }
  std::fill(out + tokens, out + std::size_t{Blocks} * kLanes, kNothing);
  Floats greatest = Floats{} + kNothing;
  for (std::uint32_t block = 0; block < Blocks; ++block) {
    load(out + std::size_t{block} * kLanes, scores[block]);
    greater(scores[block], greatest);
  }
  const float top = greatest_of(greatest);
  Floats sum = {};
  for (Floats& score : scores) {
    score -= top;
    exponential(score);
  }
  // What stands behind the keys is e to the lowest power: 0 in all sums.
  for (const Floats& score : scores) {
    sum += score;
  }
  const float scale = 1.0F / sum_of(sum);
  for (std::uint32_t block = 0; block < Blocks; ++block) {
    store(scores[block] * scale, out + std::size_t{block} * kLanes);
  }
}

/// One head: `Size` numbers of each query, key and value, and room for `Blocks` * kLanes keys.
template <std::uint32_t Size, std::uint32_t Blocks>
BMAD_INLINE void attend_head(const float* qkv, std::uint32_t tokens, std::uint32_t width,
                             float* out) {
  constexpr std::uint32_t kKeys = Blocks * kLanes;
  const std::size_t stride = std::size_t{3} * width;
  const float scale = 1.0F / std::sqrt(static_cast<float>(Size));
  alignas(64) float keys[Size * kKeys];  // One column a token.
  for (std::uint32_t token = 0; token < kKeys; ++token) {
    for (std::uint32_t at = 0; at < Size; ++at) {
      keys[at * kKeys + token] = token < tokens ? qkv[token * stride + width + at] : 0;
    }
  }
  for (std::uint32_t token = 0; token < tokens; ++token) {
    Floats scores[Blocks] = {};
    for (std::uint32_t at = 0; at < Size; ++at) {
      const float query = qkv[token * stride + at] * scale;
      for (std::uint32_t block = 0; block < Blocks; ++block) {
        Floats key;
        load(keys + std::size_t{at} * kKeys + std::size_t{block} * kLanes, key);
        scores[block] += key * query;
      }
    }
    alignas(64) float shares[kKeys];
    soft_maximum<Blocks>(scores, tokens, shares);
    Floats sums[Size / kLanes] = {};
    for (std::uint32_t other = 0; other < tokens; ++other) {
      const float* values = qkv + other * stride + std::size_t{2} * width;
      for (std::uint32_t part = 0; part < Size / kLanes; ++part) {
        Floats value;
        load(values + std::size_t{part} * kLanes, value);
        sums[part] += value * shares[other];
      }
    }
    for (std::uint32_t part = 0; part < Size / kLanes; ++part) {
      store(sums[part], out + std::size_t{token} * width + std::size_t{part} * kLanes);
    }
  }
}

template <std::uint32_t Size, std::uint32_t Blocks>
BMAD_INLINE void attend_heads(const AttentionInput& in, float* out) {
  for (std::uint32_t head = 0; head < kHeads; ++head) {
    attend_head<Size, Blocks>(in.qkv.data() + std::size_t{head} * Size, in.tokens, in.width,
                              out + std::size_t{head} * Size);
  }
}

BMAD_INLINE void embed_piece(const std::int8_t* embedding, float scale, const float* timing,
                             float* out) {
  for (std::uint32_t at = 0; at < kPieceWidth; at += kLanes) {
    SignedBytes bytes;
    std::memcpy(&bytes, embedding + at, sizeof bytes);
    Floats moment;
    load(timing + at, moment);
    store(__builtin_convertvector(bytes, Floats) * (2 * scale) + moment, out + at);
  }
}

BMAD_INLINE void average_rows(const float* in, std::uint32_t rows, float* out) {
  for (std::uint32_t at = 0; at < kWidth; at += kLanes) {
    Floats sum = {};
    for (std::uint32_t row = 0; row < rows; ++row) {
      Floats value;
      load(in + std::size_t{row} * kWidth + at, value);
      sum += value;
    }
    store(sum / static_cast<float>(rows), out + at);
  }
}

/// (1 - e) / (1 + e) with e = exp(-2 |x|), and the sign of x.
BMAD_INLINE void squash_all(float* values, std::uint32_t size) {
  for (std::uint32_t at = 0; at < size; at += kLanes) {
    Floats value;
    load(values + at, value);
    Floats power = value < Floats{} ? value + value : -(value + value);
    exponential(power);
    const Floats squashed = (1.0F - power) / (1.0F + power);
    store(value < Floats{} ? -squashed : squashed, values + at);
  }
}

BMAD_INLINE void shorten_all(float* values, std::uint32_t size) {
  Floats squares = {};
  for (std::uint32_t at = 0; at < size; at += kLanes) {
    Floats value;
    load(values + at, value);
    squares += value * value;
  }
  const float square = sum_of(squares);
  const float scale = square > 0 ? 1.0F / std::sqrt(square) : 0;
  for (std::uint32_t at = 0; at < size; at += kLanes) {
    Floats value;
    load(values + at, value);
    store(value * scale, values + at);
  }
}

// The functions of a struct Kernels in the namespace of an Isa, each with its TARGET: what it calls
// is compiled into it. An attention is compiled for each number of blocks, as functions of their
// own: a hundred kilobytes of stack, and registers, are theirs.
#define BMAD_KERNELS(NAME, TARGET)                                                                \
  TARGET void multiply(const Activations& in, const Matrix& matrix, Finish finish, float* out) {  \
    multiply_all<Isa>(in, matrix, finish, out);                                                   \
  }                                                                                               \
  TARGET void quantize(const float* in, std::uint32_t row, Activations& out) {                    \
    quantize_row(in, row, out);                                                                   \
  }                                                                                               \
  TARGET void normalize(const float* in, const Norm& norm, std::uint32_t row, Activations& out) { \
    normalize_row(in, norm, row, out);                                                            \
  }                                                                                               \
  template <std::uint32_t Blocks>                                                                 \
  TARGET void attend_in(const AttentionInput& in, float* out) {                                   \
    if (in.width == kPieceWidth) {                                                                \
      attend_heads<kPieceWidth / kHeads, Blocks>(in, out);                                        \
    } else {                                                                                      \
      attend_heads<kWidth / kHeads, Blocks>(in, out);                                             \
    }                                                                                             \
  }                                                                                               \
  void attend(const AttentionInput& in, float* out) {                                             \
    constexpr decltype(&attend) kByBlocks[] = {attend_in<1>, attend_in<2>, attend_in<3>,          \
                                               attend_in<4>, attend_in<5>, attend_in<6>,          \
                                               attend_in<7>, attend_in<8>};                       \
    kByBlocks[(in.tokens - 1) / kLanes](in, out);                                                 \
  }                                                                                               \
  TARGET void embed(const std::int8_t* embedding, float scale, const float* timing, float* out) { \
    embed_piece(embedding, scale, timing, out);                                                   \
  }                                                                                               \
  TARGET void average(const float* in, std::uint32_t rows, float* out) {                          \
    average_rows(in, rows, out);                                                                  \
  }                                                                                               \
  TARGET void squash(float* values, std::uint32_t size) { squash_all(values, size); }             \
  TARGET void shorten(float* values, std::uint32_t size) { shorten_all(values, size); }           \
  constexpr Kernels kKernels = {NAME,  multiply, quantize, normalize, attend,                     \
                                embed, average,  squash,   shorten};

}  // namespace bmad_mem::encoder
