// read_text.hpp - bytes as they are read once what hides them is gone, and where each came from.
//
//   "g%68p_"  ──►  g h p _   with the places 0..1 1..4 4..5 5..6
//
// signs.cpp finds the bytes that are read as others, or as none:
//
//   next_sign of `a\u0067hp_…`  ──►  [1, 7) is read as "g"
#pragma once

#include <array>
#include <cassert>
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
    assert(begin < end && "each byte comes from somewhere");
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
        assert(each.end <= ends_.size() && ends_.size() == bytes_.size());
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

/// Bytes of a text that stand for other ones, or for none.
struct Sign {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< Equal to `begin`: there is none.
  std::array<char, 4> bytes = {};
  std::size_t size = 0;  ///< Of `bytes`.
  bool is_colour = false;
  bool is_erased = false;  ///< The character before is as well.
  bool is_part = false;    ///< It parts a token, and nothing else is read so.

  [[nodiscard]] bool exists() const { return end > begin; }
};

/// The first sign from `from` on; none when there is no other. Secrets in lists of characters and
/// of numbers go to `out`.
Sign next_sign(std::string_view text, std::size_t from, Detections& out);

}  // namespace bmad_mem
