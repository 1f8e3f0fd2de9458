// token_scanner.hpp - text to tokens.
//
//   text     See src/getUserById.ts, v2.1
//   tokens   see, src/getuserbyid.ts, src, getuserbyid, get, user, by, id, ts, 2.1, 2, 1
//
// The scanner works on a copy of the text, whose end needs no watching because NULs follow it.
// ASCII tokens are views into a lower-cased copy; others are folded one by one. Threads: one
// scanner a thread.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "search/analyzer.hpp"
#include "token_folder.hpp"

namespace bmad_mem {

// What is between two gaps of a text, and where it can be cut.
//
//   chunk   src/getUserById.ts      word characters, joints and apostrophes without a gap
//   runs    |-| |---------| ||      what joints part
//   parts       |-||--||||-|        what changes of case part
//
// Threads: one reader a thread.

/// Bytes of a text, from `begin` to before `end`.
struct TextRun {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool has_inner_capital = false;  ///< Somewhere behind its first character.
};

struct Chunk {
  std::size_t begin = 0;  ///< Behind the v of v1.2.
  std::size_t end = 0;    ///< Behind the ++ of C++.
  bool wide = false;      ///< Something in it is not ASCII.
  bool is_name = false;   ///< Of several runs, and more than hyphenated words.
};

class ChunkReader {
 public:
  /// `apostrophe_parts`: whether an apostrophe parts words (l'eau) or belongs to one (don't).
  explicit ChunkReader(bool apostrophe_parts) : apostrophe_parts_(apostrophe_parts) {}

  /// What follows is about `text`, behind whose end are TextBlock::kSize NULs or more.
  void set_text(std::string_view text);

  /// The chunk at `begin`, where a word character stands. There is at least one run in it.
  Chunk read(std::size_t begin);

  /// The runs of the chunk read last.
  [[nodiscard]] const std::vector<TextRun>& runs() const { return runs_; }

  /// Where the part at `begin` of a run of that chunk ends. `end`: the end of the run.
  [[nodiscard]] std::size_t end_of_part(std::size_t begin, std::size_t end) const;

  /// `end`, or less, so that the possessive of "Caroline's" is left out; of the same chunk.
  [[nodiscard]] std::size_t without_possessive(std::size_t begin, std::size_t end) const;

 private:
  Chunk start(std::size_t begin);
  bool read_ascii(Chunk& chunk);
  void read_wide(Chunk& chunk);
  void take_letters(Chunk& chunk);
  void take_character(Chunk& chunk, CharClass cls, std::size_t size);
  bool take_apostrophe(Chunk& chunk, std::size_t size);
  bool take_joints(Chunk& chunk);
  [[nodiscard]] CharClass class_of(std::size_t at) const;
  [[nodiscard]] bool is_word_at(std::size_t at) const;
  [[nodiscard]] std::size_t suffix_size(const Chunk& chunk) const;
  [[nodiscard]] bool has_version_prefix(const Chunk& chunk) const;
  [[nodiscard]] bool begins_part(std::size_t at, std::size_t end, CharClass before,
                                 bool has_lower) const;

  bool apostrophe_parts_;
  bool named_ = false;  // The chunk has digits, or joints other than a hyphen.
  bool wide_ = false;   // The chunk is wide, its classes are noted.
  std::string_view text_;
  const char* chars_ = nullptr;     // Those of the text, and the NULs behind them.
  std::vector<CharClass> classes_;  // Parallel to the text; filled where wide chunks are.
  std::vector<TextRun> runs_;
};

class TokenScanner {
 public:
  /// `apostrophe_parts`: as for ChunkReader.
  explicit TokenScanner(bool apostrophe_parts) : chunks_(apostrophe_parts) {}

  /// The tokens of `text`, as Analyzer::tokenize() promises them. Valid until the next call.
  std::span<const Token> scan(std::string_view text);

 private:
  void copy(std::string_view text);
  std::size_t take_words(std::size_t at);
  std::size_t take_chunk(std::size_t begin);
  void add_run(const TextRun& run, bool wide);
  std::size_t take_wide(std::size_t begin);
  std::size_t take_unspaced(std::size_t begin);
  [[nodiscard]] std::size_t unit_end(std::size_t begin) const;

  void add(std::size_t begin, std::size_t end, bool wide, bool whole);
  void add_folded(std::size_t begin, std::size_t end, bool whole);
  void put(std::string_view token, std::size_t offset, std::size_t size, bool whole) {
    assert(!token.empty() && offset + size <= text_.size());
    // In place: a temporary, written field by field and copied at once, stalls the processor. And
    // not at the end of a vector, which takes twice the instructions.
    if (token_count_ == tokens_.size()) {
      tokens_.resize(2 * tokens_.size() + 64);
    }
    Token& slot = tokens_[token_count_++];
    slot.text = token;
    slot.offset = static_cast<std::uint32_t>(offset);
    slot.size = static_cast<std::uint32_t>(size);
    slot.whole = whole;
  }

  std::string_view text_;  // In copy_.
  std::vector<char> copy_;
  std::vector<char> lowered_;  // Parallel to the copy.
  std::vector<Token> tokens_;  // And room for more.
  std::size_t token_count_ = 0;
  ChunkReader chunks_;
  TokenFolder folder_;
};

}  // namespace bmad_mem
