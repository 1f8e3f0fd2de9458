// marked_text.hpp - a text of a test with what should be found in it: "password=«hunter2»".
//
// A middle dot in it is left out: it keeps other people's scanners from taking it for a secret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bmad_mem::test {

struct MarkedText {
  std::string text;
  std::string expected;  ///< What stands in marks, each followed by '|', in the order of the text.

  explicit MarkedText(std::string_view marked) {
    constexpr std::string_view kOpen = "\u00ab";
    constexpr std::string_view kClose = "\u00bb";
    constexpr std::string_view kDot = "\u00b7";
    std::size_t open = 0;
    while (!marked.empty()) {
      if (marked.starts_with(kOpen)) {
        open = text.size();
        marked.remove_prefix(kOpen.size());
      } else if (marked.starts_with(kClose)) {
        expected += std::to_string(open) + ":" + text.substr(open) + "|";
        marked.remove_prefix(kClose.size());
      } else if (marked.starts_with(kDot)) {
        marked.remove_prefix(kDot.size());
      } else {
        text += marked.front();
        marked.remove_prefix(1);
      }
    }
  }
};

}  // namespace bmad_mem::test
