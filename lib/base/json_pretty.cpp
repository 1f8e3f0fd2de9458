// pretty.cpp - JSON laid out for people, token by token: nothing is decoded, so nothing changes.
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

bool is_opening(char c) { return c == '{' || c == '['; }

bool is_closing(char c) { return c == '}' || c == ']'; }

class Layout {
 public:
  explicit Layout(std::string_view text) : text_(text) {}

  std::string run() {
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      token();
    }
    return std::move(out_);
  }

 private:
  void token() {
    const char c = text_[at_];
    if (is_opening(c)) {
      open();
    } else if (is_closing(c)) {
      --depth_;
      line_break();
      copy(1);
    } else if (c == ',') {
      copy(1);
      line_break();
    } else if (c == ':') {
      copy(1);
      out_ += ' ';
    } else {
      copy(scalar_size());
    }
  }

  void open() {
    const std::size_t flat = flat_size();
    if (flat != 0) {
      append_flat(text_.substr(at_, flat));
      at_ += flat;
      return;
    }
    copy(1);
    ++depth_;
    line_break();
  }

  /// Size of the container at the front when it is empty, or an array of scalars short enough to
  /// read on one line; 0 otherwise.
  [[nodiscard]] std::size_t flat_size() const {
    constexpr std::size_t kFlatMax = 80;
    const bool is_array = text_[at_] == '[';
    bool in_string = false;
    for (std::size_t i = at_ + 1; i < text_.size() && i - at_ < kFlatMax; ++i) {
      const char c = text_[i];
      if (in_string) {
        i += static_cast<std::size_t>(c == '\\');
        in_string = c != '"';
      } else if (is_closing(c)) {
        return i - at_ + 1;
      } else if (is_opening(c) || (!is_array && !is_space(c))) {
        return 0;
      } else {
        in_string = c == '"';
      }
    }
    return 0;
  }

  void append_flat(std::string_view flat) {
    bool in_string = false;
    for (std::size_t i = 0; i < flat.size(); ++i) {
      const char c = flat[i];
      if (in_string && c == '\\') {
        out_ += c;
        out_ += flat[++i];
        continue;
      }
      in_string = in_string != (c == '"');
      if (in_string || !is_space(c)) {
        out_ += c;
        out_ += !in_string && c == ',' ? " " : "";
      }
    }
  }

  [[nodiscard]] std::size_t scalar_size() const {
    std::size_t i = at_;
    if (text_[i] == '"') {
      for (++i; text_[i] != '"'; ++i) {
        i += static_cast<std::size_t>(text_[i] == '\\');
      }
      return i - at_ + 1;
    }
    while (i < text_.size() && !is_space(text_[i]) && !is_closing(text_[i]) && text_[i] != ',') {
      ++i;
    }
    return i - at_;
  }

  void copy(std::size_t size) {
    out_ += text_.substr(at_, size);
    at_ += size;
  }
  void line_break() {
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_space(text_[at_])) {
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::string json_pretty(std::string_view text) { return Layout(text).run(); }

}  // namespace bmad_mem
