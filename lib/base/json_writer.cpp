// json_writer.cpp - JSON text: quoted strings, objects member by member, a layout for people.
#include <cassert>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/json_cursor.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

bool needs_escape(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

/// How many letters `text` begins with that need no escape. In blocks, for the vectors of the
/// machine.
std::size_t plain_size(std::string_view text) {
  constexpr std::size_t kBlock = 32;
  std::size_t at = 0;
  for (; at + kBlock <= text.size(); at += kBlock) {
    unsigned char found = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      const auto c = static_cast<unsigned char>(text[at + i]);
      found |= static_cast<unsigned char>((c == '"') | (c == '\\') | (c < 0x20));
    }
    if (found != 0) {
      break;
    }
  }
  while (at < text.size() && !needs_escape(text[at])) {
    ++at;
  }
  return at;
}

void append_escape(std::string& out, char c) {
  constexpr std::string_view kShort[] = {"\"\"", "\\\\", "\nn", "\tt", "\rr"};
  for (const std::string_view each : kShort) {
    if (each.front() == c) {
      out += '\\';
      out += each.back();
      return;
    }
  }
  out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
}

bool is_opening(char c) { return c == '{' || c == '['; }

bool is_closing(char c) { return c == '}' || c == ']'; }

/// Appends the value at `cursor`, which stands `depth` levels deep in `text`, as json_pretty() has
/// it.
void lay_out(JsonCursor& cursor, std::string_view text, std::size_t depth, std::string& out) {
  constexpr std::size_t kFlatMax = 80;
  const std::size_t begin = cursor.at();
  if (!is_opening(cursor.peek())) {
    cursor.value();
    out += trimmed(text.substr(begin, cursor.at() - begin));
    return;
  }
  const bool is_array = text[begin] == '[';
  bool is_flat = is_array;
  std::vector<std::string> items;
  cursor.step();
  while (cursor.peek() != '\0' && !is_closing(cursor.peek())) {
    std::string& item = items.emplace_back();
    if (!is_array) {
      item = fmt::format("\"{}\": ", cursor.string());
      cursor.step();  // The ':'.
    }
    is_flat = is_flat && !is_opening(cursor.peek());
    lay_out(cursor, text, depth + 1, item);
    if (cursor.peek() == ',') {
      cursor.step();
    }
  }
  is_flat = items.empty() || (is_flat && cursor.at() - begin < kFlatMax);
  const auto line = [&](std::size_t level) {
    return is_flat ? std::string() : '\n' + std::string(2 * level, ' ');
  };
  out += text[begin] + line(depth + 1);
  out += fmt::format("{}", fmt::join(items, is_flat ? ", " : ',' + line(depth + 1)));
  out += line(depth) + (is_array ? ']' : '}');
  cursor.step();
}

}  // namespace

void append_json_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t plain = plain_size(text);
    out.append(text, 0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) {
      append_escape(out, text.front());
      text.remove_prefix(1);
    }
  }
  out += '"';
}

std::string json_quoted(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_quoted(out, text);
  return out;
}

std::string json_number(double number) {
  assert(std::isfinite(number));
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  assert(!text_.empty() && text_.back() != ':' && "a key has its value");
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view key) {
  assert((text_.empty() || text_.back() != ':') && "the key before has its value");
  separate();
  append_json_quoted(text_, key);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  separate();
  append_json_quoted(text_, value);
  return *this;
}

JsonWriter& JsonWriter::integer(std::int64_t value) { return raw(fmt::format_int(value).c_str()); }

JsonWriter& JsonWriter::real(double value) { return raw(json_number(value)); }

JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::raw(std::string_view text) {
  assert(!text.empty());
  separate();
  text_ += text;
  return *this;
}

std::string JsonWriter::take() {
  needs_comma_ = false;
  return std::exchange(text_, {});
}

void JsonWriter::separate() {
  if (needs_comma_) {
    text_ += ',';
  }
  needs_comma_ = true;
}

bool can_write_json(JsonValue value) {
  return value.kind() != JsonKind::kUnsigned &&
         std::ranges::all_of(value.members(), can_write_json, &JsonMember::value) &&
         std::ranges::all_of(value.elements(), can_write_json);
}

void write_json(JsonWriter& json, JsonValue value, std::size_t depth_max) {
  switch (value.kind()) {
    case JsonKind::kAbsent:
    case JsonKind::kNull:
      json.raw("null");
      break;
    case JsonKind::kBoolean:
      json.boolean(value.boolean());
      break;
    case JsonKind::kInteger:
      json.integer(value.integer());
      break;
    case JsonKind::kUnsigned:
    case JsonKind::kReal:
      json.real(value.number());
      break;
    case JsonKind::kString:
      json.string(value.string());
      break;
    case JsonKind::kArray:
      json.begin_array();
      for (const JsonValue element : value.elements()) {
        if (depth_max > 0) {
          write_json(json, element, depth_max - 1);
        }
      }
      json.end_array();
      break;
    case JsonKind::kObject:
      json.begin_object();
      for (const JsonMember& member : value.members()) {
        if (depth_max > 0) {
          json.key(member.key);
          write_json(json, member.value, depth_max - 1);
        }
      }
      json.end_object();
      break;
  }
}

std::string json_of(JsonValue value) {
  JsonWriter json;
  write_json(json, value);
  return json.take();
}

std::vector<std::string> json_strings(JsonValue list) {
  return mapped(list.elements(), [](JsonValue element) { return std::string(element.string()); });
}

// JSON laid out for people, token by token: nothing is decoded, so nothing changes.

std::string json_pretty(std::string_view text) {
  std::string out;
  JsonCursor cursor(text);
  lay_out(cursor, text, 0, out);
  return out;
}

}  // namespace bmad_mem
