#include "encoder/tokenizer.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "encoder/made_weights.hpp"

namespace bmad_mem::test {
namespace {

using encoder::kPiecesMax;
using encoder::kUnknownPiece;
using encoder::PieceNumbers;
using encoder::Tokenizer;
using encoder::Weights;

/// The texts of the pieces of `text`, with a blank between them; "?" for the unknown one.
std::string pieces_text(std::string_view text) {
  static const encoder::AlignedBytes file = aligned_copy(made_weights_file());
  static const Weights weights = encoder::weights_in(file.span(), "made").value();
  static const Tokenizer tokenizer(weights.pieces);
  std::string made;
  for (const std::uint32_t number : tokenizer.pieces_of(text)) {
    std::string piece = "?";
    std::uint32_t begin = 0;
    for (std::size_t at = 0; at < weights.pieces.ends.size(); ++at) {
      if (weights.pieces.numbers[at] == number) {
        piece.assign(weights.pieces.text.data() + begin, weights.pieces.ends[at] - begin);
      }
      begin = weights.pieces.ends[at];
    }
    made += (made.empty() ? "" : " ") + piece;
  }
  return made;
}

std::size_t piece_count(std::string_view text) {
  const std::string made = pieces_text(text);
  return made.empty() ? 0 : 1 + static_cast<std::size_t>(std::ranges::count(made, ' '));
}

}  // namespace

TEST_CASE("a text is cut into the pieces that are most likely together") {
  struct Row {
    const char* name;
    std::string text;
    const char* pieces;
  };
  const Row rows[] = {
      {"empty", "", ""},
      {"words", "the dog", "▁the ▁dog"},
      {"a longer piece over two shorter ones", "doing", "▁ do ing"},
      {"letters", "ab", "▁ a b"},
      {"spaces", "  ", "▁ ▁ ▁"},
      {"a mark of its own", "▁the", "▁ ▁the"},
      {"unknown neighbours are one", "a%%%b", "▁ a ? b"},
      {"tab and line feed are unknown", "a\tb\n", "▁ a ? b ?"},
      {"upper case is another letter", "A", "▁ ?"},
      {"compatible forms", "ﬁ⑤", "▁ f i 5"},
      {"composed", "e\xCC\x81", "▁ é"},
      {"a no-break space is a space",
       "a\xC2\xA0"
       "b",
       "▁ a ▁ b"},
      {"not UTF-8", "a\xFF\xC3", "▁ a ?"},
      {"NUL", std::string("a\0b", 3), "▁ a ? b"},
      {"emoji", "👩‍👧", "▁ ?"},
      {"Chinese", "用户更喜欢", "▁ ?"},
  };
  for (const Row& row : rows) {
    SUBCASE(row.name) { CHECK(pieces_text(row.text) == row.pieces); }
  }
}

TEST_CASE("at most 128 pieces count, of texts of any size") {
  constexpr std::size_t kMegabyte = 1U << 20U;
  const auto repeated = [](std::string_view part) {
    std::string text;
    while (text.size() < kMegabyte) {
      text += part;
    }
    return text;
  };
  CHECK(piece_count(repeated("the ")) == kPiecesMax);
  CHECK(piece_count(repeated("xyz")) == kPiecesMax);
  CHECK(piece_count(repeated(" ")) == kPiecesMax);
  CHECK(piece_count(repeated("用")) == 2);
  CHECK(piece_count(repeated("\xFF")) == 2);
  CHECK(piece_count(repeated("\x80")) == 2);
  CHECK(piece_count(repeated("e\xCC\x81")) == kPiecesMax);
  CHECK(piece_count("x" + repeated("\xCC\x81")) == 3);
  CHECK(piece_count(repeated("\xEF\xB7\xBA")) > 2);  // 18 characters when taken apart.
}

TEST_CASE("what stands behind the pieces that count changes none of them") {
  std::string text;
  for (int word = 0; word < 600; ++word) {
    text += word % 3 == 0 ? "the " : "doing ";
  }
  CHECK(pieces_text(text) == pieces_text(text + "% behind"));
}

}  // namespace bmad_mem::test
