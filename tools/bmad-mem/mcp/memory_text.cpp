// memory_text.cpp - writes entries and results as text for a model.
#include "mcp/memory_text.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "cli/text.hpp"
#include "cli/views.hpp"
#include "mcp/memory_tools.hpp"

namespace bmad_mem::cli {

namespace {

constexpr std::size_t kPlainNameMax = 40;
/// Of a name that is none: enough to see what it is.
constexpr std::size_t kQuotedNameMax = 200;

}  // namespace

bool add_if_it_fits(std::string& text, std::string_view piece) {
  const bool fits = text.size() + piece.size() <= kAnswerSizeMax;
  text += fits ? piece : std::string_view();
  return fits;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kPlainNameMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/:@").contains(c);
  });
}

AnswerHead& AnswerHead::name(std::string_view label, std::string_view name) {
  if (is_plain_name(name)) {
    return say(fmt::format("{}{}{}", label, label.empty() ? "" : " ", name));
  }
  std::string text = printable(utf8_prefix(name, kQuotedNameMax));
  std::ranges::replace(text, '\n', ' ');
  quoted_ += fmt::format("> {}: {}\n", label.empty() ? "id" : label, text);
  return *this;
}

AnswerHead& AnswerHead::say(std::string_view text) {
  line_ += line_.empty() ? "" : " | ";
  line_ += text;
  return *this;
}

AnswerHead entry_head(const Entry& entry, std::string_view source) {
  AnswerHead head;
  head.name("", entry.id).say(entry_type_name(entry.type)).say(format_minute(entry.timestamp));
  if (!entry.who.empty()) {
    head.name("by", entry.who);
  }
  if (entry.pinned) {
    head.say("pinned");
  }
  if (const std::string_view place = place_mark(entry); !place.empty()) {
    head.say(entry.of_user ? "the user's, for all projects" : place);
  }
  if (!source.empty()) {
    head.say(source);
  }
  return head;
}

std::string problem_lines(std::span<const Error> problems) {
  std::string out;
  for (const Error& problem : problems) {
    out += fmt::format("(Left out, as it can't be read: this.)\n> {}: {}\n",
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
    out += fmt::format("> {}\n", printable(take_line(text)));
  }
  if (is_cut) {
    assert(!out.empty());
    out.insert(out.size() - 1, "…");
  }
  return out;
}

}  // namespace bmad_mem::cli
