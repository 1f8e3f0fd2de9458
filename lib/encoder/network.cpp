#include "network.hpp"

#include <algorithm>
#include <cassert>

namespace bmad_mem::encoder {

namespace {

/// What lies between the steps of some texts; a row a known piece, text after text.
class Pass {
 public:
  struct Text {
    std::uint32_t first = 0;
    std::uint32_t rows = 0;
  };

  Pass(const Weights& weights, const Kernels& kernels) : weights_(weights), kernels_(kernels) {}

  void embed(std::span<const PieceNumbers> texts) {
    for (const PieceNumbers& text : texts) {
      const auto known = static_cast<std::uint32_t>(
          std::ranges::count_if(text, [](std::uint32_t piece) { return piece != 0; }));
      texts_.push_back({.first = rows_, .rows = known});
      rows_ += known;
    }
    embedded_.resize(std::size_t{rows_} * kPieceWidth);
    float* out = embedded_.data();
    for (const PieceNumbers& text : texts) {
      assert(text.size() <= kPiecesMax);
      for (std::size_t place = 0; place < text.size(); ++place) {
        const std::uint32_t piece = text[place];
        if (piece == 0) {  // The network sees no unknown piece, but the place that it takes.
          continue;
        }
        kernels_.embed(weights_.embeddings.data() + std::size_t{piece} * kPieceWidth,
                       weights_.embedding_scales[piece],
                       weights_.timing.data() + place * kPieceWidth, out);
        out += kPieceWidth;
      }
    }
    quantize(embedded_, kPieceWidth);
    multiply(MatrixId::kResidual, Finish::kStore, state_);
  }

  /// Of what was embedded, or of the state.
  void attend(bool is_first, NormId norm, MatrixId qkv, MatrixId merge) {
    normalize(is_first ? embedded_ : state_, norm);
    const std::uint32_t width = activations_.width;
    multiply(qkv, Finish::kStore, wide_);
    heads_.resize(std::size_t{rows_} * width);
    for (const Text& text : texts_) {
      if (text.rows > 0) {
        const std::span<const float> rows = std::span<const float>(wide_).subspan(
            std::size_t{text.first} * 3 * width, std::size_t{text.rows} * 3 * width);
        kernels_.attend({.qkv = rows, .tokens = text.rows, .width = width},
                        heads_.data() + std::size_t{text.first} * width);
      }
    }
    quantize(heads_, width);
    multiply(merge, Finish::kAdd, state_);
  }

  void feed_forward(NormId norm, MatrixId up, MatrixId down) {
    normalize(state_, norm);
    multiply(up, Finish::kStorePositive, wide_);
    quantize(wide_, kHiddenWidth);
    multiply(down, Finish::kAdd, state_);
  }

  [[nodiscard]] const std::vector<Text>& texts() const { return texts_; }
  [[nodiscard]] const std::vector<float>& state() const { return state_; }

 private:
  void quantize(std::span<const float> in, std::uint32_t width) {
    activations_.reshape(rows_, width);
    for (std::uint32_t row = 0; row < rows_; ++row) {
      kernels_.quantize(in.data() + std::size_t{row} * width, row, activations_);
    }
  }

  void normalize(std::span<const float> in, NormId id) {
    const Norm& norm = weights_.norm(id);
    const auto width = static_cast<std::uint32_t>(norm.scales.size());
    activations_.reshape(rows_, width);
    for (std::uint32_t row = 0; row < rows_; ++row) {
      kernels_.normalize(in.data() + std::size_t{row} * width, norm, row, activations_);
    }
  }

  void multiply(MatrixId id, Finish finish, std::vector<float>& out) {
    const Matrix& matrix = weights_.matrix(id);
    assert(activations_.width == matrix.shape.inputs);
    out.resize(std::size_t{rows_} * matrix.shape.outputs);
    kernels_.multiply(activations_, matrix, finish, out.data());
  }

  const Weights& weights_;
  const Kernels& kernels_;
  std::vector<Text> texts_;
  std::uint32_t rows_ = 0;
  std::vector<float> embedded_;
  std::vector<float> state_;  ///< [rows][kWidth]: what each part adds to.
  std::vector<float> wide_;   ///< Queries, keys and values; the hidden numbers.
  std::vector<float> heads_;
  Activations activations_;
};

/// As if bytes had 16 bits: what a row lost is a second row. For the few rows at the end.
void multiply_finely(const Kernels& kernels, std::span<const float> in, const Matrix& matrix,
                     std::span<float> out) {
  const auto [inputs, outputs] = matrix.shape;
  const auto rows = static_cast<std::uint32_t>(in.size() / inputs);
  Activations activations;
  activations.reshape(2 * rows, inputs);
  std::vector<float> rest(inputs);
  for (std::uint32_t row = 0; row < rows; ++row) {
    const std::span<const float> values = in.subspan(std::size_t{row} * inputs, inputs);
    kernels.quantize(values.data(), 2 * row, activations);
    const std::uint8_t* bytes = activations.bytes.data() + std::size_t{2} * row * inputs;
    for (std::uint32_t at = 0; at < inputs; ++at) {
      const auto kept = static_cast<float>(bytes[at] - kByteZero);
      const float known = kept * activations.scales[std::size_t{2} * row];
      rest[at] = values[at] - known;
    }
    kernels.quantize(rest.data(), 2 * row + 1, activations);
  }
  std::vector<float> products(std::size_t{2} * rows * outputs);
  kernels.multiply(activations, matrix, Finish::kStore, products.data());
  for (std::uint32_t row = 0; row < rows; ++row) {
    const float* coarse = products.data() + std::size_t{2} * row * outputs;
    for (std::uint32_t at = 0; at < outputs; ++at) {
      const float fine = coarse[outputs + at] - matrix.biases[at];  // The bias is in both.
      out[std::size_t{row} * outputs + at] = coarse[at] + fine;
    }
  }
}

}  // namespace

std::vector<float> Network::sentences(std::span<const PieceNumbers> texts) const {
  Pass pass(weights_, kernels_);
  pass.embed(texts);
  pass.attend(true, NormId::kAttention0, MatrixId::kQkv0, MatrixId::kMerge0);
  pass.feed_forward(NormId::kForward0, MatrixId::kUp0, MatrixId::kDown0);
  pass.attend(false, NormId::kAttention1, MatrixId::kQkv1, MatrixId::kMerge1);
  pass.feed_forward(NormId::kForward1, MatrixId::kUp1, MatrixId::kDown1);
  std::vector<float> means(texts.size() * kWidth);
  for (std::size_t text = 0; text < texts.size(); ++text) {
    if (const auto [first, rows] = pass.texts()[text]; rows > 0) {
      kernels_.average(pass.state().data() + std::size_t{first} * kWidth, rows,
                       means.data() + text * kWidth);
    }
  }
  std::vector<float> made(means.size());
  multiply_finely(kernels_, means, weights_.matrix(MatrixId::kTop), made);
  for (std::size_t text = 0; text < texts.size(); ++text) {
    float* numbers = made.data() + text * kWidth;
    if (pass.texts()[text].rows == 0) {
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
  multiply_finely(kernels_, sentences, weights_.matrix(MatrixId::kProject), made);
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
