// read_text.hpp - bytes as they are read once what hides them is gone, and where each came from.
//
//   "g%68p_"  ──►  g h p _   with the places 0..1 1..4 4..5 5..6
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "finders.hpp"
#include "text_scan.hpp"

namespace bmad_mem {

class ReadText {
 public:
  /// `c` stands for the bytes [begin, end) of the text.
  void add(char c, std::size_t begin, std::size_t end) {
    bytes_ += c;
    begins_.push_back(begin);
    ends_.push_back(end);
  }
  /// Drops what came from `place` on.
  void cut_to(std::size_t place) {
    while (!begins_.empty() && begins_.back() >= place) {
      bytes_.pop_back();
      begins_.pop_back();
      ends_.pop_back();
    }
  }
  void drop_last() {
    if (!bytes_.empty()) {
      cut_to(begins_.back());
    }
  }
  /// Appends the places in `text`, which it was read from, of what `find` finds.
  void find(std::string_view text, const FindSecrets& find, Detections& out) const {
    Detections inside;
    find(bytes_, inside);
    for (const Detection& each : inside) {
      if (each.begin < each.end) {
        const std::size_t end = ends_[each.end - 1];
        const bool has_half = end < text.size() && text[end] == '\0';  // Of a character of UTF-16.
        out.push_back({.begin = begins_[each.begin],
                       .end = end + (has_half ? 1 : 0),
                       .rule = each.rule,
                       .action = each.action});
      }
    }
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> ends_;
};

}  // namespace bmad_mem
