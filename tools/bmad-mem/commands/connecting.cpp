// connecting.cpp - agents and their clients.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/text.hpp"
#include "bmad_mem/trust.hpp"
#include "cli/entry_options.hpp"
#include "cli/hub_interface.hpp"
#include "cli/program.hpp"
#include "cli/tool.hpp"
#include "exchange/files.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/memory_tool/memory_tool.hpp"
#include "exchange/transcript_text.hpp"
#include "exchange/workspaces.hpp"
#include "hooks/hook_actions.hpp"
#include "hooks/hook_event.hpp"
#include "hooks/hook_limits.hpp"
#include "install/install_plan.hpp"
#include "mcp/memory_service.hpp"
#include "mcp/stdio_transport.hpp"

namespace bmad_mem::cli {
namespace {

/// Where the project is: hosts start servers in folders of their own.
std::string project_directory() {
  if (const std::string_view named = environment("CLAUDE_PROJECT_DIR"); !named.empty()) {
    return std::string(named);
  }
  return working_directory();
}

Result<MemoryPlace> read_place(const Tool& tool) {
  const Arguments& args = tool.args();
  MemoryPlace place{
      .explicit_root = tool.is_for_user() ? user_memory_root() : std::string(args.value("root")),
      .environment_root = std::string(environment("BMAD_MEMORY_ROOT")),
      .directory = project_directory(),
      .user_root = tool.user_root(),
      .agent_id = std::string(tool.agent_id()),
      .read_only = args.has("read-only")};
  BMAD_TRY_ASSIGN(place.access, tool.access());
  return place;
}

/// The reference server starts a relative path at the folder that it is installed in, which tells
/// nobody anything; here it starts at the project.
std::string old_graph_file(const std::string& directory) {
  const std::string path(environment("MEMORY_FILE_PATH"));
  return path.empty() || path.front() == '/' ? path : directory + "/" + path;
}

}  // namespace

Result<ExitStatus> run_mcp(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryPlace place, read_place(tool));
  if (tool.args().has("compat")) {
    std::string old_file = old_graph_file(place.directory);
    GraphService service(std::move(place), std::move(old_file));
    BMAD_TRY(serve_mcp_on_stdio(service));
    return ExitStatus::kDone;
  }
  SessionHints hints{.session_id = std::string(environment("BMAD_SESSION")),
                     .claude_session_id = std::string(environment("CLAUDE_CODE_SESSION_ID")),
                     .project_name = std::string(base_name(trimmed(place.directory, "/"))),
                     .has_host = true};
  MemoryService service(place, std::move(hints), tool.args().value("tools") == "full");
  BMAD_TRY(serve_mcp_on_stdio(service));
  return ExitStatus::kDone;
}

namespace {

using std::chrono::milliseconds;

Result<HookSettings> read_settings(const Arguments& args) {
  HookSettings settings;
  const auto number = [&](std::string_view name, auto fallback) {
    return read_number<std::uint32_t>(args, name, static_cast<std::uint32_t>(fallback),
                                      "a number from 1 to 3600000", 1, 3'600'000);
  };
  BMAD_TRY_ASSIGN(settings.max_tokens, number("max-tokens", settings.max_tokens));
  BMAD_TRY_ASSIGN(const std::uint32_t budget, number("budget-ms", settings.budget.count()));
  BMAD_TRY_ASSIGN(const std::uint32_t limit, number("limit-ms", settings.limit.count()));
  settings.budget = milliseconds(budget);
  settings.limit = milliseconds(limit);
  settings.tells = !args.has("no-context");
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
  if (folders.empty()) {  // Windsurf names none, and runs its hooks in the project.
    folders.push_back(working_directory());
  }
  for (const std::string& folder : folders) {
    if (Result<std::string> root = MemoryManager::find_root("", "", folder, trusting_folder())) {
      return std::move(*root);
    }
  }
  return {};
}

/// Of tools a client tells so often that the index waits for another event.
bool is_about_tool(HookEventKind kind) {
  return kind == HookEventKind::kBeforeTool || kind == HookEventKind::kAfterTool;
}

/// Cline 3 sends answers and no prompts, so at an answer, and at tools, whose hooks take context,
/// these are taken from its own file of the session. They have the ids that an import gives them:
/// neither doubles the other. The event of the first tool after a prompt gets its text.
Status take_prompts(MemoryManager& memory, HookEvent& event) {
  const std::string& name = event.transcript;
  const std::string path = fmt::format("{0}/{1}/{1}.messages.json", cline_sessions(), name);
  const bool is_tool = event.kind == HookEventKind::kAfterTool;
  if (name.empty() || name.contains('/') || !is_there(path) ||
      !(is_tool ? takes_context(event) : event.kind == HookEventKind::kMessage)) {
    return {};
  }
  const ActingAs writer(Origin::kPerson);
  ImportSink sink(&memory, [](const Error&) {});
  BMAD_TRY(import_file({.path = path},
                       {.format = find_import_format("cline"),
                        .session_id = event.session_id,
                        .project = project_name(memory.root()),
                        .prompts_only = true,
                        .folder = project_folder(memory.root())},
                       sink, [](std::uint64_t) {}));
  BMAD_TRY(sink.finish());
  if (is_tool && sink.report().written_in_all() > 0) {
    const std::optional<Entry> prompt = last_prompt(memory, event.session_id);
    const ParsedJson entry(prompt ? prompt->json : "null");
    event.text = entry ? (*entry)["content"].string() : std::string_view();
  }
  return {};
}

/// Takes the prompts that the event lacks, and notes in which session its host talks.
void follow(MemoryManager& memory, HookEvent& event, const HookWork& work) {
  if (const Status taken = take_prompts(memory, event); !taken) {
    work.problem(problem_line(taken.error()));
  }
  const bool begins_turn = !event.is_sidechain && (event.kind == HookEventKind::kSessionStart ||
                                                   event.kind == HookEventKind::kPrompt);
  if (begins_turn && memory.check_writable()) {
    note_conversation(memory.root(), event.session_id);
  }
}

Result<MemoryManager> open_for_hook(const Tool& tool, const ClientFacts& client, std::string root,
                                    const HookWork& work) {
  OpenOptions options{.root = std::move(root),
                      .user_root = tool.user_root(),
                      .agent_id = std::string(client.name),
                      .state_folder = trusting_folder(),
                      .writes_as = Origin::kAgent,
                      .tolerate_bad_config = true,
                      .encryption_key = encryption_key_here(),
                      .index_at_the_end = true,
                      .runs_programs = false};
  BMAD_TRY_ASSIGN(options.access, tool.access());
  Result<MemoryManager> memory = MemoryManager::open(std::move(options));
  if (!memory || !memory->config_problem()) {
    return memory;
  }
  const Error& problem = *memory->config_problem();
  if (problem.code != ErrorCode::E_SCHEMA_INVALID && problem.code != ErrorCode::E_INVALID_FORMAT) {
    return problem;  // It can't be read, or is of a newer version, and may forbid to record.
  }
  // An invalid value is reported before the answer: later nobody reads, and recording continues.
  work.problem(problem_line(problem));
  return memory;
}

Status take_event(const Tool& tool, const ClientFacts& client, const HookSettings& settings,
                  const HookWork& work) {
  BMAD_TRY_ASSIGN(const std::string input, read_stdin());
  ParsedJson payload(input);
  if (!payload) {
    payload = ParsedJson(repaired_json(input));
  }
  if (!payload || !payload->is_object()) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = fmt::format("what came on stdin is no event of {}, which is a JSON "
                                        "object",
                                        client.title)};
  }
  HookEvent event = read_hook_event(client, *payload);
  if (event.kind == HookEventKind::kNothing) {
    return {};
  }
  if (event.kind == HookEventKind::kSessionEnd) {
    work.limit(std::min(settings.limit, kSessionEndLimit), {});
  }
  std::string root = find_memory(tool, event);
  const bool has_project = !root.empty();
  if (!has_project) {  // What the user wants everywhere is told, and nothing is recorded.
    root = tool.user_root();
    if (!has_memory(root)) {
      return {};  // Nothing to do, and nothing to say.
    }
  }
  if (event.session_id.empty()) {
    return Error{
        .code = ErrorCode::E_INVALID_FORMAT,
        .message = fmt::format("the event {} of {} names no session", event.name, client.title)};
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, open_for_hook(tool, client, std::move(root), work));
  HookPolicy policy = memory.hook_policy();
  policy.records = policy.records && has_project;
  if (!is_skipped(policy, event)) {
    follow(memory, event, work);
  }
  if (!is_about_tool(event.kind) && memory.check_writable()) {
    // The last event of a session learns from it, which nothing does later.
    constexpr std::chrono::milliseconds kPatience(1000);
    work.claim(memory.root(), event.session_id,
               event.kind == HookEventKind::kSessionEnd ? kPatience : kPatience.zero());
  }
  const Status done = take_hook_event(
      {.memory = memory, .settings = settings, .work = work, .policy = policy}, event);
  if (!done) {
    work.problem(problem_line(done.error()));
  }
  if (event.kind == HookEventKind::kSessionEnd && policy.syncs_at_end) {
    if (const std::string helper = hub_helper(); !helper.empty()) {
      start_program({helper, "--root", memory.root(), "--quiet", "sync"});
    }
  }
  if (!work.is_alone()) {
    work.done();
    ::_exit(0);  // The other one makes the index, which `memory` would do as it goes.
  }
  const bool is_turn_over = event.kind != HookEventKind::kPrompt;
  if (!is_about_tool(event.kind) && memory.index_new_entries(is_turn_over)) {
    work.said_all();  // The index is made when `memory` goes.
  }
  return {};
}

}  // namespace

Result<ExitStatus> run_hook(Tool& tool) {
  const std::string_view name = tool.args().positional(0);
  const ClientFacts* const client = find_client(name);
  if (client == nullptr || !client->has_hooks()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("there are no hooks of '{}'; there are {}", name,
                                        fmt::join(client_names(/*with_hooks=*/true), ", "))};
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

Result<ExitStatus> run_install(Tool& tool) { return run_install(tool, true); }

Result<ExitStatus> run_uninstall(Tool& tool) { return run_install(tool, false); }

namespace {

void print_answer(Tool& tool, bool is_error, std::string_view content, std::uint64_t redacted) {
  const std::string text = fmt::format("{}{}", is_error ? "Error: " : "", content);
  if (tool.json()) {
    print_object(tool, "is_error", is_error, "content", utf8_repaired(text), "redacted",
                 if_some(redacted));
  } else {
    tool.out().print("{}\n", text);
  }
}

Result<std::string> answer(std::string_view input, const MemoryManager& memory,
                           MemoryTool& memory_tool) {
  const ParsedJson command(input);
  if (!command || !command->is_object()) {
    return Error{
        .code = ErrorCode::E_INVALID_FORMAT,
        .message = fmt::format("The command must be one JSON object{}{}", command ? "" : ": ",
                               command ? std::string() : command.error().message)};
  }
  if ((*command)["command"].string() != "view") {
    BMAD_TRY(memory.check_writable());
    BMAD_TRY(memory.check_allowed("memory-tool"));
  }
  return memory_tool.run(*command);
}

}  // namespace

Result<ExitStatus> run_memory_tool(Tool& tool, MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, memory.scanner());
  BMAD_TRY_ASSIGN(const std::string input, read_stdin());
  BMAD_TRY_ASSIGN(MemoryFolder folder, MemoryFolder::open(memory.root()));
  MemoryTool memory_tool(folder, scanner, memory.is_foreign());
  const Result<std::string> done = answer(input, memory, memory_tool);
  if (!done) {
    print_answer(tool, true, done.error().to_string(), 0);
    return ExitStatus::kFailed;
  }
  print_answer(tool, false, *done, memory_tool.redacted());
  return describe(tool, "taken_out", "redacted", memory_tool.redacted());
}

}  // namespace bmad_mem::cli
