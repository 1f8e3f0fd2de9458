#include "access_scanner.hpp"

#include <charconv>

#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem {
namespace {

/// Takes expected pieces off the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool take(std::string_view literal) {
    if (!text_.starts_with(literal)) {
      return false;
    }
    text_.remove_prefix(literal.size());
    return true;
  }

  /// Up to a quote, which goes too. Text with escapes is for the parser.
  bool take_text(std::string_view& out) {
    std::size_t size = 0;
    for (; size < text_.size() && text_[size] != '"'; ++size) {
      if (text_[size] == '\\' || static_cast<unsigned char>(text_[size]) < 0x20) {
        return false;
      }
    }
    if (size == text_.size()) {
      return false;
    }
    out = text_.substr(0, size);
    text_.remove_prefix(size + 1);
    return true;
  }

  bool take_count(std::uint64_t& out) {
    constexpr std::size_t kDigitsMax = 15;  // Sums stay within 64 bits, and within a double.
    const char* const start = text_.data();
    const auto [stop, problem] = std::from_chars(start, start + text_.size(), out);
    const auto size = static_cast<std::size_t>(stop - start);
    if (problem != std::errc() || size > kDigitsMax) {
      return false;
    }
    text_.remove_prefix(size);
    return true;
  }

  bool take_time(Timestamp& out) {
    std::string_view text;
    if (!take_text(text)) {
      return false;
    }
    const std::optional<Timestamp> time = try_parse_rfc3339(text);
    out = time.value_or(Timestamp{});
    return time.has_value();
  }

  [[nodiscard]] bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

bool scan_one(Cursor cursor, AccessLine& line) {
  std::string_view id;
  if (!cursor.take_text(id) || !cursor.take(",\"count\":") || !cursor.take_count(line.count) ||
      !cursor.take(",\"last\":\"") || !cursor.take_time(line.last) || !cursor.take("}")) {
    return false;
  }
  line.ids.assign(1, id);
  return cursor.at_end();
}

bool scan_several(Cursor cursor, AccessLine& line) {
  line.ids.clear();
  line.count = 1;
  if (!cursor.take_time(line.last) ||
      (cursor.take(",\"count\":") && !cursor.take_count(line.count)) ||
      !cursor.take(",\"ids\":[")) {
    return false;
  }
  do {
    std::string_view id;
    if (!cursor.take("\"") || !cursor.take_text(id)) {
      return false;
    }
    line.ids.push_back(id);
  } while (cursor.take(","));
  return cursor.take("]}") && cursor.at_end();
}

}  // namespace

bool scan_access_line(std::string_view text, AccessLine& line) {
  Cursor cursor(text);
  if (cursor.take("{\"id\":\"")) {
    return scan_one(cursor, line);
  }
  return cursor.take("{\"at\":\"") && scan_several(cursor, line);
}

}  // namespace bmad_mem
