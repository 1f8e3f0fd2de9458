// memory_service.cpp - tools, resources and prompts of a memory for MCP, and their instructions.
#include "mcp/memory_service.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/question.hpp"
#include "bmad_mem/text.hpp"
#include "cli/entry_options.hpp"
#include "cli/json_text.hpp"
#include "cli/tool.hpp"
#include "exchange/ids.hpp"
#include "exchange/workspaces.hpp"
#include "mcp/memory_text.hpp"
#include "mcp/memory_tools.hpp"

namespace bmad_mem::cli {

namespace {

/// Says in `result` what could not be read.
void add_left_out(LazyMemory& memory, LazyMemory& users, McpToolResult& result) {
  const Result<Readable> opened = to_read_either(memory, users);
  const std::vector<Error> problems =
      opened && opened->memory != nullptr ? opened->memory->problems() : std::vector<Error>();
  if (problems.empty()) {
    return;
  }
  const bool text_is_json = result.text == result.structured;
  if (!result.structured.empty()) {
    const auto shown = [](const Error& problem) { return raw_json(error_as_json(problem)); };
    result.structured.back() = ',';
    result.structured +=
        json_members_of("incomplete", problems | std::views::transform(shown)) + "}";
  }
  result.text = text_is_json ? result.structured : result.text + problem_lines(problems);
}

constexpr std::string_view kMend = "Mend the arguments and call again.";
constexpr std::string_view kRepair = "Tell the user; `bmad-mem verify` shows what is wrong.";

constexpr ErrorAnswer kErrorAnswers[] = {
    {ErrorCode::E_INVALID_QUERY, 400, kMend},
    {ErrorCode::E_INVALID_FORMAT, 400, kMend},
    {ErrorCode::E_SCHEMA_INVALID, 400, kMend},
    {ErrorCode::E_ACCESS_DENIED, 403, "Don't try again; tell the user if it matters."},
    {ErrorCode::E_SESSION_NOT_FOUND, 404,
     "memory_sessions lists the sessions; leave session_id out to use your own."},
    {ErrorCode::E_ENTRY_NOT_FOUND, 404, "memory_search finds entries and their ids."},
    {ErrorCode::E_HUB_NOT_FOUND, 404, kMend},
    {ErrorCode::E_KEY_NOT_FOUND, 404, kMend},
    {ErrorCode::E_CONCURRENT_MOD, 409, kMend},
    {ErrorCode::E_SESSION_ARCHIVED, 409, kMend},
    {ErrorCode::E_NEWER_VERSION, 409, kMend},
    {ErrorCode::E_HUB_VERSION, 409, kMend},
    {ErrorCode::E_SIZE_LIMIT, 413, "Shorten it, or split it into several entries."},
    {ErrorCode::E_LOCK_TIMEOUT, 503,
     "Another process writes to this session right now. Try again in a moment."},
    {ErrorCode::E_RESOURCE_LIMIT, 503,
     "Tell the user: this computer gives the memory server too little."},
    {ErrorCode::E_HUB_AWAY, 503, kMend},
    {ErrorCode::E_QUERY_TIMEOUT, 504, "Use fewer words or more filters."},
    {ErrorCode::E_STORAGE_FULL, 507, kRepair},
    {ErrorCode::E_HUB_FULL, 507, kMend},
    {ErrorCode::E_STORAGE_IO, 500, kRepair},
    {ErrorCode::E_STORAGE_CORRUPT, 500, kRepair},
    {ErrorCode::E_SESSION_CORRUPT, 500, kRepair},
};
static_assert(std::size(kErrorAnswers) == kErrorCodeCount);

McpToolResult failure(const Error& error) {
  return {.text = fmt::format("{}: {}\n{}", error_code_name(error.code), error.to_string(),
                              answer_to(error.code).remedy),
          .is_error = true};
}

}  // namespace

const ErrorAnswer& answer_to(ErrorCode code) {
  return *std::ranges::find(kErrorAnswers, code, &ErrorAnswer::code);
}

McpToolResult nothing_stored_yet() {
  return {.text =
              "Nothing is stored yet: this project has no memory. The first memory_add or "
              "memory_remember makes it."};
}

Result<MemoryManager*> MemoryToolCall::existing(bool or_users) {
  BMAD_TRY_ASSIGN(MemoryManager * found, memory.to_read());
  if (found == nullptr && or_users) {
    BMAD_TRY_ASSIGN(const Readable either, to_read_either(memory, users));
    found = either.memory;
    of_user = either.of_user;
  }
  lacks_memory = found == nullptr;
  return lacks_memory ? Result<MemoryManager*>(Error{.code = ErrorCode::E_SESSION_NOT_FOUND})
                      : found;
}

MemoryService::MemoryService(const MemoryPlace& place, SessionHints hints, bool lists_all)
    : McpService({.name = "bmad-mem",
                  .title = "Project memory",
                  .version = std::string(tool_version()),
                  .instructions = std::string(without_line_end(mcp_instructions()))},
                 {.tools = true,
                  .resources = true,
                  .resources_list_changed = true,
                  .resources_subscribe = true,
                  .prompts = true,
                  .completions = true,
                  .logging = true}),
      memory_(place),
      users_({.explicit_root = place.user_root,
              .agent_id = place.agent_id,
              .access = place.access,
              .read_only = place.read_only}),
      session_(std::move(hints)),
      lists_all_(lists_all),
      watch_(memory_) {}

std::vector<std::string> MemoryService::list(std::string_view name) const {
  if (name != "tools") {
    return mcp_described(name);
  }
  const bool read_only = memory_.place().read_only;  // The few that read are all listed.
  std::vector<std::string> out;
  for (const MemoryTool& tool : all_memory_tools()) {
    const bool is_full = lists_all_ || (read_only && tool.core.empty());
    const std::string_view shown = is_full ? tool.description : tool.core;
    if (!shown.empty() && (!tool.writes || !read_only)) {
      out.push_back(with_fields(json_compact(shown)));
    }
  }
  return out;
}

bool MemoryService::rest() {
  const Result<MemoryManager*> memory = memory_.to_read();
  return memory && *memory != nullptr && (*memory)->index_new_entries();
}

namespace {

/// Whether the workflow allows the tool at all; what it is about is looked at further inside.
Status check_allowed(LazyMemory& memory, const MemoryTool& tool) {
  const Result<MemoryManager*> found = memory.to_read();
  return found && *found != nullptr ? (*found)->check_allowed(tool.operation, /*changes=*/false)
                                    : Status();  // It says itself why there is none.
}

}  // namespace

McpAnswer<McpToolResult> MemoryService::call_tool(std::string_view name, JsonValue arguments,
                                                  McpCall& call) {
  for (const MemoryTool& tool : all_memory_tools()) {
    if (tool.name != name || (tool.writes && memory_.place().read_only)) {
      continue;
    }
    if (const Status allowed = check_allowed(memory_, tool); !allowed) {
      return failure(allowed.error());
    }
    MemoryToolCall tool_call{
        {arguments, tool.parameters}, memory_, users_, session_, offered_, call, *this};
    if (const Status good = tool_call.check(); !good) {
      return failure(good.error());
    }
    std::optional<Question> question;
    if (!tool.writes) {  // Those that do may wait for a model.
      question.emplace();
    }
    Result<McpToolResult> result = tool.run(tool_call);
    if (tool_call.lacks_memory) {
      result = nothing_stored_yet();
      result->is_error = tool.writes;
    }
    if (result && !tool.writes) {
      add_left_out(memory_, users_, *result);
    }
    return result ? *std::move(result) : failure(result.error());
  }
  return McpService::call_tool(name, arguments, call);
}

namespace {

/// The session of the host that made this call; empty when the host doesn't say.
std::string session_of_host(const SessionHints& hints, const std::string& root,
                            const McpCall& call) {
  if (!hints.session_id.empty()) {
    return hints.session_id;
  }
  const std::string_view codex = call.message().meta["sessionId"].string();
  if (!codex.empty() && call.client.starts_with("codex")) {
    return session_id_from("codex-", codex);
  }
  std::string noted = hints.has_host ? noted_conversation(root) : std::string();
  return noted.empty() && !hints.claude_session_id.empty()
             ? session_id_from("cc-", hints.claude_session_id)
             : noted;
}

SessionParams params_of(const SessionHints& hints, std::string session_id, const McpCall& call) {
  std::vector<std::string> agents;
  if (!call.client.empty()) {
    agents.emplace_back(utf8_prefix(call.client, 100));
  }
  return {.session_id = std::move(session_id),
          .agent_ids = std::move(agents),
          .project_name = hints.project_name,
          .session_type = "mcp"};
}

}  // namespace

Result<std::string> WritingSession::ensure(MemoryManager& memory, std::string session_id,
                                           McpCall& call) {
  if (!session_id.empty() && session_id == current_) {
    return session_id;
  }
  Result<std::string> made = memory.create_session(params_of(hints_, session_id, call));
  if (!made && made.error().code == ErrorCode::E_CONCURRENT_MOD) {
    made = session_id;  // It is there already.
  } else if (made) {
    call.log(McpLogLevel::kInfo, fmt::format("made session {}", *made));
    for (const MaintenanceAction& action : memory.maintained_by_the_way()) {
      call.log(McpLogLevel::kNotice, action.what);  // Nothing that entries lose goes untold.
    }
  }
  return made;
}

Result<std::string> WritingSession::choose(MemoryManager& memory, McpCall& call) {
  const std::scoped_lock lock(mutex_);
  const std::string host = session_of_host(hints_, memory.root(), call);
  BMAD_TRY_ASSIGN(std::string session, ensure(memory, host.empty() ? own_ : host, call));
  if (host.empty()) {
    own_ = session;
  }
  current_ = session;
  return session;
}

std::string WritingSession::current() const {
  const std::scoped_lock lock(mutex_);
  return current_;
}

void WritingSession::forget(std::string_view session_id) {
  const std::scoped_lock lock(mutex_);
  if (own_ == session_id) {
    own_.clear();
  }
  if (current_ == session_id) {
    current_.clear();
  }
}

}  // namespace bmad_mem::cli
