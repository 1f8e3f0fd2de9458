#include "context_reader.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace bmad_mem::test {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The fence that opens in `line`: three back-ticks or more and "text"; empty when it is none.
std::string fence_opened(const std::string& line) {
  const std::size_t ticks = std::min(line.find_first_not_of('`'), line.size());
  return ticks >= 3 && line.substr(ticks) == "text" ? line.substr(0, ticks) : std::string();
}

/// Whether CommonMark would end a fence of `ticks` back-ticks here.
bool closes(std::string line, std::size_t ticks) {
  line.erase(0, line.find_first_not_of(' ') < 4 ? line.find_first_not_of(' ') : 0);
  const std::size_t run = std::min(line.find_first_not_of('`'), line.size());
  return run >= ticks && line.find_first_not_of(' ', run) == std::string::npos;
}

bool is_title(const std::string& title) {
  static constexpr std::array kTitles = {"Critical constraints", "Knowledge about this task",
                                         "What was said and done", "What the user prefers",
                                         "Errors met before"};
  return std::ranges::find(kTitles, title) != kTitles.end() ||
         (title.starts_with("What ") && title.ends_with(" has learned"));
}

class Reader {
 public:
  explicit Reader(std::string_view markdown) : lines_(lines_of(markdown)) {}

  ReadContext run() {
    if (lines_.empty()) {
      return {};
    }
    if (!take("## Project memory (from earlier sessions)")) {
      return fail("no heading");
    }
    while (at_ < lines_.size() && context_.problem.empty()) {
      read_section();
    }
    return std::move(context_);
  }

 private:
  bool take(const std::string& line) {
    const bool is_there = at_ < lines_.size() && lines_[at_] == line;
    at_ += is_there ? 1 : 0;
    return is_there;
  }

  ReadContext fail(std::string_view why) {
    context_.problem = fmt::format("line {}: {}", at_ + 1, why);
    at_ = lines_.size();
    return context_;
  }

  void read_section() {
    if (!take("") || at_ >= lines_.size() || !lines_[at_].starts_with("### ") ||
        !is_title(lines_[at_].substr(4))) {
      fail("no section");
      return;
    }
    section_ = lines_[at_++].substr(4);
    const std::size_t count = context_.items.size();
    if (!take("")) {
      fail("no items");
      return;
    }
    while (at_ < lines_.size() && lines_[at_].starts_with("- ")) {
      read_item();
    }
    const bool has_items = context_.items.size() > count;
    const std::size_t data = at_ + (has_items ? 1 : 0);
    if (data < lines_.size() && lines_[data] == "Data, not instructions:" &&
        (!has_items || lines_[at_].empty())) {
      at_ = data + 1;
      read_fence();
    }
    if (context_.items.size() == count) {
      fail("no items");
    }
  }

  void read_item() {
    ReadItem item{.section = section_, .line = lines_[at_++].substr(2), .beside = {}, .data = {}};
    while (at_ < lines_.size() &&
           (lines_[at_].starts_with("  - before: ") || lines_[at_].starts_with("  - after: "))) {
      item.beside.push_back(lines_[at_++].substr(4));
    }
    context_.items.push_back(std::move(item));
  }

  /// What is quoted in a section: each item begins with a dash, and its other lines are indented.
  void read_fence() {
    const std::string fence = at_ < lines_.size() ? fence_opened(lines_[at_]) : std::string();
    if (fence.empty()) {
      fail("no fence");
      return;
    }
    const std::size_t count = context_.items.size();
    for (++at_; at_ < lines_.size() && !closes(lines_[at_], fence.size()); ++at_) {
      const std::string& line = lines_[at_];
      if (line.starts_with("| - ")) {
        const std::size_t end = std::min(line.find("): "), line.size() - 3);
        context_.items.push_back({.section = section_,
                                  .line = line.substr(4, end + 1 - 4),
                                  .beside = {},
                                  .quoted = true,
                                  .data = {line.substr(end + 3)}});
      } else if (line.starts_with("|   ") && context_.items.size() > count) {
        context_.items.back().data.push_back(line.substr(4));
      } else {
        fail("not quoted");
        return;
      }
    }
    if (!take(fence)) {
      fail("the fence is not closed as it was opened");
    }
  }

  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  std::string section_;
  ReadContext context_;
};

/// The characters of valid UTF-8.
std::vector<std::uint32_t> characters(std::string_view text) {
  std::vector<std::uint32_t> found;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      found.push_back(byte);
    } else if (byte >= 0xC0) {
      found.push_back(byte & (byte >= 0xF0 ? 0x07U : byte >= 0xE0 ? 0x0FU : 0x1FU));
    } else if (!found.empty()) {
      found.back() = found.back() << 6U | (byte & 0x3FU);
    }
  }
  return found;
}

}  // namespace

ReadContext read_context(std::string_view markdown) { return Reader(markdown).run(); }

std::string outside_fences(std::string_view markdown) {
  std::string outside;
  std::string fence;
  for (const std::string& line : lines_of(markdown)) {
    if (!fence.empty()) {
      fence = closes(line, fence.size()) ? std::string() : fence;
    } else if (fence = fence_opened(line); fence.empty()) {
      outside += line + '\n';
    }
  }
  return outside;
}

std::string hidden_character(std::string_view text) {
  const auto is_hidden = [](std::uint32_t c) {
    const auto in = [c](std::uint32_t first, std::uint32_t last) {
      return c >= first && c <= last;
    };
    return (c < 0x20 && c != '\n') || in(0x7F, 0x9F) || c == 0xAD || c == 0x61C || c == 0x180E ||
           in(0x200B, 0x200F) || in(0x2028, 0x202E) || in(0x2060, 0x206F) || c == 0xFEFF ||
           in(0xFE00, 0xFE0F) || c == 0x3164 || in(0xE0000, 0xE0FFF);
  };
  const std::vector<std::uint32_t> all = characters(text);
  const auto found = std::ranges::find_if(all, is_hidden);
  return found == all.end() ? std::string() : fmt::format("U+{:04X}", *found);
}

}  // namespace bmad_mem::test
