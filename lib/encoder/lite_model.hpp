// lite_model.hpp - the encoder in C++, with what lies between its steps, for tests and
// measurements.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "encoder/text_encoder.hpp"
#include "kernels.hpp"
#include "network.hpp"
#include "tokenizer.hpp"
#include "weights.hpp"

namespace bmad_mem::encoder {

class LiteModel final : public TextEncoder {
 public:
  /// Errors: as open_model.
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

  [[nodiscard]] const Tokenizer& tokenizer() const { return tokenizer_; }
  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] std::span<const char> weights_bytes() const { return file_.span(); }
  [[nodiscard]] const Weights& weights() const { return weights_; }

 private:
  AlignedBytes file_;
  Weights weights_;
  std::string name_;
  std::uint64_t id_;
  Tokenizer tokenizer_;
  Network network_;
};

}  // namespace bmad_mem::encoder
