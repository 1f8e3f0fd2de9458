#include "mcp/memory_text.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "bmad_mem/utf8.hpp"
#include "cli/text.hpp"
#include "cli/views.hpp"

namespace bmad_mem::cli {

std::string head_name(std::string_view name, std::size_t size_max) {
  std::string text = printable(utf8_prefix(name, size_max));
  std::ranges::replace(text, '|', '/');
  return text;
}

std::string entry_head(const Entry& entry, std::string_view source) {
  std::string out = fmt::format("{} | {} | {}", head_name(entry.id, entry.id.size()),
                                entry_type_name(entry.type), format_minute(entry.timestamp));
  if (!entry.who.empty()) {
    out += fmt::format(" | by {}", head_name(entry.who, 80));
  }
  out += fmt::format(" | session {}", head_name(entry.session_id, entry.session_id.size()));
  out += entry.pinned ? " | pinned" : "";
  if (const std::string_view place = place_mark(entry); !place.empty()) {
    out += fmt::format(" | {}", entry.of_user ? "the user's, for all projects" : place);
  }
  if (!source.empty()) {
    out += fmt::format(" | {}", source);
  }
  return out;
}

std::string problem_lines(std::span<const Error> problems) {
  std::string out;
  for (const Error& problem : problems) {
    out += fmt::format("(Left out, as it can't be read: {}: {})\n",
                       printable(utf8_prefix(problem.path, 300)),
                       printable(utf8_prefix(problem.message, 300)));
  }
  return out;
}

std::string quoted_lines(std::string_view text, std::size_t size_max) {
  const bool is_cut = text.size() > size_max;
  text = utf8_prefix(text, size_max);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    out += fmt::format("> {}\n", printable(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (is_cut) {
    out += "> …\n";
  }
  return out;
}

}  // namespace bmad_mem::cli
