// text_encoder.hpp - a model that turns texts into directions: texts that say the same in other
// words point the same way.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Threads: all calls may be made at the same time.
class TextEncoder {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  TextEncoder() = default;
  TextEncoder(const TextEncoder&) = delete;
  TextEncoder& operator=(const TextEncoder&) = delete;
  virtual ~TextEncoder() = default;

  /// For people, such as "use-lite 1".
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// What tells its vectors from those of every other model: a hash of its name, its dimension and,
  /// where they are known, its weights. Never 0.
  [[nodiscard]] virtual std::uint64_t id() const = 0;
  /// Numbers a vector: at least 1, at most kDimensionMax.
  [[nodiscard]] virtual std::uint32_t dimension() const = 0;
  /// Row-major: for each text dimension() numbers, of length 1; all zero for a text with nothing in
  /// it to encode. Any bytes are a text. Errors: E_QUERY_TIMEOUT past `deadline`; those of a
  /// program or a server that encodes.
  [[nodiscard]] virtual Result<std::vector<float>> encode(std::span<const std::string> texts,
                                                          Deadline deadline = {}) = 0;
};

inline constexpr std::uint32_t kDimensionMax = 4096;

}  // namespace bmad_mem
