#include "encoded.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bmad_mem {
namespace {

/// Shorter runs can't hold a secret that is worth the name.
constexpr std::size_t kBase64SizeMin = 20;

constexpr std::uint8_t kNoDigit = 0xFF;

/// The value of each base64 character, of the usual alphabet and the one for addresses.
constexpr std::array<std::uint8_t, 256> kBase64Digits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  digits['-'] = digits['+'];
  digits['_'] = digits['/'];
  return digits;
}();

std::uint8_t base64_digit(char c) { return kBase64Digits[static_cast<unsigned char>(c)]; }

/// The bytes behind `run`, whose characters are all base64 digits. What is left over is dropped.
std::string base64_decoded(std::string_view run) {
  std::string bytes;
  bytes.reserve(run.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : run) {
    bits = bits << 6U | base64_digit(c);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFFU);
    }
  }
  return bytes;
}

bool is_text(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

/// Whether the run begins like text: what doesn't is not decoded to its end.
bool may_be_text(std::string_view run) {
  constexpr std::size_t kLook = 16;
  return is_text(base64_decoded(run.substr(0, kLook)));
}

bool has_secret(const Detections& detections) {
  return std::ranges::any_of(
      detections, [](const Detection& each) { return each.certainty == Certainty::kSecret; });
}

/// The next run of at least kBase64SizeMin base64 characters from `at` on; empty at the end. Looks
/// at the far end of where a run would be, so that most of a text of short words is passed over.
std::string_view next_base64_run(std::string_view text, std::size_t at) {
  while (at + kBase64SizeMin <= text.size()) {
    std::size_t last = at + kBase64SizeMin;
    while (last > at && base64_digit(text[last - 1]) != kNoDigit) {
      --last;
    }
    if (last > at) {
      at = last;
      continue;
    }
    std::size_t end = at + kBase64SizeMin;
    while (end < text.size() && base64_digit(text[end]) != kNoDigit) {
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

void find_base64(std::string_view text,
                 const std::function<void(std::string_view, Detections&)>& find, Detections& out) {
  std::size_t at = 0;
  for (std::string_view run; !(run = next_base64_run(text, at)).empty();) {
    const auto begin = static_cast<std::size_t>(run.data() - text.data());
    at = begin + run.size();
    if (!may_be_text(run)) {
      continue;
    }
    const std::string decoded = base64_decoded(run);
    Detections inside;
    if (is_text(decoded)) {
      find(decoded, inside);
    }
    if (has_secret(inside)) {
      out.push_back(
          {.begin = begin, .end = at + padding_size(text.substr(at)), .rule = inside.front().rule});
    }
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Whether "%XX" stands at `at`.
bool is_escape(std::string_view text, std::size_t at) {
  return at + 2 < text.size() && text[at] == '%' && hex_digit(text[at + 1]) >= 0 &&
         hex_digit(text[at + 2]) >= 0;
}

/// A percent-encoded run, decoded, and where each of its bytes came from.
struct Decoded {
  std::string bytes;
  std::vector<std::size_t> places;  // One more than bytes: the end.
};

Decoded percent_decoded(std::string_view text, std::size_t begin, std::size_t end) {
  Decoded decoded;
  for (std::size_t at = begin; at < end;) {
    decoded.places.push_back(at);
    if (is_escape(text, at)) {
      decoded.bytes += static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]));
      at += 3;
    } else {
      decoded.bytes += text[at++];
    }
  }
  decoded.places.push_back(end);
  return decoded;
}

void find_percent(std::string_view text,
                  const std::function<void(std::string_view, Detections&)>& find, Detections& out) {
  constexpr std::string_view kBlanks = " \t\r\n\"'<>";
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string_view::npos; ++at) {
    if (!is_escape(text, at)) {
      continue;
    }
    const std::size_t before = text.find_last_of(kBlanks, at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    const Decoded decoded = percent_decoded(text, begin, end);
    Detections inside;
    find(decoded.bytes, inside);
    for (const Detection& each : inside) {
      out.push_back({.begin = decoded.places[each.begin],
                     .end = decoded.places[each.end],
                     .rule = each.rule,
                     .certainty = each.certainty});
    }
    at = end == text.size() ? end - 1 : end;
  }
}

}  // namespace

void find_encoded(std::string_view text,
                  const std::function<void(std::string_view, Detections&)>& find, Detections& out) {
  if (text.size() >= kBase64SizeMin) {
    find_base64(text, find, out);
  }
  find_percent(text, find, out);
}

}  // namespace bmad_mem
