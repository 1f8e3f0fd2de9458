#include "knowledge/summary_file.hpp"

#include <algorithm>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"
#include "knowledge_prompts.hpp"
#include "prompt_text.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

bool is_heading(std::string_view line) {
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  return level >= 1 && level <= 6 && (level == line.size() || line[level] == ' ');
}

bool is_of_template(std::string_view line) {
  bool found = false;
  for_each_text_line(kTemplateText, [&](std::string_view own) { found = found || own == line; });
  return found;
}

bool steers(char32_t code) {
  const auto is_in = [code](char32_t first, char32_t last) {
    return code >= first && code <= last;
  };
  return (code < 0x20 && code != '\n' && code != '\t') || is_in(0x7F, 0x9F) ||
         is_in(0x200E, 0x200F) ||             // Marks of direction.
         is_in(0x202A, 0x202E) ||             // Embeddings and overrides.
         is_in(0x2066, 0x2069) ||             // Isolates.
         code == 0xFEFF || code == 0x200B ||  // Nothing to see.
         is_in(0xE0000, 0xE007F);             // Tags.
}

}  // namespace

std::string_view summary_template() { return kTemplateText; }

bool is_empty_summary(std::string_view body) {
  bool is_empty = true;
  for_each_text_line(body, [&](std::string_view line) {
    line = trimmed(line);
    is_empty = is_empty && (line.empty() || is_heading(line) || is_of_template(line));
  });
  return is_empty;
}

std::vector<std::string_view> summary_headings(std::string_view body) {
  std::vector<std::string_view> headings;
  bool in_fence = false;
  for_each_text_line(body, [&](std::string_view line) {
    line = trimmed(line);
    if (line.starts_with("```") || line.starts_with("~~~")) {
      in_fence = !in_fence;
    } else if (!in_fence && is_heading(line)) {
      headings.push_back(line);
    }
  });
  return headings;
}

std::string without_controls(std::string_view text) {
  const std::string valid = utf8_repaired(text);
  std::string clean;
  clean.reserve(valid.size());
  for (std::string_view rest = valid; !rest.empty();) {
    const CodePoint first = first_code_point(rest);
    if (!steers(first.value)) {
      clean += rest.substr(0, first.size);
    } else if (first.value == '\r' && !rest.substr(1).starts_with('\n')) {
      clean += '\n';
    }
    rest.remove_prefix(first.size);
  }
  return clean;
}

namespace {

constexpr std::string_view kFence = "---";

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
      const ParsedJson text(raw);
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

std::string last_summarized_id(FileSystem& files, std::string_view session_id) {
  constexpr std::uint64_t kMarkedSizeMax = 16U << 20U;
  const Result<std::string> text =
      read_file(files, session_file(session_id, kSummaryName), kMarkedSizeMax);
  return text ? FrontMatter(*text).value(kLastSummarizedId) : std::string();
}

}  // namespace bmad_mem
