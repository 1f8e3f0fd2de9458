// tokenizer.hpp - a text as numbers of pieces: the most likely way to put it together from them.
//
//   "I adopted a puppy" -> NFKC -> "▁I▁adopted▁a▁puppy" -> ▁I | ▁adopted | ▁a | ▁pup | py
//
// Equal to the tokenizer of the npm package, number by number, with its habits: of two ways with
// the same score the one with the shorter last piece; a place that no piece ends at counts as 0.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "weights.hpp"

namespace bmad_mem::encoder {

/// The number of what no piece holds.
inline constexpr std::uint32_t kUnknownPiece = 0;

/// Characters of a text that are read: 128 pieces of at most 16, and as many again, since a run of
/// unknown ones is one piece. What follows doesn't count.
inline constexpr std::size_t kCharactersMax = 4096;

/// A text in pieces, and how well they fit it.
struct CutText {
  std::vector<std::uint32_t> pieces;  ///< At most kPiecesMax numbers.
  std::size_t letters = 0;            ///< Characters that are no spaces.
  std::size_t parts = 0;              ///< What they were cut into; unknown ones stand alone.
};

class Tokenizer {
 public:
  /// `pieces` are sound, see weights_in(); their scores must outlive it.
  explicit Tokenizer(const Pieces& pieces);

  /// At most kPiecesMax numbers, none for an empty text. Any bytes: what is not UTF-8, and NUL,
  /// counts as U+FFFD.
  [[nodiscard]] std::vector<std::uint32_t> pieces_of(std::string_view text) const {
    return cut(text).pieces;
  }
  [[nodiscard]] CutText cut(std::string_view text) const;

 private:
  /// A byte in the tree of pieces: its children lie side by side, in order.
  struct Node {
    std::uint32_t children = 0;
    std::uint32_t child_count = 0;
    std::uint32_t piece = kNone;  ///< The index of the piece that ends here.
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Path;

  void relax_from(std::string_view text, std::size_t start, std::vector<Path>& paths) const;
  [[nodiscard]] std::uint32_t child_of(const Node& node, unsigned char byte) const;

  std::vector<Node> nodes_;
  std::vector<unsigned char> bytes_;  ///< Of each node.
  std::vector<std::uint32_t> numbers_;
  std::span<const double> scores_;
};

}  // namespace bmad_mem::encoder
