#include "mcp/memory_text.hpp"

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/utf8.hpp"
#include "cli/text.hpp"
#include "cli/views.hpp"

namespace bmad_mem::cli {

std::string entry_origin(std::string_view json) {
  JsonParser parser;
  const Result<JsonValue> root = parser.parse(json);
  if (!root) {
    return {};
  }
  const JsonValue source = (*root)["source"];
  std::string out;
  if (source["kind"].is_string()) {
    out = fmt::format("from {}", printable(utf8_prefix(source["kind"].string(), 40)));
  }
  if (source["trust"].is_number()) {
    out += fmt::format("{}trust {:.2f}", out.empty() ? "" : ", ", source["trust"].number());
  }
  return out;
}

std::string entry_head(const Entry& entry) {
  std::string out = fmt::format("{} | {} | {}", entry.id, entry_type_name(entry.type),
                                format_minute(entry.timestamp));
  if (!entry.who.empty()) {
    out += fmt::format(" | by {}", printable(utf8_prefix(entry.who, 80)));
  }
  out += fmt::format(" | session {}", entry.session_id);
  out += entry.pinned ? " | pinned" : "";
  if (const std::string_view place = place_mark(entry); !place.empty()) {
    out += fmt::format(" | {}", entry.of_user ? "the user's, for all projects" : place);
  }
  if (const std::string origin = entry_origin(entry.json); !origin.empty()) {
    out += " | " + origin;
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
