// value_text.cpp - values as text: for people, for search and for messages.
#include "value_text.hpp"

#include <cassert>
#include <cstdint>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

void append_text(std::string_view text, char between, std::string& out) {
  if (text.empty()) {
    return;
  }
  if (!out.empty() && out.back() != between) {
    out += between;
  }
  out += text;
}

/// How the character at the front of a text is treated in one line.
enum class Treatment : std::uint8_t { kKeep, kBlank, kDrop };

/// `character` is one code point in UTF-8.
Treatment treatment_of(std::string_view character) {
  assert(!character.empty());
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (byte(0) <= ' ' || byte(0) == 0x7F) {
    return Treatment::kBlank;
  }
  if (character.size() == 2 && byte(0) == 0xC2 && byte(1) <= 0xA0) {
    return Treatment::kBlank;  // C1 control characters, the no-break space.
  }
  if (character.size() == 3 && byte(0) == 0xE2) {
    const bool separator = byte(1) == 0x80 && (byte(2) == 0xA8 || byte(2) == 0xA9);
    const bool override = byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE;
    const bool isolate = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
    if (separator) {
      return Treatment::kBlank;  // U+2028, U+2029
    }
    if (override || isolate) {
      return Treatment::kDrop;  // U+202A .. U+202E, U+2066 .. U+2069
    }
  }
  return Treatment::kKeep;
}

}  // namespace

void append_value_shown(JsonValue value, std::string& out) {
  if (value.is_string()) {
    out += value.string();
  } else {
    out += json_of(value);
  }
}

void append_value_words(JsonValue value, bool everything, char between, std::string& out) {
  switch (value.kind()) {
    case JsonKind::kString:
      append_text(value.string(), between, out);
      break;
    case JsonKind::kInteger:
    case JsonKind::kUnsigned:
    case JsonKind::kReal:
      if (everything) {
        append_text(json_of(value), between, out);
      }
      break;
    case JsonKind::kArray:
      for (const JsonValue element : value.elements()) {
        append_value_words(element, everything, between, out);
      }
      break;
    case JsonKind::kObject:
      for (const JsonMember& member : value.members()) {
        if (everything) {
          append_text(member.key, between, out);
        }
        append_value_words(member.value, everything, between, out);
      }
      break;
    case JsonKind::kAbsent:
    case JsonKind::kNull:
    case JsonKind::kBoolean:
      break;
  }
}

std::string value_excerpt(JsonValue value) {
  constexpr std::size_t kWidthMax = 60;
  if (value.is_string()) {
    return '"' + one_line(value.string(), kWidthMax) + '"';
  }
  return one_line(json_of(value), kWidthMax);
}

std::string one_line(std::string_view text, std::size_t width_max) {
  std::string line;
  std::size_t width = 0;
  std::size_t size_before_last = 0;  // Where the last character starts, to make room for "…".
  bool blank_due = false;
  const auto append = [&](std::string_view character) {
    size_before_last = line.size();
    line += character;
    ++width;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, utf8_character_size(text.substr(at)));
    at += character.size();
    const Treatment treatment = treatment_of(character);
    if (treatment == Treatment::kBlank) {
      blank_due = !line.empty();
    }
    if (treatment != Treatment::kKeep) {
      continue;
    }
    if (width + (blank_due ? 1 : 0) >= width_max) {
      if (width >= width_max) {
        line.resize(size_before_last);
      }
      line += "…";
      return line;
    }
    if (blank_due) {
      append(" ");
      blank_due = false;
    }
    append(character);
  }
  assert(width <= width_max);
  return line;
}

}  // namespace bmad_mem
