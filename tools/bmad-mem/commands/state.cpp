// state set, state get - what an agent wants to find again when it starts the next time.
#include <string>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "entry_input.hpp"
#include "entry_view.hpp"
#include "filters.hpp"
#include "json_text.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

/// `text` when it is JSON, else `text` as a JSON string.
std::string as_json(const std::string& text) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(text);
  return value && value->kind() != JsonKind::kNull ? json_compact(text) : json_quoted(text);
}

Result<ExitStatus> run_state_set(Tool& tool) {
  std::string text(tool.args().positional(1));
  if (text == "-") {
    BMAD_TRY_ASSIGN(text, read_stdin());
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return tool.wrong_usage("the state is empty");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  AgentStateEntry entry{.agent_id = std::string(tool.args().positional(0)),
                        .state_json = as_json(text)};
  BMAD_TRY_ASSIGN(const std::string id, memory.set_agent_state(session, entry));
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("id", id).member("session_id", session).end_object();
    tool.out().print("{}\n", json.text());
  } else {
    tool.out().print("{}\n", id);
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_state_get(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const std::string_view agent = tool.args().positional(0);
  BMAD_TRY_ASSIGN(const std::optional<Entry> state,
                  memory.agent_state(agent, tool.args().all("session")));
  if (!state) {
    tool.report({.code = ErrorCode::E_SESSION_NOT_FOUND,
                 .message = fmt::format("{} has left no state", agent)});
    return ExitStatus::kNothingFound;
  }
  if (tool.json()) {
    tool.out().print("{}\n", entry_json_line(*state));
    return ExitStatus::kDone;
  }
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue entry, parser.parse(state->json));
  if (const JsonValue text = entry["state"]; text.is_string()) {
    tool.out().print("{}\n", text.string());
    return ExitStatus::kDone;
  }
  for (const MemberText& member : json_members(state->json)) {
    if (member.key == "state") {
      tool.out().print("{}\n", json_pretty(member.value));
    }
  }
  return ExitStatus::kDone;
}

constexpr Positional kStateSetPositionals[] = {
    {.name = "AGENT", .help = "whose state it is"},
    {.name = "STATE|-", .help = "any JSON, or a text, or - for what stands on stdin"}};
constexpr Positional kStateGetPositionals[] = {{.name = "AGENT", .help = "whose state it is"}};
constexpr Option kStateSetOptions[] = {kSessionOption};
constexpr Option kStateGetOptions[] = {kSessionFilter};

constexpr Example kStateSetExamples[] = {
    {.command = "bmad-mem state set architect '{\"task\":\"review the schema\",\"step\":2}'",
     .says = "where the architect goes on next time"},
};
constexpr Example kStateGetExamples[] = {
    {.command = "bmad-mem state get architect", .says = "what it left last, in any session"},
};

}  // namespace

const Command kStateSet = {
    .name = "state set",
    .group = Group::kKnow,
    .summary = "leave an agent's state for its next start",
    .description =
        "Stores STATE, any JSON, as what AGENT wants to find again, and prints the id of the "
        "entry. "
        "Earlier states stay in the log.",
    .positionals = kStateSetPositionals,
    .options = kStateSetOptions,
    .examples = kStateSetExamples,
    .run = run_state_set,
};

const Command kStateGet = {
    .name = "state get",
    .group = Group::kKnow,
    .summary = "print the state that an agent left last",
    .description = "Prints the newest state of AGENT over all sessions, laid out for people.",
    .positionals = kStateGetPositionals,
    .options = kStateGetOptions,
    .examples = kStateGetExamples,
    .exit_status =
        "0 done, 1 failed (the error's code is on stderr), 2 wrong usage, 3 the agent has left no "
        "state.",
    .run = run_state_get,
};

}  // namespace bmad_mem::cli
