// trust.cpp - a foreign memory is shown, and becomes the user's own.
#include <unistd.h>

#include <string>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "cli/json_text.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

std::string command_line(const ConfiguredProgram& program) {
  std::string line;
  for (const std::string& argument : program.command) {
    line += (line.empty() ? "" : " ") + argument;
  }
  return line;
}

/// What a briefing would print without quotes if the root's lines were taken at their word.
Result<std::vector<ContextItem>> told_texts(const Tool& tool) {
  OpenOptions options{.agent_id = std::string(tool.agent_id())};
  BMAD_TRY_ASSIGN(options.root, tool.find_root());
  BMAD_TRY_ASSIGN(options.access, tool.access());
  options.note_accesses = false;
  options.tolerate_bad_config = true;
  BMAD_TRY_ASSIGN(MemoryManager memory, MemoryManager::open(std::move(options)));
  constexpr std::size_t kTokens = 4000;
  BMAD_TRY_ASSIGN(Context context,
                  Knowledge(memory).context({.task = {}, .max_tokens = kTokens, .since = {}}));
  std::erase_if(context.items, &ContextItem::quoted);
  return std::move(context.items);
}

void print_json(Tool& tool, const TrustReport& report, const std::vector<ContextItem>& told) {
  print_object(tool, [&](JsonWriter& json) {
    json.member("root", report.root).member("trust", root_trust_name(report.trust));
    add_text(json, "reason", report.reason);
    json.member("config_changed", report.config_changed).member("folder", report.folder);
    json.member("accepted_lines", report.lines);
    json.key("programs").begin_array();
    for (const ConfiguredProgram& program : report.programs) {
      json.begin_object().member("setting", program.setting).key("command").begin_array();
      for (const std::string& argument : program.command) {
        json.string(argument);
      }
      json.end_array().end_object();
    }
    json.end_array().key("texts").begin_array();
    for (const ContextItem& item : told) {
      json.begin_object().member("session_id", item.session_id).member("id", item.id);
      json.member("section", context_section_name(item.section)).member("text", item.text);
      json.end_object();
    }
    json.end_array();
  });
}

void print_text(Tool& tool, const TrustReport& report, const std::vector<ContextItem>& told) {
  tool.out().print("{}: {}{}\n", printable(report.root), root_trust_name(report.trust),
                   report.config_changed ? ", but its config.json has changed" : "");
  if (!report.reason.empty()) {
    tool.out().print("  {}\n", printable(report.reason));
  }
  tool.out().print("\n{}\n",
                   told.empty()
                       ? "A briefing would print no text without quotes before a task is known."
                       : "Texts that briefings would print without quotes:");
  for (const ContextItem& item : told) {
    tool.out().print("  {}\n", printable(item.text));
  }
  tool.out().print("\n{}\n",
                   report.programs.empty() ? "It names no program." : "Programs that would run:");
  for (const ConfiguredProgram& program : report.programs) {
    tool.out().print("  {}: {}\n", program.setting, printable(command_line(program)));
  }
}

}  // namespace

Result<ExitStatus> run_trust(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (tool.args().has("revoke")) {
    BMAD_TRY_ASSIGN(const TrustReport report, memory.revoke_trust());
    if (tool.json()) {
      print_json(tool, report, {});
    } else {
      tool.out().print("{} is foreign from now on\n", printable(report.root));
    }
    return ExitStatus::kDone;
  }
  if (tool.args().has("yes")) {
    BMAD_TRY(check_is_person(tool, "trust this memory?"));
  }
  TrustReport report = memory.trust_report();
  BMAD_TRY_ASSIGN(const std::vector<ContextItem> told, told_texts(tool));
  if (!tool.json()) {
    print_text(tool, report, told);
  }
  if (!tool.args().has("yes") && ::isatty(STDIN_FILENO) == 0) {
    if (tool.json()) {
      print_json(tool, report, told);
    }
    tool.note(
        "nothing was changed; read this, then run `bmad-mem trust` in a terminal, or with --yes");
    return report.is_foreign() || report.config_changed ? ExitStatus::kFailed : ExitStatus::kDone;
  }
  if (!is_confirmed(tool, "trust this memory?")) {
    return ExitStatus::kFailed;
  }
  const ActingAs person(Origin::kPerson);
  BMAD_TRY_ASSIGN(report, memory.trust());
  if (tool.json()) {
    print_json(tool, report, told);
  } else {
    tool.out().print("\ntrusted; {}\n", format_count(report.lines, "line is accepted as it is",
                                                     "lines are accepted as they are"));
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
