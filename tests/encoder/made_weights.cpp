#include "encoder/made_weights.hpp"

#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "base/hash.hpp"
#include "base/little_endian.hpp"

namespace bmad_mem::test {
namespace {

using encoder::MatrixShape;

class Draw {
 public:
  template <typename T>
  std::vector<T> integers(std::size_t count, int low, int high) {
    std::vector<T> made(count);
    for (T& number : made) {
      number = static_cast<T>(low + static_cast<int>(random_() % unsigned(high - low + 1)));
    }
    return made;
  }
  std::vector<float> floats(std::size_t count, float low, float high) {
    std::vector<float> made(count);
    for (float& number : made) {
      number = low + (high - low) * static_cast<float>(random_() % 1024) / 1024;
    }
    return made;
  }

 private:
  std::mt19937 random_{1};
};

struct MadeMatrix {
  std::vector<std::int8_t> weights;
  std::vector<float> scales;
  std::vector<float> biases;
  std::vector<std::int32_t> zeros;
};

MadeMatrix made_matrix(MatrixShape shape, Draw& draw) {
  MadeMatrix made{
      .weights = draw.integers<std::int8_t>(std::size_t{shape.inputs} * shape.outputs, -127, 127),
      .scales = draw.floats(shape.outputs, 0.0001F, 0.001F),
      .biases = draw.floats(shape.outputs, -0.1F, 0.1F),
      .zeros = std::vector<std::int32_t>(shape.outputs)};
  for (std::size_t output = 0; output < shape.outputs; ++output) {
    for (std::size_t input = 0; input < shape.inputs; ++input) {
      made.zeros[output] +=
          encoder::kByteZero * made.weights[encoder::packed_index(shape, output, input)];
    }
  }
  return made;
}

/// Text, and the score of each piece.
std::map<std::string, double> made_pieces() {
  std::map<std::string, double> pieces = {{"\xE2\x96\x81", -3},
                                          {"\xE2\x96\x81the", -4},
                                          {"ing", -5},
                                          {"\xE2\x96\x81"
                                           "dog",
                                           -9},
                                          {"do", -6},
                                          {"\xC3\xA9", -8},
                                          {"5", -7},
                                          {"cat", -9}};
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    pieces[std::string(1, letter)] = -8 - (letter - 'a') / 10.0;
  }
  return pieces;
}

std::string make_file() {
  constexpr std::uint32_t kFirstPiece = 6;
  Draw draw;
  std::vector<std::uint32_t> ends;
  std::vector<std::uint32_t> numbers;
  std::vector<double> scores;
  std::string text;
  for (const auto& [piece, score] : made_pieces()) {
    text += piece;
    ends.push_back(static_cast<std::uint32_t>(text.size()));
    numbers.push_back(kFirstPiece + static_cast<std::uint32_t>(numbers.size()));
    scores.push_back(score);
  }
  encoder::Weights weights{.name = std::string_view("made 1"),
                           .licence = std::string_view("None."),
                           .pieces = {ends, numbers, scores, text},
                           .rows = kFirstPiece + static_cast<std::uint32_t>(numbers.size())};
  const auto embeddings =
      draw.integers<std::int8_t>(std::size_t{weights.rows} * encoder::kPieceWidth, -127, 127);
  const auto embedding_scales = draw.floats(weights.rows, 0.001F, 0.01F);
  const auto timing =
      draw.floats(std::size_t{encoder::kPiecesMax} * encoder::kPieceWidth, -1.0F, 1.0F);
  weights.embeddings = embeddings;
  weights.embedding_scales = embedding_scales;
  weights.timing = timing;
  std::vector<std::vector<float>> norms;
  for (std::size_t norm = 0; norm < encoder::kNorms; ++norm) {
    norms.push_back(draw.floats(encoder::kNormWidths[norm], 0.5F, 1.5F));
    norms.push_back(draw.floats(encoder::kNormWidths[norm], -0.1F, 0.1F));
  }
  std::vector<MadeMatrix> matrices;
  for (const MatrixShape shape : encoder::kShapes) {
    matrices.push_back(made_matrix(shape, draw));
  }
  for (std::size_t norm = 0; norm < encoder::kNorms; ++norm) {
    weights.norms[norm] = {norms[2 * norm], norms[2 * norm + 1]};
  }
  for (std::size_t at = 0; at < matrices.size(); ++at) {
    const MadeMatrix& made = matrices[at];
    weights.matrices[at] = {encoder::kShapes[at], made.weights, made.scales, made.biases,
                            made.zeros};
  }
  return weights_file(weights);
}

}  // namespace

const std::string& made_weights_file() {
  static const std::string file = make_file();
  return file;
}

std::string with_weights_hash(std::string file) {
  if (file.size() >= sizeof(std::uint64_t)) {
    file.resize(file.size() - sizeof(std::uint64_t));
    put_little(xxh3(file), file);
  }
  return file;
}

encoder::AlignedBytes aligned_copy(std::string_view file) {
  encoder::AlignedBytes bytes(file.size());
  std::memcpy(bytes.span().data(), file.data(), file.size());
  return bytes;
}

}  // namespace bmad_mem::test
