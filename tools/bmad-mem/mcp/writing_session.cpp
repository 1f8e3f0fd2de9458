#include <utility>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "exchange/ids.hpp"
#include "mcp/memory_service.hpp"

namespace bmad_mem::cli {
namespace {

/// The session of the host that made this call; empty when the host doesn't say.
std::string session_of_host(const SessionHints& hints, const std::string& root,
                            const McpCall& call) {
  if (!hints.session_id.empty()) {
    return hints.session_id;
  }
  const std::string_view codex = call.meta()["sessionId"].string();
  if (!codex.empty() && call.client_name().starts_with("codex")) {
    return session_id_from("codex-", codex);
  }
  std::string noted = hints.has_host ? noted_conversation(root) : std::string();
  return noted.empty() && !hints.claude_session_id.empty()
             ? session_id_from("cc-", hints.claude_session_id)
             : noted;
}

SessionParams params_of(const SessionHints& hints, std::string session_id, const McpCall& call) {
  SessionParams params;
  params.session_id = std::move(session_id);
  params.project_name = hints.project_name;
  params.session_type = "mcp";
  const std::string client = call.client_name();
  if (!client.empty()) {
    params.agent_ids = {std::string(utf8_prefix(client, 100))};
  }
  return params;
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
