// context_reader.hpp - reads a context's Markdown strictly: what is not exactly as it is written is
// an error, so that nothing that an entry says can pass for structure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::test {

struct ReadItem {
  std::string section;              ///< Its title.
  std::string line;                 ///< Behind the dash; of a quoted one its label.
  std::vector<std::string> beside;  ///< Neighbours of an item that is not quoted.
  bool quoted = false;
  std::vector<std::string> data;  ///< Its lines in the fence, without label and marks.
};

struct ReadContext {
  std::vector<ReadItem> items;
  std::string problem;  ///< Empty when the text is a context.
};

ReadContext read_context(std::string_view markdown);

/// All of `markdown` that doesn't stand in a fence.
std::string outside_fences(std::string_view markdown);

/// The first character that nobody sees or that steers a terminal, as "U+202E"; empty when there is
/// none.
std::string hidden_character(std::string_view text);

}  // namespace bmad_mem::test
