#include "weights.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/little_endian.hpp"

namespace bmad_mem::encoder {
namespace {

constexpr std::string_view kMagic = "BMADENC1";
constexpr std::uint32_t kFileVersion = 1;
constexpr std::size_t kHeadSize = 128;
constexpr std::size_t kPartAlignment = 64;
constexpr std::uint32_t kCountMax = 1U << 20U;  // Of pieces, and of bytes of each text.

constexpr std::array<std::uint32_t, 6> kDimensions = {kPieceWidth, kWidth,     kHiddenWidth,
                                                      kHeads,      kPiecesMax, kVectorSize};

/// What stands in front of the parts; the sizes that a version of the network leaves open.
struct FileHead {
  std::uint32_t pieces = 0;
  std::uint32_t piece_bytes = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t licence_bytes = 0;
  std::uint32_t rows = 0;
};

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

Error file_error(ErrorCode code, std::string_view what, const std::string& path) {
  return {.code = code,
          .message = fmt::format("these weights of the encoder {}; run ./dev encoder, or put the "
                                 "file of a package there, to have whole ones",
                                 what),
          .path = path};
}

Error damaged(std::string_view what, const std::string& path) {
  return file_error(ErrorCode::E_STORAGE_CORRUPT, what, path);
}

std::uint32_t word_at(std::span<const char> file, std::size_t offset) {
  return little_at<std::uint32_t>(file.data() + offset);
}

/// The head of a file whose hash is right. Errors: as weights_in.
Result<FileHead> checked_head(std::span<const char> file, const std::string& path) {
  constexpr std::size_t kVersionAt = 8;
  constexpr std::size_t kSizeAt = 32;
  constexpr std::size_t kDimensionsAt = 40;
  if (file.size() < kMagic.size() || std::string_view(file.data(), kMagic.size()) != kMagic) {
    return damaged(file.empty() ? "are an empty file" : "are something else", path);
  }
  if (file.size() < kHeadSize + sizeof(std::uint64_t)) {
    return damaged("are cut off", path);
  }
  const std::uint32_t version = word_at(file, kVersionAt);
  if (version > kFileVersion) {
    return file_error(ErrorCode::E_NEWER_VERSION, "are of a newer bmad-mem", path);
  }
  if (version < kFileVersion) {
    return damaged("are of an older bmad-mem", path);
  }
  const auto size = little_at<std::uint64_t>(file.data() + kSizeAt);
  if (size != file.size()) {
    return damaged(fmt::format("have {} of {} bytes", file.size(), size), path);
  }
  const std::size_t hashed = file.size() - sizeof(std::uint64_t);
  if (xxh3({file.data(), hashed}) != weights_hash(file)) {
    return damaged("are changed: their hash is wrong", path);
  }
  for (std::size_t at = 0; at < kDimensions.size(); ++at) {
    if (word_at(file, kDimensionsAt + at * sizeof(std::uint32_t)) != kDimensions[at]) {
      return damaged("are of another network", path);
    }
  }
  return FileHead{.pieces = word_at(file, 12),
                  .piece_bytes = word_at(file, 16),
                  .name_bytes = word_at(file, 20),
                  .licence_bytes = word_at(file, 24),
                  .rows = word_at(file, 28)};
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
  return weights;
}

std::string weights_file(const Weights& weights) {
  const FileHead head{.pieces = static_cast<std::uint32_t>(weights.pieces.ends.size()),
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
  std::string file(kMagic);
  for (const std::uint32_t word : {kFileVersion, head.pieces, head.piece_bytes, head.name_bytes,
                                   head.licence_bytes, head.rows}) {
    put_little(word, file);
  }
  put_little(std::uint64_t{parts.size() + sizeof(std::uint64_t)}, file);
  for (const std::uint32_t dimension : kDimensions) {
    put_little(dimension, file);
  }
  parts.replace(0, file.size(), file);
  put_little(xxh3(parts), parts);
  return parts;
}

}  // namespace bmad_mem::encoder
