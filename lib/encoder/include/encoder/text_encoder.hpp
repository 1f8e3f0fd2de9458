// text_encoder.hpp - a model that turns texts into directions: texts that say the same in other
// words point the same way.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

inline constexpr std::uint32_t kDimensionMax = 4096;

/// Bytes of an entry that are encoded. Ours reads 128 pieces, some 500 bytes; other models read 512
/// tokens and more, from 2000 bytes on, and twice that tells no model much more.
inline constexpr std::size_t kEncodedSizeMax = 4096;

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
  /// it that it can read. Any bytes are a text. Where dimension() can change, and id() with it,
  /// another thread may change it meanwhile: the size of what comes back tells what it is of.
  /// Errors: E_QUERY_TIMEOUT past `deadline`; those of a program or a server that encodes.
  [[nodiscard]] virtual Result<std::vector<float>> encode(std::span<const std::string> texts,
                                                          Deadline deadline = {}) = 0;
  /// Whether a word means something to it. Names and identifiers seldom do. A model that nobody can
  /// ask is taken to know all.
  [[nodiscard]] virtual bool knows(std::string_view /*word*/) const { return true; }
};

}  // namespace bmad_mem
