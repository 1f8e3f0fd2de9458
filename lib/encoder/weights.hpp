// weights.hpp - what the network and the tokenizer compute with, and the file that holds it.
//
//   encoder.bmw, little-endian, each part begins at a multiple of 64 bytes
//   0    8     12           16            20      24         28  32          40        64
//   | "BMADENC1" | version | pieces | piece bytes | name bytes | licence bytes | rows | file size |
//   |  dimensions, 6 x 4 | 0 ... 128 | parts in the order of each_part() | XXH3 of all before |
//
// The dimensions are those of version 1 of the network; a file with others is another model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "bmad_mem/result.hpp"

namespace bmad_mem::encoder {

inline constexpr std::uint32_t kPieceWidth = 256;    ///< Numbers of an embedding.
inline constexpr std::uint32_t kWidth = 512;         ///< Of a piece between layers; of a text.
inline constexpr std::uint32_t kHiddenWidth = 1536;  ///< Inside a feed-forward part.
inline constexpr std::uint32_t kHeads = 4;
inline constexpr std::uint32_t kPiecesMax = 128;  ///< Pieces of a text that count.
inline constexpr std::uint32_t kVectorSize = 128;

/// Outputs of a matrix that a kernel computes together: a block.
inline constexpr std::uint32_t kBlock = 32;
/// Outputs whose weights lie side by side; floats that are computed together.
inline constexpr std::uint32_t kLanes = 16;
/// Inputs that lie side by side for one output, as the processors' dot products take them.
inline constexpr std::uint32_t kQuad = 4;
/// The largest size of a weight: two products of bytes and weights fit 16 bits.
inline constexpr std::int32_t kWeightMax = 127;
/// Activations are stored as bytes above this.
inline constexpr std::int32_t kByteZero = 128;

enum class MatrixId : std::uint8_t {
  kResidual,  ///< 256 to 512: the first layer's input beside its attention.
  kQkv0,      ///< Queries, keys and values side by side.
  kMerge0,    ///< The heads' answers to one.
  kUp0,
  kDown0,
  kQkv1,
  kMerge1,
  kUp1,
  kDown1,
  kTop,      ///< In front of the tanh.
  kProject,  ///< To the vector.
};
inline constexpr std::size_t kMatrices = 11;

struct MatrixShape {
  std::uint32_t inputs;
  std::uint32_t outputs;
};
inline constexpr std::array<MatrixShape, kMatrices> kShapes = {{
    {kPieceWidth, kWidth},
    {kPieceWidth, 3 * kPieceWidth},
    {kPieceWidth, kWidth},
    {kWidth, kHiddenWidth},
    {kHiddenWidth, kWidth},
    {kWidth, 3 * kWidth},
    {kWidth, kWidth},
    {kWidth, kHiddenWidth},
    {kHiddenWidth, kWidth},
    {kWidth, kWidth},
    {kWidth, kVectorSize},
}};

/// output[n] = scales[n] * sum over k of weights[n][k] * input[k] + biases[n].
struct Matrix {
  MatrixShape shape = {};
  /// -127 to 127: [outputs / 16][inputs / 4][16][4].
  std::span<const std::int8_t> weights = {};
  std::span<const float> scales = {};
  std::span<const float> biases = {};
  /// kByteZero times the sum of an output's weights: what the zero of the inputs adds.
  std::span<const std::int32_t> zeros = {};
};

/// Where the weight of an output for an input lies.
constexpr std::size_t packed_index(MatrixShape shape, std::size_t output, std::size_t input) {
  const std::size_t quad = output / kLanes * (shape.inputs / kQuad) + input / kQuad;
  return (quad * kLanes + output % kLanes) * kQuad + input % kQuad;
}

/// In front of the attention and of the feed-forward part of each layer.
enum class NormId : std::uint8_t { kAttention0, kForward0, kAttention1, kForward1 };
inline constexpr std::size_t kNorms = 4;
inline constexpr std::array<std::uint32_t, kNorms> kNormWidths = {kPieceWidth, kWidth, kWidth,
                                                                  kWidth};
struct Norm {
  std::span<const float> scales = {};
  std::span<const float> biases = {};
};

/// Texts in ascending order of their bytes; a number is a row of the embeddings.
struct Pieces {
  std::span<const std::uint32_t> ends = {};     ///< Of each text in `text`.
  std::span<const std::uint32_t> numbers = {};  ///< Of each text.
  std::span<const double> scores = {};          ///< Of each text: the logarithm of its share.
  std::span<const char> text = {};
};

/// Views into one buffer.
struct Weights {
  std::span<const char> name = {};
  std::span<const char> licence = {};
  Pieces pieces = {};
  std::uint32_t rows = 0;                        ///< Of the embeddings.
  std::span<const std::int8_t> embeddings = {};  ///< [rows][kPieceWidth]
  std::span<const float> embedding_scales = {};  ///< [rows]
  std::span<const float> timing = {};            ///< [kPiecesMax][kPieceWidth]
  std::array<Norm, kNorms> norms = {};
  std::array<Matrix, kMatrices> matrices = {};

  [[nodiscard]] const Matrix& matrix(MatrixId id) const {
    return matrices[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] const Norm& norm(NormId id) const { return norms[static_cast<std::size_t>(id)]; }
};

/// Bytes on large pages where the system gives them: a page at a time, 7 MB cost a cold process 3
/// to 8 ms, and so 0.4.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t size);
  [[nodiscard]] std::span<char> span() const { return {data_.get(), size_}; }

 private:
  static constexpr std::size_t kLargePage = 2U << 20U;
  struct Free {
    void operator()(char* data) const { ::operator delete(data, std::align_val_t(kLargePage)); }
  };
  std::unique_ptr<char, Free> data_;
  std::size_t size_;
};

/// The weights that `file` holds, as views into it; `path` is for messages. Errors:
/// E_STORAGE_CORRUPT and E_NEWER_VERSION.
Result<Weights> weights_in(std::span<const char> file, const std::string& path);

/// The XXH3 that a whole file ends with.
std::uint64_t weights_hash(std::span<const char> file);

/// The file. Every part must have its size.
std::string weights_file(const Weights& weights);

}  // namespace bmad_mem::encoder
