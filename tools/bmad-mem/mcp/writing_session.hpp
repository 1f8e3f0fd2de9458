// writing_session.hpp - the session that a server writes to when a call names none.
//
//   $BMAD_SESSION                             that one
//   Codex: `_meta.sessionId` of the call      codex-<id>, made when it isn't there: that of hooks
//   what the host's hooks noted               that one (exchange/workspaces.hpp)
//   Claude Code: $CLAUDE_CODE_SESSION_ID      cc-<id>: without hooks, and while a resumed
//                                             conversation has sent no event, a new one
//   else                                      one of the server's own, made at the first write
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

struct SessionHints {
  std::string session_id = {};         ///< $BMAD_SESSION
  std::string claude_session_id = {};  ///< $CLAUDE_CODE_SESSION_ID
  std::string project_name = {};
  bool has_host = false;  ///< One host has started the server for itself.
};

/// Threads: safe.
class WritingSession {
 public:
  explicit WritingSession(SessionHints hints) : hints_(std::move(hints)) {}

  /// The session to write to; made when it has to be. Errors: those of create_session().
  Result<std::string> choose(MemoryManager& memory, McpCall& call);
  /// The one that was chosen last; empty before the first write.
  [[nodiscard]] std::string current() const;
  /// It has gone: the next write makes another one.
  void forget(std::string_view session_id);

 private:
  Result<std::string> ensure(MemoryManager& memory, std::string session_id, McpCall& call);

  const SessionHints hints_;
  mutable std::mutex mutex_;  // Guards the next two, and is held while a session is made.
  std::string own_;           // Made for this process.
  std::string current_;
};

}  // namespace bmad_mem::cli
