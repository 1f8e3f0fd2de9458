// memory_service.hpp - the memory of a project as an MCP server shows it: tools, resources,
// prompts.
//
//   memory_tools_find.cpp    memory_search, memory_context, memory_get, memory_recall
//   memory_tools_write.cpp   memory_add, memory_remember, memory_update, memory_link,
//   memory_forget,
//                            memory_delete
//   memory_tools_about.cpp   memory_sessions, memory_stats, memory_summary, memory_more
//   memory_resources.cpp     memory://sessions/{session_id}, memory://entries/{id} …
//   memory_prompts.cpp       load_context, record_decision, review; completion
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "exchange/graph/graph.hpp"
#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

// What the user of an MCP client has been shown, and may let the agent
// accept.

/// All of a candidate that the user decides about: an agent may not change any of it meanwhile.
std::string offered_text(const KnowledgeItem& item);

/// Candidates that the prompt "review" has shown. Only a person picks a prompt, so for ten minutes
/// an agent may accept them, as they read then. Threads: safe.
class OfferedReviews {
 public:
  void offer(std::string id, std::string value);
  [[nodiscard]] bool has(const std::string& id, std::string_view value) const;

 private:
  struct Offer {
    std::string value;
    std::chrono::steady_clock::time_point until;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Offer, std::less<>> offers_;
};

// The session that a server writes to when a call names none.
//
//   $BMAD_SESSION                             that one
//   Codex: `_meta.sessionId` of the call      codex-<id>, made when it isn't there: that of hooks
//   what the host's hooks noted               that one (exchange/workspaces.hpp)
//   Claude Code: $CLAUDE_CODE_SESSION_ID      cc-<id>: without hooks, and while a resumed
//                                             conversation has sent no event, a new one
//   else                                      one of the server's own, made at the first write

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

class MemoryService : public McpService {
 public:
  /// `lists_all`: of tools/list, all tools, and not the core ones alone.
  MemoryService(const MemoryPlace& place, SessionHints hints, bool lists_all = false);

  /// The user's own memory.
  LazyMemory& users() { return users_; }

  [[nodiscard]] std::vector<std::string> list(std::string_view name) const override;
  /// Takes what is new into the index.
  bool rest() override;
  /// Also a tool that list() leaves out.
  McpAnswer<McpToolResult> call_tool(std::string_view name, JsonValue arguments,
                                     McpCall& call) override;
  McpAnswer<McpPage> resources(std::string_view cursor) override;
  McpAnswer<std::vector<McpResourceText>> read_resource(std::string_view uri,
                                                        McpCall& call) override;
  McpAnswer<McpSubscription> subscribe(const std::string& uri, McpOnChange on_change) override;
  McpSubscription subscribe_to_list(McpOnChange on_change) override;
  McpAnswer<McpPromptResult> get_prompt(std::string_view name, JsonValue arguments,
                                        McpCall& call) override;
  McpAnswer<std::vector<std::string>> complete(const McpCompletionQuery& query) override;

 private:
  LazyMemory memory_;
  LazyMemory users_;
  WritingSession session_;
  OfferedReviews offered_;
  bool lists_all_;
  MemoryWatch watch_;
};

// The face of the reference memory server, over a memory.
//
// Names, schemas and results are those of @modelcontextprotocol/server-memory 0.6.3, so that
// whoever uses it changes one line of configuration. Other than there, nothing is lost when several
// servers write at once, a search doesn't read the disk, what is deleted can be brought back, and
// what comes twice within one call is added once.

class GraphService : public McpService {
 public:
  /// `old_file` ($MEMORY_FILE_PATH): what the reference server kept, taken in when the memory has
  /// no graph yet; it stays as it is. May be empty.
  GraphService(MemoryPlace place, std::string old_file);

  [[nodiscard]] std::vector<std::string> list(std::string_view name) const override;
  McpAnswer<McpToolResult> call_tool(std::string_view name, JsonValue arguments,
                                     McpCall& call) override;
  McpAnswer<McpPage> resources(std::string_view cursor) override;
  McpAnswer<std::vector<McpResourceText>> read_resource(std::string_view uri,
                                                        McpCall& call) override;
  McpAnswer<McpSubscription> subscribe(const std::string& uri, McpOnChange on_change) override;

 private:
  /// Null when there is no memory yet, and none is to be made.
  Result<GraphStore*> store(bool to_write);
  Status take_old_file(GraphStore& graph);

  std::string old_file_;
  LazyMemory memory_;
  std::mutex mutex_;  // Guards the next one, and all that is done with it.
  std::optional<GraphStore> store_;
};

}  // namespace bmad_mem::cli
