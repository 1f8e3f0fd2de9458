// keyword_scan.hpp - one walk over a text for the words of tokens and those of structures.
//
//   text ── 3 bytes at each place ──► a word of one of both? ──► TokenScan, StructureWords
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "keyword_index.hpp"
#include "structure_scan.hpp"

namespace bmad_mem {

/// Looks for a token at a keyword of its rule. token_rules.cpp
class TokenScan {
 public:
  TokenScan(std::string_view text, Detections& out) : text_(text), out_(out) {}

  static const KeywordIndex& keywords();
  void operator()(std::size_t at, std::string_view word, std::uint16_t index);

 private:
  std::string_view text_;
  Detections& out_;
  std::size_t long_end_ = 0;  ///< Behind a token in which no other is looked for.
};

/// Looks for a secret after the word that announces it. structures.cpp
class StructureWords {
 public:
  StructureWords(std::string_view text, Detections& out) : scan_{.text = text, .out = out} {}

  static const KeywordIndex& keywords();
  void operator()(std::size_t at, std::string_view word, std::uint16_t index);

 private:
  StructureScan scan_;
};

}  // namespace bmad_mem
