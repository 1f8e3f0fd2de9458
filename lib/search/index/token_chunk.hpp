// token_chunk.hpp - what stands between two gaps of a text, and where it can be cut.
//
//   chunk   src/getUserById.ts      word characters, joints and apostrophes without a gap
//   runs    |-| |---------| ||      what joints part
//   parts       |-||--||||-|        what changes of case part
//
// Threads: one reader a thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "token_classes.hpp"

namespace bmad_mem {

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

}  // namespace bmad_mem
