#include "knowledge/front_matter.hpp"

#include <algorithm>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kFence = "---";

/// Cuts the first line off `rest`, without its '\n'.
std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

bool is_line_of(std::string_view line, std::string_view key) {
  return line.starts_with(key) && line.substr(key.size()).starts_with(':');
}

/// A value that would not come back as it is stands in JSON's quotes.
std::string written(std::string_view value) {
  const bool is_plain = std::ranges::all_of(
      value, [](unsigned char byte) { return byte >= 0x20 && byte != 0x7F && byte != '"'; });
  return is_plain && value == trimmed(value, " \t\r\"'") ? std::string(value) : json_quoted(value);
}

}  // namespace

FrontMatter::FrontMatter(std::string_view text) {
  std::string_view rest = text;
  if (trimmed(take_line(rest)) == kFence) {
    std::vector<std::string> lines;
    while (!rest.empty()) {
      const std::string_view line = take_line(rest);
      if (trimmed(line) == kFence) {
        lines_ = std::move(lines);
        body_ = rest;
        return;
      }
      lines.emplace_back(line);
    }
  }
  body_ = text;
}

std::string FrontMatter::value(std::string_view key) const {
  for (const std::string& line : lines_) {
    if (!is_line_of(line, key)) {
      continue;
    }
    const std::string_view raw = trimmed(std::string_view(line).substr(key.size() + 1));
    if (raw.starts_with('"')) {
      JsonParser parser;
      const Result<JsonValue> text = parser.parse(raw);
      if (text && text->is_string()) {
        return std::string(text->string());
      }
    }
    return std::string(trimmed(raw, " \t\r\"'"));
  }
  return {};
}

void FrontMatter::set(std::string_view key, std::string_view value) {
  std::string line = std::string(key) + ": " + written(value);
  const auto found = std::ranges::find_if(
      lines_, [&](const std::string& candidate) { return is_line_of(candidate, key); });
  if (found != lines_.end()) {
    *found = std::move(line);
  } else {
    lines_.push_back(std::move(line));
  }
}

std::string FrontMatter::to_text() const {
  if (lines_.empty()) {
    return body_;
  }
  std::string text = std::string(kFence) + '\n';
  for (const std::string& line : lines_) {
    text += line + '\n';
  }
  return text + std::string(kFence) + '\n' + body_;
}

}  // namespace bmad_mem
