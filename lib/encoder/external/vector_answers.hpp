// vector_answers.hpp - what programs and servers are asked, and what they answer.
//
//   program   stdin   {"text":"where do boats lie"}      a line for each text
//             stdout  {"vector":[0.12,-0.03,…]}          a line for each text, in the same order
//   server    POST    {"model":"…","input":["where do boats lie",…]}
//             answer  {"data":[{"index":0,"embedding":[0.12,-0.03,…]},…]}
//
// Other members are ignored. Pure text: nothing is called here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct Vectors {
  std::uint32_t dimension = 0;
  std::vector<float> numbers;  ///< Row-major, of length 1 each, or all zero.
};

/// Bytes of an answer: 64 vectors of kDimensionMax numbers, written at length and with line breaks.
inline constexpr std::size_t kVectorAnswerSizeMax = 16U << 20U;

/// What goes to a program. Texts are valid UTF-8.
std::string program_question(std::span<const std::string> texts);
/// What goes to a server; without `model` it is not named.
std::string server_question(std::span<const std::string> texts, std::string_view model);

/// The vectors of `count` texts, at least 1. Errors: E_INVALID_FORMAT with what is wrong, and in
/// which line or at which text: no JSON, another number of vectors, none of numbers, more than
/// kDimensionMax, vectors of different sizes, numbers that no float holds.
Result<Vectors> program_vectors(std::string_view answer, std::size_t count);
/// The same of a server's answer. A vector without an index is the next one.
Result<Vectors> server_vectors(std::string_view answer, std::size_t count);

}  // namespace bmad_mem
