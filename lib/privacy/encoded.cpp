// encoded.cpp - secrets behind one layer of base64, also in lines, or percent encoding.
#include <algorithm>
#include <cstddef>
#include <string>

#include "base/base64.hpp"
#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "read_text.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

/// Shorter runs can't hold a secret that is worth the name.
constexpr std::size_t kBase64SizeMin = 20;

bool is_printed_text(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

/// Whether the run begins like text: what doesn't is not decoded to its end.
bool may_be_text(std::string_view run) {
  constexpr std::size_t kLook = 16;
  return is_printed_text(*base64_decoded(run.substr(0, kLook)));
}

bool has_secret(const Detections& detections) {
  return std::ranges::any_of(
      detections, [](const Detection& each) { return each.action == DetectionAction::kSecret; });
}

/// The next run of at least kBase64SizeMin base64 characters from `at` on; empty at the end. Looks
/// at the far end of where a run would be, so that most of a text of short words is passed over.
std::string_view next_base64_run(std::string_view text, std::size_t at) {
  while (at + kBase64SizeMin <= text.size()) {
    std::size_t last = at + kBase64SizeMin;
    while (last > at && is_base64_digit(text[last - 1])) {
      --last;
    }
    if (last > at) {
      at = last;
      continue;
    }
    std::size_t end = at + kBase64SizeMin;
    while (end < text.size() && is_base64_digit(text[end])) {
      ++end;
    }
    return text.substr(at, end - at);
  }
  return {};
}

/// How many '=' stand at the beginning of `rest`: two at most.
std::size_t padding_size(std::string_view rest) {
  return rest.starts_with("==") ? 2U : rest.starts_with('=') ? 1U : 0U;
}

/// Where the next line of base64 begins when the one before ends at `at`; npos: it has none.
std::size_t next_base64_line(std::string_view text, std::size_t at) {
  constexpr std::size_t kIndentMax = 64;
  if (text.substr(at).starts_with("\\n")) {
    at += 2;  // In a text that was escaped.
  } else {
    at += byte_at(text, at) == '\r' ? 1U : 0U;
    if (byte_at(text, at) != '\n') {
      return std::string_view::npos;
    }
    ++at;
  }
  return blanks_end(text, std::min(at, text.size()), kIndentMax);
}

/// Lines of base64, all as long as the first but for the last.
struct Base64Lines {
  std::string joined;  // Empty when there is but one.
  std::size_t end = 0;
};
Base64Lines base64_lines(std::string_view text, std::string_view first) {
  const auto begin = static_cast<std::size_t>(first.data() - text.data());
  Base64Lines lines{.joined = {}, .end = begin + first.size()};
  for (std::size_t size = first.size(); size == first.size();) {
    const std::size_t next = next_base64_line(text, lines.end);
    if (next == std::string_view::npos) {
      break;
    }
    const std::size_t end = run_end(text, next, is_base64_digit, first.size() + 1);
    size = end - next;
    const bool is_last = size < first.size();
    if (size == 0 || size > first.size() ||
        (is_last && std::string_view(" \t.,:;-").contains(byte_at(text, end)) &&
         end < text.size())) {
      break;  // A word that begins the next line.
    }
    if (lines.joined.empty()) {
      lines.joined = first;
    }
    lines.joined += text.substr(next, size);
    lines.end = end;
  }
  return lines;
}

void find_base64(std::string_view text, const FindSecrets& find, Detections& out) {
  std::size_t at = 0;
  for (std::string_view run; !(run = next_base64_run(text, at)).empty();) {
    const auto begin = static_cast<std::size_t>(run.data() - text.data());
    at = begin + run.size();
    find_near(text, begin, at, out);
    if (!may_be_text(run)) {
      continue;
    }
    const Base64Lines lines = base64_lines(text, run);
    at = lines.end;
    const std::string decoded = *base64_decoded(lines.joined.empty() ? run : lines.joined);
    Detections inside;
    if (is_printed_text(decoded)) {
      find(decoded, inside);
    }
    if (has_secret(inside)) {
      out.push_back(
          {.begin = begin, .end = at + padding_size(text.substr(at)), .rule = inside.front().rule});
    }
  }
}

/// Whether "%XX" stands at `at`.
bool is_escape(std::string_view text, std::size_t at) {
  return at + 2 < text.size() && text[at] == '%' && is_hex_digit(text[at + 1]) &&
         is_hex_digit(text[at + 2]);
}

void find_percent(std::string_view text, const FindSecrets& find, Detections& out) {
  constexpr std::string_view kBlanks = " \t\r\n\"'<>";
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string_view::npos; ++at) {
    if (!is_escape(text, at)) {
      continue;
    }
    const std::size_t before = text.find_last_of(kBlanks, at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    ReadText decoded;
    for (std::size_t i = begin; i < end;) {
      std::size_t size = is_escape(text, i) ? 3 : 1;
      while (size > 1 && text.substr(i + size - 2).starts_with("25") &&
             all_are(text.substr(i + size, 2), is_hex_digit) && i + size + 2 <= end) {
        size += 2;  // "%2541": encoded twice.
      }
      decoded.add(size == 1 ? text[i]
                            : static_cast<char>(hex_value(text[i + size - 2]) * 16 +
                                                hex_value(text[i + size - 1])),
                  i, i + size);
      i += size;
    }
    decoded.find(text, find, out);
    at = end == text.size() ? end - 1 : end;
  }
}

}  // namespace

void find_encoded(std::string_view text, const FindSecrets& find, Detections& out) {
  if (text.size() >= kBase64SizeMin) {
    find_base64(text, find, out);
  }
  find_percent(text, find, out);
}

std::string decode_base64(std::string_view encoded) {
  while (encoded.ends_with('=')) {
    encoded.remove_suffix(1);
  }
  return encoded.size() % 4 != 1 ? base64_decoded(encoded).value_or("") : std::string();
}

bool is_encoded_login(std::string_view text) {
  constexpr std::size_t kSizeMin = 4;
  constexpr std::size_t kSizeMax = 4096;
  if (text.size() < kSizeMin || text.size() > kSizeMax) {
    return false;
  }
  const std::string login = decode_base64(text);
  return login.find(':', 1) != std::string::npos &&
         std::ranges::all_of(login, [](char c) { return (c >= ' ' && c <= '~') || !is_ascii(c); });
}

}  // namespace bmad_mem
