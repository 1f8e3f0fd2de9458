// lite_model.hpp - the encoder in C++: Universal Sentence Encoder lite, its weights in one file.
//
//   text -> at most 128 pieces -> transformer, 512 numbers -> projection, 128 numbers of length 1
//
//   pieces -> embeddings + places -> 2 x (attention, feed-forward) -> mean -> tanh -> 512 numbers
//                                                                          -> projection -> 128
//
// The same file and the same text give the same vector on every processor: integers are exact, and
// floats are added in one order everywhere. The network is of Cer and others 2018
// (arXiv:1803.11175).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "encoder/text_encoder.hpp"
#include "kernels.hpp"
#include "tokenizer.hpp"
#include "weights.hpp"

namespace bmad_mem::encoder {

/// The pieces of a text: at most kPiecesMax.
using PieceNumbers = std::vector<std::uint32_t>;

/// Threads: all calls may be made at the same time.
class LiteModel final : public TextEncoder {
 public:
  /// Reads the weights at `path`, 7 MB; the file may change or go afterwards. Errors: those of the
  /// system with E_STORAGE_IO; E_STORAGE_CORRUPT for a file that is cut, changed or something else;
  /// E_NEWER_VERSION. Each names the path and what to do.
  static Result<std::shared_ptr<LiteModel>> open(const std::string& path,
                                                 const Kernels& kernels = *kernels_here().front());
  /// Of the bytes of a file; `path` is for messages.
  static Result<std::shared_ptr<LiteModel>> read(AlignedBytes file, const std::string& path,
                                                 const Kernels& kernels = *kernels_here().front());

  /// `weights` are views into `file`.
  LiteModel(AlignedBytes file, const Weights& weights, const Kernels& kernels);

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t id() const override { return id_; }
  [[nodiscard]] std::uint32_t dimension() const override { return kVectorSize; }
  [[nodiscard]] Result<std::vector<float>> encode(std::span<const std::string> texts,
                                                  Deadline deadline) override;
  [[nodiscard]] bool knows(std::string_view word) const override;

  /// The steps of encode(). For each text kWidth numbers of length 1; zeros for one without a known
  /// piece. A text gives the same numbers alone and among others. Costs some 20 KB a piece of
  /// memory meanwhile.
  [[nodiscard]] std::vector<float> sentences(std::span<const PieceNumbers> texts) const;
  /// For each row of kWidth numbers kVectorSize of length 1; zeros where all are 0.
  [[nodiscard]] std::vector<float> vectors(std::span<const float> sentences) const;

  [[nodiscard]] const Tokenizer& tokenizer() const { return tokenizer_; }
  [[nodiscard]] std::span<const char> weights_bytes() const { return file_.span(); }
  [[nodiscard]] const Weights& weights() const { return weights_; }

 private:
  AlignedBytes file_;
  Weights weights_;
  std::string name_;
  std::uint64_t id_;
  Tokenizer tokenizer_;
  const Kernels& kernels_;
};

}  // namespace bmad_mem::encoder
