#include "bmad_mem/json_writer.hpp"

#include <cassert>
#include <cmath>
#include <utility>

#include <fmt/format.h>

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
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      constexpr std::string_view kHex = "0123456789abcdef";
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4U];
      out += kHex[static_cast<unsigned char>(c) & 15U];
  }
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

JsonWriter& JsonWriter::begin_object() {
  separate();
  text_ += '{';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  text_ += '}';
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  text_ += '[';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  text_ += ']';
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view key) {
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
  separate();
  text_ += text;
  return *this;
}

JsonWriter& JsonWriter::member(std::string_view name, std::string_view value) {
  return key(name).string(value);
}

JsonWriter& JsonWriter::member(std::string_view name, const char* value) {
  return key(name).string(value);
}

JsonWriter& JsonWriter::member(std::string_view name, std::int64_t value) {
  return key(name).integer(value);
}

JsonWriter& JsonWriter::member(std::string_view name, std::uint64_t value) {
  return key(name).raw(fmt::format_int(value).c_str());
}

JsonWriter& JsonWriter::member(std::string_view name, int value) {
  return key(name).integer(value);
}

JsonWriter& JsonWriter::member(std::string_view name, double value) {
  return key(name).real(value);
}

JsonWriter& JsonWriter::member(std::string_view name, bool value) {
  return key(name).boolean(value);
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

}  // namespace bmad_mem
