// hook - what an agent's hooks call: an event on stdin, an answer on stdout.
#include <charconv>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/privacy.hpp"
#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "hooks/hook_actions.hpp"
#include "hooks/hook_event.hpp"
#include "hooks/hook_limits.hpp"
#include "import/json_repair.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

using std::chrono::milliseconds;

/// The number that option `name` gives, from 1 to an hour's milliseconds; `fallback` without it.
Result<std::uint32_t> read_number(const Arguments& args, std::string_view name,
                                  std::uint32_t fallback) {
  static constexpr std::uint32_t kMax = 3'600'000;
  const auto text = args.maybe(name);
  if (!text) {
    return fallback;
  }
  std::uint32_t number = 0;
  const auto [stop, problem] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (problem != std::errc() || stop != text->data() + text->size() || number == 0 ||
      number > kMax) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("'{}' is no number from 1 to {}", *text, kMax),
                 .field = std::string(name)};
  }
  return number;
}

Result<HookSettings> read_settings(const Arguments& args) {
  HookSettings settings;
  const auto number = [&](std::string_view name, auto fallback) {
    return read_number(args, name, static_cast<std::uint32_t>(fallback));
  };
  BMAD_TRY_ASSIGN(settings.max_tokens, number("max-tokens", settings.max_tokens));
  BMAD_TRY_ASSIGN(const std::uint32_t budget, number("budget-ms", settings.budget.count()));
  BMAD_TRY_ASSIGN(const std::uint32_t limit, number("limit-ms", settings.limit.count()));
  settings.budget = milliseconds(budget);
  settings.limit = milliseconds(limit);
  return settings;
}

/// The memory that the event belongs to; empty when there is none. The client's project comes
/// first: it stays the same all through a session, and the working directory does not.
std::string find_memory(const Tool& tool, const HookEvent& event) {
  const std::string_view chosen = tool.args().value("root");
  const std::string_view by_environment = environment("BMAD_MEMORY_ROOT");
  if (!chosen.empty() || !by_environment.empty()) {
    return std::string(chosen.empty() ? by_environment : chosen);
  }
  std::vector<std::string> folders;
  for (const char* variable : {"CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR"}) {
    if (const std::string_view folder = environment(variable); folder.starts_with('/')) {
      folders.emplace_back(folder);
    }
  }
  folders.insert(folders.end(), event.folders.begin(), event.folders.end());
  for (const std::string& folder : folders) {
    if (Result<std::string> root = MemoryManager::find_root("", "", folder)) {
      return std::move(*root);
    }
  }
  return {};
}

Status take_event(const Tool& tool, HookClient client, const HookSettings& settings,
                  const HookWork& work) {
  BMAD_TRY_ASSIGN(const std::string input, read_stdin());
  JsonParser parser;
  std::string repaired;
  Result<JsonValue> payload = parser.parse(input);
  if (!payload) {
    repaired = repaired_json(input);
    payload = parser.parse(repaired);
  }
  if (!payload || !payload->is_object()) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = fmt::format("what came on stdin is no event of {}, which is a JSON "
                                        "object",
                                        hook_client_info(client).title)};
  }
  const HookEvent event = read_hook_event(client, *payload);
  if (event.kind == HookEventKind::kNothing) {
    return {};
  }
  if (event.kind == HookEventKind::kSessionEnd) {
    work.limit(std::min(settings.limit, kSessionEndLimit), {});
  }
  std::string root = find_memory(tool, event);
  if (root.empty()) {
    return {};  // Not a project with a memory: nothing to do, and nothing to say.
  }
  if (event.session_id.empty()) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = fmt::format("the event {} of {} names no session", event.name,
                                        hook_client_info(client).title)};
  }
  BMAD_TRY_ASSIGN(MemoryManager memory,
                  MemoryManager::open({.root = std::move(root),
                                       .agent_id = std::string(hook_client_info(client).name),
                                       .index_at_the_end = true}));
  return take_hook_event({.memory = memory, .settings = settings, .work = work}, event);
}

Result<ExitStatus> run_hook(Tool& tool) {
  const std::string_view name = tool.args().positional(0);
  const std::optional<HookClient> client = find_hook_client(name);
  if (!client) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("there are no hooks of '{}'; there are claude-code, "
                                        "codex, gemini and cursor",
                                        name)};
  }
  BMAD_TRY_ASSIGN(const HookSettings settings, read_settings(tool.args()));
  const HookResult result = run_limited(settings.limit, [&](const HookWork& work) {
    if (const Status done = take_event(tool, *client, settings, work); !done) {
      work.problem(problem_line(done.error()));
    }
  });
  tool.out().write(result.answer);
  if (!result.problem.empty()) {
    tool.note(fmt::format("hook {}: {}", name, result.problem));
  }
  return ExitStatus::kDone;
}

constexpr std::string_view kClients[] = {"claude-code", "codex", "gemini", "cursor"};

constexpr Positional kHookPositionals[] = {
    {.name = "CLIENT",
     .help = "whose event it is: claude-code, codex, gemini or cursor",
     .completion = Completion::kChoice,
     .choices = kClients},
};

constexpr Option kHookOptions[] = {
    {.name = "max-tokens",
     .value = "N",
     .help = "tell the agent at most so many tokens",
     .fallback = "800"},
    {.name = "budget-ms",
     .value = "N",
     .help = "tell nothing when finding it out takes longer",
     .fallback = "1000"},
    {.name = "limit-ms",
     .value = "N",
     .help = "end after so long, whatever hangs; at a session's end after 1000 at most",
     .fallback = "2000"},
};

constexpr Example kHookExamples[] = {
    {.command = "bmad-mem hook claude-code <event.json", .says = "what Claude Code calls"},
    {.command = "bmad-mem install claude-code", .says = "make it call that"},
};

}  // namespace

const Command kHook = {
    .name = "hook",
    .group = Group::kConnect,
    .summary = "take an event of an agent: record it, and tell what is known",
    .description =
        "Reads one event as JSON on stdin, as the client's hooks hand it over, and prints what the "
        "client is to read. Prompts and answers are recorded as messages, tools as events with a "
        "snippet, sub-agents as sidechains. When a session starts, and after each prompt, what is "
        "known that matters is told.\n\n"
        "The memory is the one of the project in which the client works; without one nothing is "
        "done. An error is one line on stderr and never stands in the agent's way: the exit status "
        "is always 0. Programs that config.json names are never run.",
    .positionals = kHookPositionals,
    .options = kHookOptions,
    .examples = kHookExamples,
    .exit_status = "0, whatever happens.",
    .run = run_hook,
};

}  // namespace bmad_mem::cli
