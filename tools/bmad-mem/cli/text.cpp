// text.cpp - formats numbers, sizes, ages and quoted text for people.
#include "cli/text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
namespace {

/// Tells what of a text is seen, byte after byte: Style's escape sequences are not.
class Seen {
 public:
  /// Whether a character begins here.
  bool begins(char byte) {
    const bool is_escape = in_escape_ || byte == '\033';
    in_escape_ = is_escape && byte != 'm';
    return !is_escape && !is_continuation(byte);
  }

 private:
  bool in_escape_ = false;
};

/// The last `width` characters of `text`, or all of it.
std::string_view last_characters(std::string_view text, std::size_t width) {
  std::size_t at = text.size();
  for (; width > 0 && at > 0; --width) {
    do {
      --at;
    } while (at > 0 && is_continuation(text[at]));
  }
  return text.substr(at);
}

}  // namespace

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [seen = Seen()](char byte) mutable { return seen.begins(byte); }));
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
  Seen seen;
  for (std::size_t left = width; size < text.size(); ++size) {
    if (seen.begins(text[size]) && --left == 0) {
      break;
    }
  }
  return std::string(text.substr(0, size)) + "…";
}

namespace {

/// Bytes of the character at the beginning of `rest` when it turns the direction of writing, or is
/// there only for programs; else 0. What joins letters in Persian, or emoji, stays.
std::size_t unseen_size(std::string_view rest) {
  const auto byte = [&](std::size_t i) {
    return i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0U;
  };
  const auto is_in = [](unsigned value, unsigned first, unsigned last) {
    return value >= first && value <= last;
  };
  if (byte(0) == 0xE2U && byte(1) == 0x80U) {  // U+200B, 200E, 200F, 202A to 202E.
    const unsigned last = byte(2);
    return last == 0x8BU || is_in(last, 0x8EU, 0x8FU) || is_in(last, 0xAAU, 0xAEU) ? 3 : 0;
  }
  if (byte(0) == 0xE2U && byte(1) == 0x81U) {  // U+2060 to 206F.
    return is_in(byte(2), 0xA0U, 0xAFU) ? 3 : 0;
  }
  if (rest.starts_with("\xEF\xBB\xBF")) {
    return 3;
  }
  const bool is_tag = byte(0) == 0xF3U && byte(1) == 0xA0U;  // U+E0000 to E0FFF.
  return is_tag && rest.size() >= 4 ? 4 : 0;
}

}  // namespace

std::optional<double> real_in(std::string_view text) {
  if (text.starts_with('+') ||
      text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string copy(text);
  char* stop = nullptr;
  const double number = std::strtod(copy.c_str(), &stop);  // No locale is set: the point is '.'.
  const bool is_whole = stop != copy.c_str() && *stop == '\0' && std::isfinite(number);
  return is_whole ? std::optional(number) : std::nullopt;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t unseen = is_ascii(text[i]) ? 0 : unseen_size(text.substr(i));
    if (unseen > 0) {
      i += unseen - 1;
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F steer terminals, too; in UTF-8 they are C2 80 to C2 9F.
    const bool is_c1 =
        byte == 0xC2U && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0U;
    out += is_c1 || byte < 0x20U || byte == 0x7FU ? ' ' : text[i];
    i += is_c1 ? 1 : 0;
  }
  return out;
}

std::string wrapped(std::string_view text, std::size_t width, std::string_view indent) {
  std::string out(indent);
  std::size_t used = 0;
  bool is_first = true;
  while (is_first || !text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const std::size_t word_width = text_width(word);
    if (!is_first && used + 1 + word_width > width) {
      out += '\n';
      out += indent;
      used = 0;
    } else if (!is_first) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word_width;
    is_first = false;
  }
  return out + '\n';
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

namespace {

/// One process has one stdout.
bool times_are_local = false;

std::string local_minute(Timestamp time) {
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) {
    return format_minute(time);
  }
  const long minutes = local.tm_gmtoff / 60;
  const long size = minutes < 0 ? -minutes : minutes;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}{}{:02}:{:02}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min,
                     minutes < 0 ? '-' : '+', size / 60, size % 60);
}

}  // namespace

void show_local_times(bool are_local) { times_are_local = are_local; }

std::string shown_minute(Timestamp time) {
  return times_are_local ? local_minute(time) : format_minute(time);
}

std::string shown_time(Timestamp time) {
  return times_are_local ? local_minute(time) : format_rfc3339(time);
}

std::string block_bar(double share, std::size_t width) {
  static constexpr std::array<std::string_view, 8> kParts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double clamped = std::clamp(share, 0.0, 1.0);
  auto eighths = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width) * 8));
  eighths = std::max<std::size_t>(eighths, clamped > 0 ? 1 : 0);
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) {
    out += "█";
  }
  out += kParts[eighths % 8];
  return out;
}

std::string pointed_out(std::string_view text, std::uint64_t line, std::uint64_t column,
                        std::size_t width) {
  for (; line > 1; --line) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  if (column <= text.find('\n')) {  // Else the column counts across the lines.
    text = text.substr(0, text.find('\n'));
  }
  const std::size_t at = std::min<std::size_t>(column == 0 ? 0 : column - 1, text.size());
  std::string before = utf8_repaired(printable(text.substr(0, at)));
  const std::string behind = utf8_repaired(printable(text.substr(at)));
  if (text_width(before) > width * 2 / 3) {
    before = fmt::format("…{}", last_characters(before, width / 2));
  }
  const std::size_t caret = text_width(before);
  return fmt::format("  {}{}\n  {}^\n", before, shortened(behind, width - caret),
                     std::string(caret, ' '));
}

std::string Style::wrapped(std::string_view code, std::string_view text) const {
  return colours_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

namespace {

constexpr std::size_t kDistanceMax = 3;
/// From how many letters on a beginning is taken for the whole word.
constexpr std::size_t kBeginningSizeMin = 3;

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t best_distance = kDistanceMax + 1;
  for (const std::string_view known : words) {
    const bool is_beginning = word.size() >= kBeginningSizeMin && known.starts_with(word);
    const bool is_shuffled =  // Letters that changed places.
        word.size() == known.size() && std::ranges::is_permutation(word, known);
    const std::size_t distance = std::min<std::size_t>(
        edit_distance(word, known, kDistanceMax), is_beginning || is_shuffled ? 1 : best_distance);
    const std::size_t limit = std::max<std::size_t>(std::max(word.size(), known.size()) / 3, 1);
    if (distance < best_distance && distance <= limit) {
      best = known;
      best_distance = distance;
    }
  }
  return best;
}

Result<Timestamp> parse_time(std::string_view text, Timestamp now, RangeEnd end,
                             std::string_view field) {
  if (const std::optional<QueryTime> time = QueryTime::try_parse(text, end)) {
    return time->at(now);
  }
  return invalid_query(field, fmt::format("'{}' is not a time; write {}", text, QueryTime::kForms));
}

std::string_view without_front_matter(std::string_view text) {
  constexpr std::string_view kFence = "---\n";
  const std::size_t end =
      text.starts_with(kFence) ? text.find("\n---\n", kFence.size() - 1) : std::string_view::npos;
  if (end == std::string_view::npos) {
    return text;
  }
  text.remove_prefix(end + 1 + kFence.size());
  text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
  return text;
}

std::string fenced_text(std::string_view text) {
  const std::string fence(std::max<std::size_t>(3, longest_run(text, '`') + 1), '`');
  return fmt::format("{}text\n{}{}{}\n", fence, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string_view(R"('\'')") : std::string_view(&c, 1);
  }
  return quoted + "'";
}

}  // namespace bmad_mem::cli
