// yaml_text.cpp - writes JSON values as YAML in block style.
#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "exchange/export/export_writer.hpp"

namespace bmad_mem::cli {
namespace {

/// Longest key that may stand without "? " in front; YAML 1.2 allows 1024 characters.
constexpr std::size_t kKeySizeMax = 1000;

/// Whether YAML 1.1 or 1.2 takes the word for something else than a string.
bool is_reserved(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords = {"true", "false", "null", "yes", "no",
                                                             "on",   "off",   "y",    "n"};
  return is_among(kWords, lower_ascii(text));
}

/// Letters first, then what has no meaning anywhere in a plain scalar.
bool is_plain(std::string_view text) {
  if (text.empty() || !is_letter(text.front()) || text.ends_with(' ') || is_reserved(text)) {
    return false;
  }
  return std::ranges::all_of(text, [](char c) {
    return is_alnum(c) || std::string_view(" _-./@+()").find(c) != std::string_view::npos;
  });
}

/// The code point that must be escaped at `text[at]`, and its size in bytes; size 0 when none must.
struct Escape {
  unsigned code = 0;
  std::size_t size = 0;
};

/// Control characters, the line breaks of Unicode, the byte order mark and non-characters.
Escape escape_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  assert(at < text.size());
  const unsigned first = byte(0);
  if (first < 0x20 || first == 0x7F) {
    return {first, 1};
  }
  if (first == 0xC2 && byte(1) < 0xA0) {
    return {byte(1), 2};
  }
  if (first >= 0xE0 && first < 0xF0) {
    const unsigned code = (first & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
    if (code == 0x2028 || code == 0x2029 || code == 0xFEFF || code >= 0xFFFE) {
      return {code, 3};
    }
  }
  return {};
}

/// Whether the text can stand as lines below its key. Blanks in front would need an indentation
/// indicator, which few readers get right.
bool fits_block(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.front() == ' ' || text.front() == '\n' ||
      text.front() == '\t') {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n' && text[i] != '\t' && escape_at(text, i).size != 0) {
      return false;
    }
  }
  return true;
}

void append_block(std::string& out, std::string_view text, std::size_t indent) {
  // What stands behind the last line: "-" no line break, nothing one, "+" all there are.
  assert(fits_block(text));
  const bool ends = text.ends_with('\n');
  out += !ends ? "|-\n" : text.ends_with("\n\n") ? "|+\n" : "|\n";
  if (ends) {
    text.remove_suffix(1);
  }
  while (true) {
    const std::size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    if (!line.empty()) {
      out.append(indent, ' ').append(line);
    }
    out += '\n';
    if (newline == std::string_view::npos) {
      return;
    }
    text.remove_prefix(newline + 1);
  }
}

/// A number of JSON, so that YAML 1.1 takes it for one too: "1e5" lacks point and sign.
std::string yaml_number(std::string_view raw) {
  const std::size_t e = raw.find_first_of("eE");
  if (e == std::string_view::npos) {
    return std::string(raw);
  }
  const std::string_view mantissa = raw.substr(0, e);
  const std::string_view exponent = raw.substr(e + 1);
  assert(!exponent.empty() && "the number was parsed");
  return fmt::format("{}{}e{}{}", mantissa,
                     mantissa.find('.') == std::string_view::npos ? ".0" : "",
                     is_digit(exponent.front()) ? "+" : "", exponent);
}

void append_value(std::string& out, JsonValue value, std::string_view raw, std::size_t indent);

void append_elements(std::string& out, JsonValue array, std::string_view raw, std::size_t indent) {
  const std::vector<std::string_view> raws = json_elements(raw);
  std::size_t i = 0;
  for (const JsonValue element : array.elements()) {
    assert(i < raws.size());
    out.append(indent, ' ').append("-");
    if (element.is_object() && !json_members(raws[i]).empty()) {
      out += ' ';
      append_yaml_members(out, element, raws[i], indent + 2);
    } else {
      append_value(out, element, raws[i], indent + 2);
    }
    ++i;
  }
}

/// What stands behind "key:" or "-", with the blank or line break before it and a line break
/// behind.
void append_value(std::string& out, JsonValue value, std::string_view raw, std::size_t indent) {
  if (value.is_object() && !json_members(raw).empty()) {
    out.append("\n").append(indent, ' ');
    append_yaml_members(out, value, raw, indent);
  } else if (value.is_array() && !json_elements(raw).empty()) {
    out += '\n';
    append_elements(out, value, raw, indent);
  } else if (value.is_object() || value.is_array()) {
    out += value.is_object() ? " {}\n" : " []\n";
  } else if (value.is_string() && fits_block(value.string())) {
    out += ' ';
    append_block(out, value.string(), indent);
  } else if (value.is_string()) {
    out += " " + yaml_scalar(value.string()) + "\n";
  } else {
    out += " " + (value.is_number() ? yaml_number(raw) : std::string(raw)) + "\n";
  }
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  if (is_plain(text)) {
    return std::string(text);
  }
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const Escape escape = escape_at(text, i);
    if (escape.size != 0) {
      out += escape.code == '\n'   ? "\\n"
             : escape.code == '\t' ? "\\t"
             : escape.code == '\r' ? "\\r"
             : escape.code < 0x100 ? fmt::format("\\x{:02x}", escape.code)
                                   : fmt::format("\\u{:04x}", escape.code);
      i += escape.size;
      continue;
    }
    out += text[i] == '"' || text[i] == '\\' ? "\\" : "";
    out += text[i];
    ++i;
  }
  return out + "\"";
}

void append_yaml_members(std::string& out, JsonValue object, std::string_view raw,
                         std::size_t indent) {
  const std::vector<MemberText> raws = json_members(raw);
  if (raws.empty()) {
    out += "{}\n";
  }
  std::size_t i = 0;
  for (const JsonMember& member : object.members()) {
    assert(i < raws.size());
    if (i > 0) {
      out.append(indent, ' ');
    }
    const std::string key = yaml_scalar(member.key);
    if (key.size() > kKeySizeMax) {
      out.append("? ").append(key).append("\n").append(indent, ' ').append(":");
    } else {
      out.append(key).append(":");
    }
    append_value(out, member.value, raws[i].value, indent + 2);
    ++i;
  }
}

}  // namespace bmad_mem::cli
