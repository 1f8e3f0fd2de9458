// detection.hpp - a place in a text where something stands that should not be kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bmad_mem {

/// What is done about a detection.
enum class Certainty : std::uint8_t {
  kNear,    ///< Comes near the line: it stays, and its entry is marked as sensitive.
  kSecret,  ///< Is taken out.
};

/// Bytes [begin, end) of the text: the secret itself, without its name or quotes.
struct Detection {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view rule;  ///< Id of the rule: "github-pat". Lives as long as the redactor.
  Certainty certainty = Certainty::kSecret;

  friend bool operator==(const Detection&, const Detection&) = default;
};

using Detections = std::vector<Detection>;

}  // namespace bmad_mem
