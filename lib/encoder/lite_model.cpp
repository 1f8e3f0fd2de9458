#include "lite_model.hpp"

#include <algorithm>
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

namespace {

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

}  // namespace

LiteModel::LiteModel(AlignedBytes file, const Weights& weights, const Kernels& kernels)
    : file_(std::move(file)),
      weights_(weights),
      name_(weights.name.begin(), weights.name.end()),
      id_(std::max<std::uint64_t>(weights_hash(file_.span()) + kReading, 1)),
      tokenizer_(weights_.pieces),
      network_(weights_, kernels) {}

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
    const std::vector<float> vectors = network_.vectors(network_.sentences(batch));
    made.insert(made.end(), vectors.begin(), vectors.end());
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
  return made;
}

}  // namespace bmad_mem::encoder

namespace bmad_mem {

static_assert(kModelDimension == encoder::kVectorSize);

Result<std::shared_ptr<TextEncoder>> open_model(const std::string& path) {
  BMAD_TRY_ASSIGN(std::shared_ptr<encoder::LiteModel> model, encoder::LiteModel::open(path));
  return std::shared_ptr<TextEncoder>(std::move(model));
}

}  // namespace bmad_mem
