// lite_model.cpp - reads the file of weights, and encodes texts in batches.
#include "lite_model.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace bmad_mem::encoder {
namespace {

constexpr std::uint64_t kFileSizeMax = 64U << 20U;

constexpr std::string_view kRemedy =
    "install the package bmad-mem-encoder, or name another file in memory_config.encoder.path";

Error unreadable(std::string_view why, const std::string& path, int error_number = 0) {
  return {.code = ErrorCode::E_STORAGE_IO,
          .message = fmt::format("cannot read the weights of the encoder: {}; {}", why, kRemedy),
          .path = path,
          .os_error = error_number};
}

Error unreadable(int error_number, const std::string& path) {
  return unreadable(std::generic_category().message(error_number), path, error_number);
}

Error wrong_size(std::string_view what, const std::string& path) {
  return path_error(ErrorCode::E_STORAGE_CORRUPT, path, fmt::format("{}; {}", what, kRemedy));
}

/// The file may be cut or grow meanwhile: what was read is what counts.
Result<AlignedBytes> bytes_of(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return unreadable(error ? error.value() : ENOENT, path);
  }
  if (!std::filesystem::is_regular_file(status)) {
    return unreadable(
        std::filesystem::is_directory(status) ? "this is a folder" : "this is no file", path);
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (error || file == nullptr) {
    return unreadable(error ? error.value() : errno, path);
  }
  if (size > kFileSizeMax) {
    return wrong_size("is too large for weights of the encoder", path);
  }
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  AlignedBytes bytes(size);
  if (std::fread(bytes.span().data(), 1, size, file.get()) != size) {
    return std::ferror(file.get()) != 0 ? unreadable(errno, path)
                                        : wrong_size("became shorter while it was read", path);
  }
  return bytes;
}

/// Of words that are cut into scraps the model knows nothing: "nginx" is n, gin, x. Known ones have
/// more letters a part.
constexpr double kLettersOfWord = 2.4;
/// So for a text: other scripts, and code or numbers alone, would all seem to mean the same.
constexpr double kLettersOfText = 1.5;
/// Becomes another one when other vectors come of the same weights.
constexpr std::uint64_t kReading = 2;

bool is_cut_well(const CutText& text, double letters) {
  return static_cast<double>(text.letters) > letters * static_cast<double>(text.parts);
}

/// None of a text that it can't read.
PieceNumbers readable_pieces(CutText text) {
  return is_cut_well(text, kLettersOfText) ? std::move(text.pieces) : PieceNumbers();
}

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
        const std::size_t first = std::size_t{text.first} * width;
        kernels_.attend(wide_.data() + 3 * first, text.rows, width, heads_.data() + first);
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

Result<std::shared_ptr<LiteModel>> LiteModel::open(const std::string& path,
                                                   const Kernels& kernels) {
  BMAD_TRY_ASSIGN(AlignedBytes file, bytes_of(path));
  return read(std::move(file), path, kernels);
}

Result<std::shared_ptr<LiteModel>> LiteModel::read(AlignedBytes file, const std::string& path,
                                                   const Kernels& kernels) {
  BMAD_TRY_ASSIGN(const Weights weights, weights_in(file.span(), path));
  return std::make_shared<LiteModel>(std::move(file), weights, kernels);
}

LiteModel::LiteModel(AlignedBytes file, const Weights& weights, const Kernels& kernels)
    : file_(std::move(file)),
      weights_(weights),
      name_(weights.name.begin(), weights.name.end()),
      id_(std::max<std::uint64_t>(weights_hash(file_.span()) + kReading, 1)),
      tokenizer_(weights_.pieces),
      kernels_(kernels) {}

bool LiteModel::knows(std::string_view word) const {
  return is_cut_well(tokenizer_.cut(word), kLettersOfWord);
}

Result<std::vector<float>> LiteModel::encode(std::span<const std::string> texts,
                                             Deadline deadline) {
  // What lies between the steps stays in the cache of a core.
  constexpr std::size_t kPiecesAtOnce = 64;
  constexpr std::size_t kTextsAtOnce = 16;
  std::vector<float> made;
  made.reserve(texts.size() * kVectorSize);
  std::vector<PieceNumbers> batch;
  std::size_t pieces = 0;
  const auto finish = [&] {
    const std::vector<float> encoded = vectors(sentences(batch));
    made.insert(made.end(), encoded.begin(), encoded.end());
    batch.clear();
    pieces = 0;
  };
  for (const std::string& text : texts) {
    if (deadline && std::chrono::steady_clock::now() >= *deadline) {
      return Error{.code = ErrorCode::E_QUERY_TIMEOUT,
                   .message = fmt::format("the time was over after {} of {} texts were encoded; "
                                          "give more time, or fewer texts",
                                          made.size() / kVectorSize, texts.size())};
    }
    PieceNumbers numbers = readable_pieces(tokenizer_.cut(text));
    if (!batch.empty() &&
        (pieces + numbers.size() > kPiecesAtOnce || batch.size() == kTextsAtOnce)) {
      finish();
    }
    pieces += numbers.size();
    batch.push_back(std::move(numbers));
  }
  if (!batch.empty()) {
    finish();
  }
  assert(made.size() == texts.size() * kVectorSize && "a vector for each text");
  return made;
}

std::vector<float> LiteModel::sentences(std::span<const PieceNumbers> texts) const {
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

std::vector<float> LiteModel::vectors(std::span<const float> sentences) const {
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
