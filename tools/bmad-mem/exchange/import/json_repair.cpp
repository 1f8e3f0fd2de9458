#include "exchange/import/json_repair.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include "bmad_mem/utf8.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kEscapeSize = 6;  // \u0000
constexpr std::string_view kReplacement = "\\ufffd";

/// The code unit of the escape at `at`, if there is one.
std::optional<std::uint32_t> code_unit(std::string_view text, std::size_t at) {
  if (at + kEscapeSize > text.size() || text[at] != '\\' || text[at + 1] != 'u') {
    return std::nullopt;
  }
  std::uint32_t unit = 0;
  const char* const digits = text.data() + at + 2;
  const auto [stop, problem] = std::from_chars(digits, digits + 4, unit, 16);
  return problem == std::errc() && stop == digits + 4 ? std::optional(unit) : std::nullopt;
}

bool is_high(std::uint32_t unit) { return unit >= 0xD800U && unit < 0xDC00U; }
bool is_low(std::uint32_t unit) { return unit >= 0xDC00U && unit < 0xE000U; }

}  // namespace

std::string repaired_json(std::string_view text) {
  const std::string valid = utf8_repaired(text);
  const std::string_view in = valid;
  std::string out;
  out.reserve(in.size());
  for (std::size_t at = 0; at < in.size();) {
    if (in[at] != '\\') {
      out += in[at++];
      continue;
    }
    const std::optional<std::uint32_t> unit = code_unit(in, at);
    if (!unit) {
      out += in.substr(at, 2);  // Also "\\": the second is no beginning of an escape.
      at += 2;
      continue;
    }
    std::size_t size = kEscapeSize;
    bool good = *unit != 0 && !is_low(*unit);
    if (is_high(*unit)) {
      const std::optional<std::uint32_t> second = code_unit(in, at + kEscapeSize);
      good = second && is_low(*second);
      size = good ? 2 * kEscapeSize : kEscapeSize;
    }
    out += good ? in.substr(at, size) : kReplacement;
    at += size;
  }
  return out;
}

}  // namespace bmad_mem::cli
