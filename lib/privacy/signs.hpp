// signs.hpp - the bytes of a text that are read as others, or as none.
//
//   next_sign of `a\u0067hp_…`  ──►  [1, 7) is read as "g"
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "finders.hpp"

namespace bmad_mem {

/// Bytes of a text that stand for other ones, or for none.
struct Sign {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< Equal to `begin`: there is none.
  std::array<char, 4> bytes = {};
  std::size_t size = 0;  ///< Of `bytes`.
  bool is_colour = false;
  bool is_erased = false;  ///< The character before is as well.
  bool is_part = false;    ///< It parts a token, and nothing else is read so.

  [[nodiscard]] bool exists() const { return end > begin; }
};

/// The first sign from `from` on; none when there is no other. Secrets in lists of characters and
/// of numbers go to `out`.
Sign next_sign(std::string_view text, std::size_t from, Detections& out);

}  // namespace bmad_mem
