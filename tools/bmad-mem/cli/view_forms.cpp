// view_forms.cpp - the forms of members in views.toml: counts, sizes, ages, lists.
#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "cli/output.hpp"
#include "cli/view_text.hpp"

namespace bmad_mem::cli {

std::string_view taken(std::string_view& rest, char mark) {
  const std::string_view front = rest.substr(0, rest.find(mark));
  rest.remove_prefix(std::min(rest.size(), front.size() + 1));
  return front;
}

double number_of(JsonValue value) {
  double number = value.number();
  for ([[maybe_unused]] const JsonValue each : value.elements()) {
    ++number;
  }
  for ([[maybe_unused]] const JsonMember& each : value.members()) {
    ++number;
  }
  return number;
}

std::string plain_text(JsonValue value) {
  if (value.is_array()) {
    std::string all;
    for (const JsonValue each : value.elements()) {
      all += (all.empty() ? "" : ", ") + plain_text(each);
    }
    return all;
  }
  return value.is_string()    ? printable(value.string())
         : value.is_integer() ? fmt::format("{:.0f}", value.number())
         : value.is_number()  ? fmt::format("{}", value.number())
                              : "";
}

namespace {

/// Nothing but a time is asked for one; what is no time is the first one.
Timestamp time_in(JsonValue value) {
  return try_parse_rfc3339(value.string()).value_or(Timestamp());
}

std::string counted(const Formed& it) {
  std::string_view many = it.argument;
  const std::string_view one = taken(many, '/');
  return one.empty() ? format_count(it.count()) : format_count(it.count(), one, many);
}

std::string table_text(const Formed& it, bool has_heading) {
  std::vector<TableRow> rows;
  for (std::string_view rest = it.text; !rest.empty();) {
    std::string_view line = taken(rest, '\n');
    TableRow& row = rows.emplace_back();
    for (bool has_more = true; has_more;) {
      has_more = line.contains('\t');
      row.emplace_back(taken(line, '\t'));
    }
  }
  std::string out;
  for (const std::string& line :
       table_lines(rows, it.argument.empty() ? "l" : it.argument, has_heading ? 0 : it.width)) {
    out += (out.empty() && has_heading ? it.style.bold(line) : line) + "\n";
  }
  return out;
}

/// Lines "NAME \t VALUE", the names as wide as the widest or as the argument says; a value may have
/// lines of its own.
std::string fields_text(const Formed& it) {
  std::size_t width = it.size();
  for (std::string_view rest = it.argument.empty() ? it.text : std::string_view(); !rest.empty();) {
    const std::string_view line = taken(rest, '\n');
    width = std::max(width, text_width(line.substr(0, line.find('\t'))));
  }
  std::string out;
  for (std::string_view rest = it.text; !rest.empty();) {
    std::string_view value = taken(rest, '\n');
    std::string head = padded(taken(value, '\t'), width);
    do {
      out += fmt::format("  {}  {}\n", it.style.faint(head), taken(value, '\v'));
      head.assign(width, ' ');
    } while (!value.empty());
  }
  return out;
}

std::string first_elements(const Formed& it) {
  std::string all;
  std::size_t left = it.size();
  for (const JsonValue each : it.value.elements()) {
    all += all.empty() ? "" : ", ";
    if (left-- == 0) {
      return all + "…";
    }
    all += plain_text(each);
  }
  return all;
}

/// What `made` makes of each line, with `between` between them.
template <typename Make>
std::string of_lines(std::string_view text, std::string_view between, const Make& made) {
  std::string all;
  for (bool is_first = true; !text.empty(); is_first = false) {
    all += is_first ? std::string_view() : between;
    all += made(taken(text, '\n'));
  }
  return all;
}

std::string indented(const Formed& it) {
  return of_lines(it.text, "", [&](std::string_view line) {
    return fmt::format("{:{}}{}\n", "", it.size(), line);
  });
}

/// `text` so that roff prints it as it is: dashes that can be copied, no requests. An empty line
/// begins a paragraph.
std::string roff_escaped(std::string_view text) {
  static constexpr std::pair<char, std::string_view> kEscapes[] = {
      {'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"}, {'"', "\\(dq"},
      {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"},
  };
  std::string out;
  for (std::size_t i = std::min(text.find_first_not_of(' '), text.size()); i < text.size(); ++i) {
    const char c = text[i];
    const bool begins_line = out.empty() || out.ends_with('\n');
    out += begins_line && c == '\n' ? ".PP" : begins_line && (c == '.' || c == '\'') ? "\\&" : "";
    const auto* const escape =
        std::ranges::find(kEscapes, c, &std::pair<char, std::string_view>::first);
    out += escape == std::end(kEscapes) ? text.substr(i, 1) : escape->second;
  }
  return out;
}

constexpr std::size_t kHelpWidth = 96;

/// `text` in lines of at most kHelpWidth characters, each line but the first indented by `indent`.
std::string help_lines(std::string_view text, std::size_t indent) {
  const std::string front(indent, ' ');
  std::string out;
  for (bool has_more = true; has_more;) {
    has_more = text.contains('\n');
    const std::string_view line = taken(text, '\n');
    out += line.empty() ? "\n" : wrapped(line, kHelpWidth - indent, front);
  }
  out.pop_back();
  return out.starts_with(front) ? out.substr(indent) : out;
}

/// Two columns; the second is wrapped.
std::string explained_text(const Formed& it) {
  static constexpr std::size_t kHeadWidthMax = 30;
  std::size_t head_width = 0;
  for (std::string_view rest = it.text; !rest.empty();) {
    const std::string_view line = taken(rest, '\n');
    const std::size_t width = text_width(line.substr(0, line.find('\t')));
    head_width = std::max(head_width, width <= kHeadWidthMax ? width : 0);
  }
  const std::size_t indent = 2 + head_width + 2;
  std::string out;
  for (std::string_view rest = it.text; !rest.empty();) {
    std::string_view help = taken(rest, '\n');
    const std::string_view head = taken(help, '\t');
    const bool is_wide = text_width(head) > head_width;
    out += fmt::format("  {}{}{}{}\n", it.style.bold(head), is_wide ? "\n" : "",
                       std::string(is_wide ? indent : indent - 2 - text_width(head), ' '),
                       help_lines(help, indent));
  }
  return out;
}

/// "MEMORY AND SESSIONS" of "Memory and sessions:".
std::string upper(const Formed& it) {
  std::string out = it.text.substr(0, it.text.find(':'));
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

struct Form {
  std::string_view name;
  std::string (*make)(const Formed&);
};

constexpr Form kForms[] = {
    {"n", counted},
    {"size", [](const Formed& it) { return format_size(it.count()); }},
    {"decimals",
     [](const Formed& it) { return fmt::format("{:.{}f}", it.value.number(), it.size()); }},
    {"digits",
     [](const Formed& it) { return fmt::format("{:.{}g}", it.value.number(), it.size()); }},
    {"half_life",
     [](const Formed& it) {
       const double rate = it.value.number();
       return rate > 0 ? fmt::format("{:.3g} days", std::log(2) / rate) : std::string("never");
     }},
    {"percent", [](const Formed& it) { return fmt::format("{:.0f}", 100 * it.value.number()); }},
    {"bar", [](const Formed& it) { return bar_text(it.value.number(), it.size()); }},
    {"minute", [](const Formed& it) { return shown_minute(time_in(it.value)); }},
    {"day", [](const Formed& it) { return format_minute(time_in(it.value)).substr(0, 10); }},
    {"time", [](const Formed& it) { return shown_time(time_in(it.value)); }},
    {"age", [](const Formed& it) { return format_age(time_in(it.value), system_clock().now()); }},
    {"due",
     [](const Formed& it) {
       return !it.value.present()                         ? "never"
              : time_in(it.value) <= system_clock().now() ? "now"
                                                          : shown_time(time_in(it.value));
     }},
    {"left", [](const Formed& it) { return padded(it.text, it.size()); }},
    {"right", [](const Formed& it) { return padded_left(it.text, it.size()); }},
    {"cut", [](const Formed& it) { return shortened(it.text, it.size()); }},
    {"line",
     [](const Formed& it) {
       const std::string_view text = it.value.string();
       const std::string_view line = text.substr(0, text.find('\n'));
       return printable(line.starts_with("- ") ? line.substr(2) : line);
     }},
    {"first", first_elements},
    {"join",
     [](const Formed& it) {
       return of_lines(it.text, it.argument,
                       [](std::string_view line) { return std::string(line); });
     }},
    {"words",
     [](const Formed& it) {
       std::string words = it.text;
       std::ranges::replace(words, '_', ' ');
       return words;
     }},
    {"lines", [](const Formed& it) { return of_lines(it.value.string(), "\v", printable); }},
    {"raw", [](const Formed& it) { return std::string(it.value.string()); }},
    {"roff", [](const Formed& it) { return roff_escaped(it.value.string()); }},
    {"sh", [](const Formed& it) { return shell_quoted(it.text); }},
    {"bold", [](const Formed& it) { return it.style.bold(it.text); }},
    {"faint", [](const Formed& it) { return it.style.faint(it.text); }},
    {"red", [](const Formed& it) { return it.style.red(it.text); }},
    {"green", [](const Formed& it) { return it.style.green(it.text); }},
    {"id", [](const Formed& it) { return it.style.id(it.text); }},
    {"table", [](const Formed& it) { return table_text(it, true); }},
    {"list", [](const Formed& it) { return table_text(it, false); }},
    {"fields", fields_text},
    {"indent", indented},
    {"explained", explained_text},
    {"upper", upper},
    {"wrap", [](const Formed& it) { return help_lines(it.value.string(), it.size()); }},
};

}  // namespace

std::string formed_text(std::string_view name, const Formed& it) {
  const auto* const form = std::ranges::find(kForms, name, &Form::name);
  assert(form != std::end(kForms));
  return form->make(it);
}

}  // namespace bmad_mem::cli
