// network.hpp - from the pieces of texts to their directions.
//
//   pieces -> embeddings + places -> 2 x (attention, feed-forward) -> mean -> tanh -> 512 numbers
//                                                                          -> projection -> 128
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels.hpp"
#include "weights.hpp"

namespace bmad_mem::encoder {

/// The pieces of a text: at most kPiecesMax.
using PieceNumbers = std::vector<std::uint32_t>;

/// Threads: all calls may be made at the same time.
class Network {
 public:
  /// Both must outlive it.
  Network(const Weights& weights, const Kernels& kernels) : weights_(weights), kernels_(kernels) {}

  /// For each text kWidth numbers of length 1; zeros for one without a known piece. A text gives
  /// the same numbers alone and among others. Costs some 20 KB a piece of memory meanwhile.
  [[nodiscard]] std::vector<float> sentences(std::span<const PieceNumbers> texts) const;
  /// For each row of kWidth numbers kVectorSize of length 1; zeros where all are 0.
  [[nodiscard]] std::vector<float> vectors(std::span<const float> sentences) const;

 private:
  const Weights& weights_;
  const Kernels& kernels_;
};

}  // namespace bmad_mem::encoder
