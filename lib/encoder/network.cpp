#include "network.hpp"

#include <algorithm>
#include <cassert>

namespace bmad_mem::encoder {

/// What lies between the steps; a row a known piece, text after text.
struct Network::Run {
  struct Text {
    std::uint32_t first = 0;
    std::uint32_t rows = 0;
  };
  std::vector<Text> texts = {};
  std::uint32_t rows = 0;
  std::vector<float> embedded = {};
  std::vector<float> state = {};  ///< [rows][kWidth]: what each part adds to.
  std::vector<float> wide = {};   ///< Queries, keys and values; the hidden numbers.
  std::vector<float> heads = {};
  Activations activations = {};
};

void Network::embed(std::span<const PieceNumbers> texts, Run& run) const {
  for (const PieceNumbers& text : texts) {
    const auto known = static_cast<std::uint32_t>(
        std::ranges::count_if(text, [](std::uint32_t piece) { return piece != 0; }));
    run.texts.push_back({.first = run.rows, .rows = known});
    run.rows += known;
  }
  run.embedded.resize(std::size_t{run.rows} * kPieceWidth);
  float* out = run.embedded.data();
  for (const PieceNumbers& text : texts) {
    assert(text.size() <= kPiecesMax);
    for (std::size_t place = 0; place < text.size(); ++place) {
      const std::uint32_t piece = text[place];
      if (piece == 0) {  // The network sees no unknown piece, but the place that it takes.
        continue;
      }
      kernels_.embed(weights_.embeddings.data() + std::size_t{piece} * kPieceWidth,
                     weights_.embedding_scales[piece], weights_.timing.data() + place * kPieceWidth,
                     out);
      out += kPieceWidth;
    }
  }
}

void Network::quantize(std::span<const float> in, std::uint32_t width, Run& run) const {
  run.activations.reshape(run.rows, width);
  for (std::uint32_t row = 0; row < run.rows; ++row) {
    kernels_.quantize(in.data() + std::size_t{row} * width, row, run.activations);
  }
}

void Network::normalize(std::span<const float> in, NormId id, Run& run) const {
  const Norm& norm = weights_.norm(id);
  const auto width = static_cast<std::uint32_t>(norm.scales.size());
  run.activations.reshape(run.rows, width);
  for (std::uint32_t row = 0; row < run.rows; ++row) {
    kernels_.normalize(in.data() + std::size_t{row} * width, norm, row, run.activations);
  }
}

void Network::multiply(MatrixId id, Finish finish, std::vector<float>& out, Run& run) const {
  const Matrix& matrix = weights_.matrix(id);
  assert(run.activations.width == matrix.shape.inputs);
  out.resize(std::size_t{run.rows} * matrix.shape.outputs);
  kernels_.multiply(run.activations, matrix, finish, out.data());
}

void Network::attend(std::span<const float> in, NormId norm, MatrixId qkv, MatrixId merge,
                     Run& run) const {
  normalize(in, norm, run);
  const std::uint32_t width = run.activations.width;
  multiply(qkv, Finish::kStore, run.wide, run);
  run.heads.resize(std::size_t{run.rows} * width);
  for (const Run::Text& text : run.texts) {
    if (text.rows > 0) {
      const std::span<const float> rows = std::span<const float>(run.wide).subspan(
          std::size_t{text.first} * 3 * width, std::size_t{text.rows} * 3 * width);
      kernels_.attend({.qkv = rows, .tokens = text.rows, .width = width},
                      run.heads.data() + std::size_t{text.first} * width);
    }
  }
  quantize(run.heads, width, run);
  multiply(merge, Finish::kAdd, run.state, run);
}

void Network::feed_forward(NormId norm, MatrixId up, MatrixId down, Run& run) const {
  normalize(run.state, norm, run);
  multiply(up, Finish::kStorePositive, run.wide, run);
  quantize(run.wide, kHiddenWidth, run);
  multiply(down, Finish::kAdd, run.state, run);
}

/// As if bytes had 16 bits: what a row lost is a second row. For the few rows at the end.
void Network::multiply_finely(std::span<const float> in, MatrixId id, std::span<float> out) const {
  const Matrix& matrix = weights_.matrix(id);
  const auto [inputs, outputs] = matrix.shape;
  const auto rows = static_cast<std::uint32_t>(in.size() / inputs);
  Activations activations;
  activations.reshape(2 * rows, inputs);
  std::vector<float> rest(inputs);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::span<const float> values = in.subspan(std::size_t{row} * inputs, inputs);
    kernels_.quantize(values.data(), 2 * row, activations);
    const std::uint8_t* bytes = activations.bytes.data() + std::size_t{2} * row * inputs;
    for (std::uint32_t at = 0; at < inputs; ++at) {
      const auto kept = static_cast<float>(bytes[at] - kByteZero);
      const float known = kept * activations.scales[std::size_t{2} * row];
      rest[at] = values[at] - known;
    }
    kernels_.quantize(rest.data(), 2 * row + 1, activations);
  }
  std::vector<float> products(std::size_t{2} * rows * outputs);
  kernels_.multiply(activations, matrix, Finish::kStore, products.data());
  for (std::uint32_t row = 0; row < rows; ++row) {
    const float* coarse = products.data() + std::size_t{2} * row * outputs;
    for (std::uint32_t at = 0; at < outputs; ++at) {
      const float fine = coarse[outputs + at] - matrix.biases[at];  // The bias is in both.
      out[std::size_t{row} * outputs + at] = coarse[at] + fine;
    }
  }
}

std::vector<float> Network::sentences(std::span<const PieceNumbers> texts) const {
  Run run;
  embed(texts, run);
  quantize(run.embedded, kPieceWidth, run);
  multiply(MatrixId::kResidual, Finish::kStore, run.state, run);
  attend(run.embedded, NormId::kAttention0, MatrixId::kQkv0, MatrixId::kMerge0, run);
  feed_forward(NormId::kForward0, MatrixId::kUp0, MatrixId::kDown0, run);
  attend(run.state, NormId::kAttention1, MatrixId::kQkv1, MatrixId::kMerge1, run);
  feed_forward(NormId::kForward1, MatrixId::kUp1, MatrixId::kDown1, run);
  std::vector<float> means(texts.size() * kWidth);
  for (std::size_t text = 0; text < texts.size(); ++text) {
    if (const auto [first, rows] = run.texts[text]; rows > 0) {
      kernels_.average(run.state.data() + std::size_t{first} * kWidth, rows,
                       means.data() + text * kWidth);
    }
  }
  std::vector<float> made(means.size());
  multiply_finely(means, MatrixId::kTop, made);
  for (std::size_t text = 0; text < texts.size(); ++text) {
    float* numbers = made.data() + text * kWidth;
    if (run.texts[text].rows == 0) {
      std::fill_n(numbers, kWidth, 0.0F);
      continue;
    }
    kernels_.squash(numbers, kWidth);
    kernels_.shorten(numbers, kWidth);
  }
  return made;
}

std::vector<float> Network::vectors(std::span<const float> sentences) const {
  const std::size_t count = sentences.size() / kWidth;
  std::vector<float> made(count * kVectorSize);
  multiply_finely(sentences, MatrixId::kProject, made);
  for (std::size_t text = 0; text < count; ++text) {
    float* numbers = made.data() + text * kVectorSize;
    const std::span<const float> sentence = sentences.subspan(text * kWidth, kWidth);
    if (std::ranges::all_of(sentence, [](float number) { return number == 0; })) {
      std::fill_n(numbers, kVectorSize, 0.0F);
    }
    kernels_.shorten(numbers, kVectorSize);
  }
  return made;
}

}  // namespace bmad_mem::encoder
