// extract - the durable facts of a session.
#include <optional>
#include <string>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "json_members.hpp"
#include "knowledge_view.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

std::string_view way_name(ExtractionWay way) {
  switch (way) {
    case ExtractionWay::kCommand:
      return "command";
    case ExtractionWay::kAnswer:
      return "answer";
    case ExtractionWay::kRules:
      break;
  }
  return "rules";
}

void print_json(Tool& tool, const ExtractOptions& options, const ExtractionReport& report) {
  JsonWriter json;
  json.begin_object().member("session_id", options.session_id);
  json.member("dry_run", options.dry_run).member("way", way_name(report.way));
  json.key("learned").begin_array();
  for (const Remembered& each : report.learned) {
    json.begin_object();
    add_text(json, "id", each.id);
    json.member("category", category_name(each.category)).member("value", each.value);
    json.member("confidence", each.confidence).end_object();
  }
  json.end_array();
  add_list(json, "known", report.known);
  add_list(json, "notices", report.notices);
  tool.out().print("{}\n", json.end_object().text());
}

void print_report(Tool& tool, const ExtractOptions& options, const ExtractionReport& report) {
  if (tool.json()) {
    print_json(tool, options, report);
    return;
  }
  for (const Remembered& each : report.learned) {
    const std::string id = each.id.empty() ? std::string() : tool.style().id(each.id) + "  ";
    tool.out().print("{}{}  {:.2f}  {}\n", id, category_name(each.category), each.confidence,
                     printable(each.value));
    for (const std::string& notice : each.notices) {
      tool.note(notice);
    }
  }
  for (const std::string& text : report.known) {
    tool.note("known already: " + printable(text));
  }
  for (const std::string& notice : report.notices) {
    tool.note(notice);
  }
  if (report.learned.empty()) {
    tool.note("nothing new was found");
  } else if (options.dry_run) {
    tool.note("nothing was stored; leave out --dry-run to store it");
  } else if (report.way == ExtractionWay::kRules) {
    tool.note("these are candidates; `bmad-mem recall --accept ID` keeps one, --drop ID does not");
  }
}

/// What doesn't go together, as a sentence; empty when all does.
std::string_view extract_clash(const Arguments& args) {
  if (args.has("prompt") && (args.has("answer") || args.has("rules") || args.has("dry-run"))) {
    return "--prompt prints the prompt and does nothing else";
  }
  if (args.has("answer") && args.has("rules")) {
    return "an answer is a model's; leave out --rules";
  }
  return {};
}

Result<ExitStatus> run_extract(Tool& tool) {
  const Arguments& args = tool.args();
  if (const std::string_view problem = extract_clash(args); !problem.empty()) {
    return tool.wrong_usage(std::string(problem));
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  ExtractOptions options;
  BMAD_TRY_ASSIGN(options.session_id, choose_session(tool, memory));
  options.dry_run = args.has("dry-run");
  options.use_rules = args.has("rules");
  Knowledge knowledge(memory);
  if (args.has("prompt")) {
    BMAD_TRY_ASSIGN(const std::string prompt, knowledge.extraction_prompt(options.session_id));
    tool.out().write(prompt);
    return ExitStatus::kDone;
  }
  if (const std::optional<std::string_view> name = args.maybe("answer")) {
    BMAD_TRY_ASSIGN(options.answer,
                    *name == "-" ? read_stdin() : read_whole_file(std::string(*name)));
  }
  Result<ExtractionReport> report = knowledge.extract(options);
  if (!report) {
    return options.answer ? tool.report_in(report.error(), *options.answer)
                          : Result<ExitStatus>(std::move(report).error());
  }
  print_report(tool, options, *report);
  return ExitStatus::kDone;
}

constexpr Option kExtractOptions[] = {
    kSessionOption,
    {.name = "dry-run", .help = "say what would be stored, and store nothing"},
    {.name = "rules", .help = "look for what users say they want, whatever the config names"},
    {.name = "prompt", .help = "print the prompt for a model of your own"},
    {.name = "answer",
     .value = "FILE|-",
     .help = "take this answer to the prompt",
     .completion = Completion::kFile},
};

constexpr Example kExtractExamples[] = {
    {.command = "bmad-mem extract --session s1 --dry-run", .says = "what would be learned"},
    {.command = "bmad-mem extract --prompt | my-model | bmad-mem extract --answer -",
     .says = "any model will do"},
};

}  // namespace

const Command kExtract = {
    .name = "extract",
    .group = Group::kKnow,
    .summary = "store the durable facts of a session",
    .description =
        "Asks the program of memory_config.extractor.command in config.json for the durable facts "
        "of a session, checks its answer and stores what is not known yet. An answer that breaks "
        "the rules of the prompt changes nothing. Without such a program, looks for what users "
        "say they want (\"I prefer\", \"never\", \"from now on\", \"we decided\"), and stores "
        "that as candidates, which `recall --candidates` lists.",
    .options = kExtractOptions,
    .examples = kExtractExamples,
    .run = run_extract,
};

}  // namespace bmad_mem::cli
