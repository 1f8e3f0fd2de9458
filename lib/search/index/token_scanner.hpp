// token_scanner.hpp - text to tokens.
//
//   text     See src/getUserById.ts, v2.1
//   tokens   see, src/getuserbyid.ts, src, getuserbyid, get, user, by, id, ts, 2.1, 2, 1
//
// The scanner works on a copy of the text, whose end needs no watching because NULs follow it.
// ASCII tokens are views into a lower-cased copy; others are folded one by one. Threads: one
// scanner a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "search/analyzer.hpp"
#include "token_chunk.hpp"
#include "token_folder.hpp"

namespace bmad_mem {

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
