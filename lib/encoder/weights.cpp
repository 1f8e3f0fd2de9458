// weights.cpp - reads, checks and writes the file encoder.bmw.
#include "weights.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/little_endian.hpp"

namespace bmad_mem::encoder {
namespace {

constexpr std::string_view kMagic = "BMADENC1";
constexpr std::uint32_t kFileVersion = 1;
constexpr std::size_t kHeadSize = 128;  // Zeros behind FileHead.
constexpr std::size_t kPartAlignment = 64;
constexpr std::uint32_t kCountMax = 1U << 20U;  // Of pieces, and of bytes of each text.

constexpr std::array<std::uint32_t, 6> kDimensions = {kPieceWidth, kWidth,     kHiddenWidth,
                                                      kHeads,      kPiecesMax, kVectorSize};

/// The first bytes of the file; the parts follow.
struct FileHead {
  std::array<char, kMagic.size()> magic = {};
  std::uint32_t version = kFileVersion;
  std::uint32_t pieces = 0;
  std::uint32_t piece_bytes = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t licence_bytes = 0;
  std::uint32_t rows = 0;
  std::uint64_t file_size = 0;
  std::array<std::uint32_t, 6> dimensions = kDimensions;
};
static_assert(sizeof(FileHead) == 64 && std::is_trivially_copyable_v<FileHead>);

/// Calls `visit(span, count)` for each part of the file, in its order.
template <typename AnyWeights, typename Visit>
void each_part(AnyWeights& weights, const FileHead& head, const Visit& visit) {
  visit(weights.name, head.name_bytes);
  visit(weights.licence, head.licence_bytes);
  visit(weights.pieces.ends, head.pieces);
  visit(weights.pieces.numbers, head.pieces);
  visit(weights.pieces.scores, head.pieces);
  visit(weights.pieces.text, head.piece_bytes);
  visit(weights.embeddings, std::size_t{head.rows} * kPieceWidth);
  visit(weights.embedding_scales, head.rows);
  visit(weights.timing, std::size_t{kPiecesMax} * kPieceWidth);
  for (std::size_t norm = 0; norm < kNorms; ++norm) {
    visit(weights.norms[norm].scales, kNormWidths[norm]);
    visit(weights.norms[norm].biases, kNormWidths[norm]);
  }
  for (std::size_t matrix = 0; matrix < kMatrices; ++matrix) {
    const MatrixShape shape = kShapes[matrix];
    visit(weights.matrices[matrix].weights, std::size_t{shape.inputs} * shape.outputs);
    visit(weights.matrices[matrix].scales, shape.outputs);
    visit(weights.matrices[matrix].biases, shape.outputs);
    visit(weights.matrices[matrix].zeros, shape.outputs);
  }
}

std::size_t aligned(std::size_t offset) {
  return (offset + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

Error weights_error(ErrorCode code, std::string_view what, const std::string& path) {
  return path_error(code, path,
                    fmt::format("these weights of the encoder {}; install the package "
                                "bmad-mem-encoder of this version",
                                what));
}

Error damaged(std::string_view what, const std::string& path) {
  return weights_error(ErrorCode::E_STORAGE_CORRUPT, what, path);
}

/// The head of a file whose hash is right. Errors: as weights_in.
Result<FileHead> checked_head(std::span<const char> file, const std::string& path) {
  if (file.size() < kMagic.size() || std::string_view(file.data(), kMagic.size()) != kMagic) {
    return damaged(file.empty() ? "are an empty file" : "are something else", path);
  }
  if (file.size() < kHeadSize + sizeof(std::uint64_t)) {
    return damaged("are cut off", path);
  }
  FileHead head;
  std::memcpy(&head, file.data(), sizeof head);
  if (head.version > kFileVersion) {
    return weights_error(ErrorCode::E_NEWER_VERSION, "are of a newer bmad-mem", path);
  }
  if (head.version < kFileVersion) {
    return damaged("are of an older bmad-mem", path);
  }
  if (head.file_size != file.size()) {
    return damaged(fmt::format("have {} of {} bytes", file.size(), head.file_size), path);
  }
  const std::size_t hashed = file.size() - sizeof(std::uint64_t);
  if (xxh3({file.data(), hashed}) != weights_hash(file)) {
    return damaged("are changed: their hash is wrong", path);
  }
  if (head.dimensions != kDimensions) {
    return damaged("are of another network", path);
  }
  return head;
}

/// Whether the tokenizer can go by them.
bool are_sound(const Pieces& pieces, std::uint32_t rows) {
  std::uint32_t begin = 0;
  std::string_view before;
  for (std::size_t at = 0; at < pieces.ends.size(); ++at) {
    const std::uint32_t end = pieces.ends[at];
    if (end <= begin || end > pieces.text.size() || pieces.numbers[at] >= rows) {
      return false;
    }
    const std::string_view text(pieces.text.data() + begin, end - begin);
    if (at > 0 && text <= before) {
      return false;
    }
    before = text;
    begin = end;
  }
  return begin == pieces.text.size();
}

template <typename Float>
bool are_finite(std::span<const Float> numbers) {
  return std::ranges::all_of(numbers, [](Float number) { return std::isfinite(number); });
}

/// Whether all kernels compute the same with it. In vectors, since 5 MB pass at each start.
bool is_sound(const Matrix& matrix) {
  assert(matrix.weights.size() == std::size_t{matrix.shape.inputs} * matrix.shape.outputs);
  constexpr std::size_t kGroup = std::size_t{kLanes} * kQuad;
  constexpr std::size_t kPart = 16;
  constexpr std::size_t kShortSums = 128;  // Of weights: 16 bits hold them.
  using Bytes [[gnu::vector_size(kPart)]] = std::int8_t;
  using Shorts [[gnu::vector_size(2 * kPart)]] = std::int16_t;
  const std::size_t width = matrix.shape.inputs / kQuad;  // Groups of kLanes outputs.
  const std::int8_t* weights = matrix.weights.data();
  Bytes wrong{};
  for (std::size_t output = 0; output < matrix.shape.outputs; output += kLanes) {
    std::array<std::int32_t, kGroup> sums{};
    for (std::size_t from = 0; from < width; from += kShortSums) {
      std::array<Shorts, kGroup / kPart> some{};
      for (std::size_t group = std::min(kShortSums, width - from); group > 0; --group) {
#pragma GCC unroll 4
        for (Shorts& each : some) {  // Registers, once it is unrolled.
          Bytes bytes;
          std::memcpy(&bytes, weights, sizeof bytes);
          weights += kPart;
          wrong |= bytes == std::int8_t{-128};
          each += __builtin_convertvector(bytes, Shorts);
        }
      }
      for (std::size_t at = 0; at < kGroup; ++at) {
        sums[at] += some[at / kPart][at % kPart];
      }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::int32_t* of = &sums[lane * kQuad];
      if (matrix.zeros[output + lane] != kByteZero * (of[0] + of[1] + of[2] + of[3])) {
        return false;
      }
    }
  }
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(wrong);
  return halves[0] == 0 && halves[1] == 0 && are_finite(matrix.scales) && are_finite(matrix.biases);
}

}  // namespace

AlignedBytes::AlignedBytes(std::size_t size) : size_(size) {
  const std::size_t whole = (size + kLargePage - 1) / kLargePage * kLargePage;
  data_.reset(static_cast<char*>(::operator new(whole, std::align_val_t(kLargePage))));
  madvise(data_.get(), whole, MADV_HUGEPAGE);  // Only faster.
}

std::uint64_t weights_hash(std::span<const char> file) {
  assert(file.size() >= sizeof(std::uint64_t));
  return little_at<std::uint64_t>(file.data() + file.size() - sizeof(std::uint64_t));
}

Result<Weights> weights_in(std::span<const char> file, const std::string& path) {
  if constexpr (std::endian::native != std::endian::little) {
    return damaged("are for little-endian processors", path);
  }
  BMAD_TRY_ASSIGN(const FileHead head, checked_head(file, path));
  for (const std::uint32_t count :
       {head.pieces, head.piece_bytes, head.name_bytes, head.licence_bytes, head.rows}) {
    if (count > kCountMax) {
      return damaged("say impossible sizes", path);
    }
  }
  Weights weights{.rows = head.rows};
  std::size_t at = kHeadSize;
  const std::size_t end = file.size() - sizeof(std::uint64_t);
  each_part(weights, head, [&]<typename T>(std::span<const T>& part, std::size_t count) {
    at = aligned(at);
    if (at <= end && count <= (end - at) / sizeof(T)) {
      part = {reinterpret_cast<const T*>(file.data() + at), count};
    }
    at += count * sizeof(T);
  });
  if (aligned(at) != end) {
    return damaged("have parts that don't fit their size", path);
  }
  for (std::size_t matrix = 0; matrix < kMatrices; ++matrix) {
    weights.matrices[matrix].shape = kShapes[matrix];
  }
  if (weights.rows == 0 || !are_sound(weights.pieces, weights.rows)) {
    return damaged("have pieces that are out of order", path);
  }
  const bool is_finite = are_finite(weights.pieces.scores) &&
                         are_finite(weights.embedding_scales) && are_finite(weights.timing) &&
                         std::ranges::all_of(weights.norms, [](const Norm& norm) {
                           return are_finite(norm.scales) && are_finite(norm.biases);
                         });
  if (!is_finite || !std::ranges::all_of(weights.matrices, is_sound)) {
    return damaged("have numbers that can't be computed with", path);
  }
  return weights;
}

std::string weights_file(const Weights& weights) {
  FileHead head{.pieces = static_cast<std::uint32_t>(weights.pieces.ends.size()),
                .piece_bytes = static_cast<std::uint32_t>(weights.pieces.text.size()),
                .name_bytes = static_cast<std::uint32_t>(weights.name.size()),
                .licence_bytes = static_cast<std::uint32_t>(weights.licence.size()),
                .rows = weights.rows};
  std::string parts(kHeadSize, '\0');
  each_part(weights, head, [&]<typename T>(const std::span<const T>& part, std::size_t count) {
    assert(part.size() == count);
    parts.resize(aligned(parts.size()));
    parts.append(reinterpret_cast<const char*>(part.data()), count * sizeof(T));
  });
  parts.resize(aligned(parts.size()));
  std::ranges::copy(kMagic, head.magic.begin());
  head.file_size = parts.size() + sizeof(std::uint64_t);
  std::memcpy(parts.data(), &head, sizeof head);
  put_little(xxh3(parts), parts);
  assert(parts.size() == head.file_size);
  return parts;
}

}  // namespace bmad_mem::encoder
