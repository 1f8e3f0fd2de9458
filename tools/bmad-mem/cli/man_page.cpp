#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/core.h>

#include "cli/command.hpp"
#include "cli/entry_options.hpp"
#include "cli/filters.hpp"
#include "cli/help.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {
namespace {

/// `text` so that roff prints it as it is: dashes that can be copied, no requests.
std::string escaped(std::string_view text) {
  std::string out;
  bool at_line_start = true;
  for (const char c : text) {
    if (at_line_start && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
    at_line_start = c == '\n';
  }
  return out;
}

/// Paragraphs of a description.
void append_paragraphs(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    out += escaped(text.substr(0, end));
    out += '\n';
    if (end == std::string_view::npos) {
      return;
    }
    out += ".PP\n";
    text.remove_prefix(end + 2);
  }
}

void append_item(std::string& out, std::string_view head, std::string_view help) {
  const std::size_t start = std::min(head.find_first_not_of(' '), head.size());
  out += fmt::format(".TP\n.B {}\n{}\n", escaped(head.substr(start)), escaped(help));
}

void append_options(std::string& out, std::span<const Option> options) {
  for (const Option& option : options) {
    append_item(out, option_head(option), option_help(option));
  }
}

void append_examples(std::string& out, const Command& command) {
  if (command.examples.empty()) {
    return;
  }
  out += ".PP\n.RS\n.nf\n";
  for (const Example& example : command.examples) {
    out += fmt::format("# {}\n{}\n", escaped(example.says), escaped(example.command));
  }
  out += ".fi\n.RE\n";
}

void append_command(std::string& out, const Command& command) {
  out += fmt::format(".SS \"{}\"\n", escaped(usage_line(command)));
  append_paragraphs(out, command.description);
  if (const std::string aliases = alias_list(command); !aliases.empty()) {
    out += fmt::format(".PP\nAliases: {}\n", escaped(aliases));
  }
  for (const Positional& positional : command.positionals) {
    append_item(out, positional.name, positional.help);
  }
  append_options(out, options_of_all(command));
  if (command.options_of != nullptr) {
    for (const std::string_view type : kTypeNames) {
      out += fmt::format(".PP\nFields of {}:\n", escaped(type));
      append_options(out, command.options_of(type));
    }
  }
  if (!command.glossary.empty()) {
    out += fmt::format(".PP\n{}\n", escaped(command.glossary_title));
    for (const Explained& each : command.glossary) {
      append_item(out, each.what, with_fields(each.says));
    }
  }
  if (!command.exit_status.empty()) {
    out += fmt::format(".PP\nExit status: {}\n", escaped(command.exit_status));
  }
  append_examples(out, command);
}

std::string upper(std::string_view text) {
  std::string out(text.substr(0, text.find(':')));
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

constexpr std::string_view kEnd = R"(.SH FILES
.TP
.I .bmad/memory
The memory: JSON lines, one entry a line, in one folder for each session.
.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 1
Failed. The error is on stderr, as \(lqbmad\-mem: E_CODE: sentence\(rq or, with
.BR \-\-json ,
as an object.
.TP
.B 2
Wrong usage. Nothing was touched.
.TP
.B 3
Nothing found; only
.BR get .
)";

}  // namespace

std::string man_page() {
  std::string out = fmt::format(
      ".TH BMAD\\-MEM 1 \"\" \"bmad\\-mem {}\" \"User commands\"\n"
      ".SH NAME\nbmad\\-mem \\- the memory of a project, for software agents\n"
      ".SH SYNOPSIS\n.B bmad\\-mem\n[\\fIOPTION\\fR]... \\fICOMMAND\\fR [\\fIARGUMENT\\fR]...\n"
      ".SH DESCRIPTION\nKeeps what agents said, decided, found out and learned, in plain files "
      "inside the project, and finds it again.\n"
      "What a command reports as done survives power loss.\n",
      tool_version());
  out += ".SH GLOBAL OPTIONS\nThey are valid before or after the command.\n";
  append_options(out, global_options());
  for (const Group group : {Group::kStart, Group::kWrite, Group::kRead, Group::kKnow,
                            Group::kConnect, Group::kCare, Group::kTool}) {
    out += fmt::format(".SH {}\n", upper(group_title(group)));
    for (const Command& command : all_commands()) {
      if (command.group == group) {
        append_command(out, command);
      }
    }
  }
  out += ".SH ENVIRONMENT\n";
  for (const auto& [name, help] : environment_variables()) {
    append_item(out, name, help);
  }
  out += kEnd;
  return out;
}

}  // namespace bmad_mem::cli
