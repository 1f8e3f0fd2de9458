// entry_input.hpp - entries on stdin, in whichever way other programs print JSON.
//
//   {"role":"user",…}        JSONL: an object a line
//   {"role":"assistant",…}
//
//   [                        an array of objects, on one line or many
//     {"role":"user",…}, …
//   ]
//
//   {                        objects over several lines, one behind the other, as jq prints them
//     "role": "user"
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// One entry's text in the input, and the line on which it starts, counted from 1.
struct InputPiece {
  std::string_view text;
  std::uint64_t line = 1;
  std::uint64_t column = 1;  ///< 1-based byte in that line.
};

/// Most that is taken from stdin at once: more than a session can hold by default.
inline constexpr std::size_t kInputSizeMax = 64U << 20U;

/// All of stdin. Errors: E_STORAGE_IO, E_SIZE_LIMIT beyond kInputSizeMax.
Result<std::string> read_stdin();

/// All of a small file. Errors: as read_stdin(), with the path.
Result<std::string> read_whole_file(const std::string& path);

/// Takes `input` apart. Whether the pieces are JSON is for the engine to say; a piece that never
/// ends is cut at the end of its line. Empty lines are passed over.
std::vector<InputPiece> split_input(std::string_view input);

/// Makes `error`, which speaks of `piece` alone (its column, if known, counts from the piece's
/// first byte), speak of the whole input.
void place_error(Error& error, const InputPiece& piece);

}  // namespace bmad_mem::cli
