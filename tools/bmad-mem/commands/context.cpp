// context - what an agent should know before a task, for its prompt.
#include <charconv>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/knowledge.hpp"
#include "commands/commands.hpp"
#include "context_view.hpp"
#include "entry_input.hpp"
#include "filters.hpp"
#include "times.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

std::vector<std::string> texts(const Arguments& args, std::string_view name) {
  const std::span<const std::string> values = args.all(name);
  return {values.begin(), values.end()};
}

Result<std::size_t> read_ceiling(std::string_view text) {
  std::size_t tokens = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), tokens);
  if (problem != std::errc() || stop != text.data() + text.size() || tokens == 0) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("'{}' is no number of tokens; write one from 1 on", text),
                 .field = "max-tokens"};
  }
  return tokens;
}

Result<ContextOptions> read_context_options(const Arguments& args) {
  ContextOptions options{.agent_id = std::string(args.value("agent")),
                         .task = std::string(args.value("task")),
                         .max_tokens = {},
                         .sessions = texts(args, "session"),
                         .without_sessions = texts(args, "without-session"),
                         .project = std::string(args.value("project")),
                         .since = {},
                         .as_of = {}};
  if (options.task == "-") {
    BMAD_TRY_ASSIGN(options.task, read_stdin());
  }
  if (const auto text = args.maybe("max-tokens")) {
    BMAD_TRY_ASSIGN(options.max_tokens, read_ceiling(*text));
  }
  const Timestamp now = system_clock().now();
  BMAD_TRY_ASSIGN(options.as_of, read_as_of(args, now));
  if (const auto text = args.maybe("since")) {
    BMAD_TRY_ASSIGN(options.since,
                    parse_time(*text, options.as_of.value_or(now), RangeEnd::kSince, "since"));
  }
  return options;
}

Result<ExitStatus> run_context(Tool& tool) {
  BMAD_TRY_ASSIGN(const ContextOptions options, read_context_options(tool.args()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const Context context, Knowledge(memory).context(options));
  if (tool.json()) {
    print_context_as_json(tool, context, options.as_of);
  } else if (tool.args().has("explain")) {
    print_context_table(tool, context);
  } else {
    tool.out().write(context.markdown);
  }
  if (context.items.empty()) {
    tool.note(context.omitted.empty() ? "nothing is known that would help"
                                      : "nothing fits; --max-tokens N makes more room");
  }
  return ExitStatus::kDone;
}

constexpr Option kContextOptions[] = {
    {.name = "agent",
     .value = "NAME",
     .help = "who is going to read it: what this agent itself has learned is part of it"},
    {.name = "task", .value = "TEXT|-", .help = "what is to be done, or - for what is on stdin"},
    {.name = "max-tokens",
     .value = "N",
     .help = "never more than so many tokens, by an estimate that is rather too high",
     .fallback = "memory_config.context.max_tokens: 800"},
    kSessionFilter,
    {.name = "without-session",
     .value = "ID",
     .help = "not this session, such as the one that asks",
     .repeatable = true,
     .completion = Completion::kSession},
    {.name = "project",
     .value = "NAME",
     .help = "only sessions of this project, and those that name none"},
    kSinceFilter,
    kAsOfFilter,
    {.name = "explain", .help = "show what is said, why, and what is left out instead"},
};

constexpr Example kContextExamples[] = {
    {.command = "bmad-mem context --agent VENUS --task \"Build the dashboard component\"",
     .says = "Markdown for the prompt of VENUS"},
    {.command = "bmad-mem context --task - --max-tokens 400 <issue.txt",
     .says = "a short one, about a text"},
    {.command = "bmad-mem context --task \"Fix the login\" --without-session \"$BMAD_SESSION\"",
     .says = "without what the agent has just said itself"},
    {.command = "bmad-mem context --agent VENUS --task dashboard --explain",
     .says = "why each item is in it"},
};

}  // namespace

const Command kContext = {
    .name = "context",
    .group = Group::kKnow,
    .summary = "print a briefing for a task, as Markdown",
    .description =
        "Prints what is known that matters for a task: critical constraints and pins, what the "
        "agent has learned, facts and earlier talk that the task brings up, the user's "
        "preferences, and errors met before. Nothing is said twice, sensitive entries are left "
        "out, and what comes from the web, from tools or from imports, or is hardly trusted, is "
        "quoted as data.\n\n"
        "The same memory gives the same bytes, whatever the time, so that a prompt's cache holds. "
        "With --json, one object: markdown, tokens, max_tokens, items with the reason for each, "
        "what was omitted, and the time of --as-of as as_of.",
    .options = kContextOptions,
    .examples = kContextExamples,
    .exit_status =
        "0 done, also when there is nothing to say, 1 failed (the error's code is on stderr), "
        "2 wrong usage, 4 something could not be read (the rest is answered).",
    .run = run_context,
    .reads = true,
};

}  // namespace bmad_mem::cli
