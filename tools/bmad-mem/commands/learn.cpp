// learn - what a finished task teaches.
#include <algorithm>
#include <array>
#include <string>

#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "knowledge_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 2> kOutcomes = {"success", "failure"};

/// What doesn't go together, as a sentence; empty when all does.
std::string_view learn_clash(const Arguments& args) {
  if (!args.has("task")) {
    return "--task says what was to be done";
  }
  if (std::ranges::find(kOutcomes, args.value("outcome")) == kOutcomes.end()) {
    return "--outcome says how it went: success or failure";
  }
  const bool failed = args.value("outcome") == "failure";
  if (failed && (!args.has("error") || args.has("output"))) {
    return "of a failure --error is what counts: a file, or - for stdin";
  }
  if (!failed && (!args.has("output") || args.has("error"))) {
    return "of a success --output is what counts: a file, or - for stdin";
  }
  return {};
}

Result<ExitStatus> run_learn(Tool& tool) {
  const Arguments& args = tool.args();
  if (const std::string_view problem = learn_clash(args); !problem.empty()) {
    return tool.wrong_usage(std::string(problem));
  }
  LearnParams params{.agent_id = std::string(args.maybe("agent").value_or(tool.agent_id())),
                     .task = std::string(args.value("task"))};
  if (params.agent_id.empty()) {
    return tool.wrong_usage("--agent says who has done it");
  }
  params.session_id = args.maybe("session").value_or(environment("BMAD_SESSION"));
  params.outcome =
      args.value("outcome") == "failure" ? TaskOutcome::kFailure : TaskOutcome::kSuccess;
  const std::string name(args.value(params.outcome == TaskOutcome::kFailure ? "error" : "output"));
  BMAD_TRY_ASSIGN(params.text, name == "-" ? read_stdin() : read_whole_file(name));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const LearnReport report, Knowledge(memory).learn(params));
  print_remembered(tool, report.learned);
  if (report.learned.empty()) {
    tool.note("no rule of memory_config.knowledge.learn_rules matches the output");
  }
  return ExitStatus::kDone;
}

constexpr Option kLearnOptions[] = {
    {.name = "agent", .value = "NAME", .help = "who has done it", .fallback = "--agent-id"},
    {.name = "task", .value = "TEXT", .help = "what was to be done, in a few words"},
    {.name = "outcome",
     .value = "HOW",
     .help = "how it went",
     .completion = Completion::kChoice,
     .choices = kOutcomes},
    {.name = "output",
     .value = "FILE|-",
     .help = "of a success: what came out of it",
     .completion = Completion::kFile},
    {.name = "error",
     .value = "FILE|-",
     .help = "of a failure: what it failed with",
     .completion = Completion::kFile},
    kTaughtByOption,
};

constexpr Example kLearnExamples[] = {
    {.command = "bmad-mem learn --agent MARS --task \"Add auth\" --outcome success --output "
                "src/auth.ts",
     .says = "what the rules of the config make of it"},
    {.command = "npm test 2>&1 | bmad-mem learn --agent MARS --task \"Add auth\" --outcome failure "
                "--error -",
     .says = "so that the error is known next time"},
};

}  // namespace

const Command kLearn = {
    .name = "learn",
    .group = Group::kKnow,
    .summary = "learn from a task that has ended",
    .description =
        "Of a success, every rule of memory_config.knowledge.learn_rules in config.json whose "
        "agent and pattern fit the output is remembered. Of a failure, the first 200 characters "
        "of the error are, as an error_solution under \"AGENT: TASK\". Prints the ids of the "
        "entries.",
    .options = kLearnOptions,
    .examples = kLearnExamples,
    .run = run_learn,
};

}  // namespace bmad_mem::cli
