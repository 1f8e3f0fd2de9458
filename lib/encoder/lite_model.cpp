#include "lite_model.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace bmad_mem::encoder {
namespace {

constexpr std::uint64_t kFileSizeMax = 64U << 20U;

Error unreadable(int error_number, const std::string& path) {
  return {.code = ErrorCode::E_STORAGE_IO,
          .message = fmt::format("cannot read the weights of the encoder: {}",
                                 std::generic_category().message(error_number)),
          .path = path,
          .os_error = error_number};
}

/// The file may be cut or grow meanwhile: what was read is what counts.
Result<AlignedBytes> bytes_of(const std::string& path) {
  std::error_code error;
  if (const auto status = std::filesystem::status(path, error);
      !std::filesystem::is_regular_file(status)) {
    const bool is_there = std::filesystem::exists(status);
    return unreadable(is_there || !error ? EISDIR : error.value(), path);
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (error || file == nullptr) {
    return unreadable(error ? error.value() : errno, path);
  }
  if (size > kFileSizeMax) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = "is too large for weights of the encoder; run ./dev encoder",
                 .path = path};
  }
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  AlignedBytes bytes(size);
  if (std::fread(bytes.span().data(), 1, size, file.get()) != size) {
    return std::ferror(file.get()) != 0
               ? unreadable(errno, path)
               : Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                       .message = "became shorter while it was read; run ./dev encoder",
                       .path = path};
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

LiteModel::LiteModel(AlignedBytes file, const Weights& weights, const Kernels& kernels)
    : file_(std::move(file)),
      weights_(weights),
      name_(weights.name.begin(), weights.name.end()),
      id_(std::max<std::uint64_t>(weights_hash(file_.span()), 1)),
      tokenizer_(weights_.pieces),
      network_(weights_, kernels) {}

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
    PieceNumbers numbers = tokenizer_.pieces_of(text);
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
