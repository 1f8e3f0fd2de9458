#include "text.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "bmad_mem/rfc3339.hpp"

namespace bmad_mem::cli {
namespace {

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

}  // namespace

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  const std::size_t have = text_width(text);
  out.append(have < width ? width - have : 0, ' ');
  return out;
}

std::string padded_left(std::string_view text, std::size_t width) {
  const std::size_t have = text_width(text);
  std::string out(have < width ? width - have : 0, ' ');
  out += text;
  return out;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) {
    return std::string(text);
  }
  std::size_t size = 0;
  for (std::size_t left = width; size < text.size(); ++size) {
    if (starts_character(text[size]) && --left == 0) {
      break;
    }
  }
  return std::string(text.substr(0, size)) + "…";
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F steer terminals, too; in UTF-8 they are C2 80 to C2 9F.
    const bool is_c1 =
        byte == 0xC2U && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0U;
    if (is_c1) {
      ++i;
    }
    out += is_c1 || byte < 0x20U || byte == 0x7FU ? ' ' : text[i];
  }
  return out;
}

std::string format_size(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // 1023.95 would be printed as 1024.0.
  while (size >= 1023.95 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string format_count(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string format_count(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", format_count(count), count == 1 ? one : many);
}

std::string format_minute(Timestamp time) {
  static constexpr std::size_t kDateSize = 10;
  static constexpr std::size_t kMinuteSize = 16;
  std::string text = format_rfc3339(time).substr(0, kMinuteSize);
  text[kDateSize] = ' ';
  return text;
}

std::string Style::wrapped(std::string_view code, std::string_view text) const {
  return colours_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

}  // namespace bmad_mem::cli
