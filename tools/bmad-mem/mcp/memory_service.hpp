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

#include <string>
#include <string_view>
#include <vector>

#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"
#include "mcp/memory_watch.hpp"
#include "mcp/offered_reviews.hpp"
#include "mcp/writing_session.hpp"

namespace bmad_mem::cli {

struct MemoryServiceOptions {
  MemoryPlace place;
  SessionHints hints;
  bool lists_all = false;  ///< Of tools/list: all tools, and not the core ones alone.
};

class MemoryService : public McpService {
 public:
  explicit MemoryService(MemoryServiceOptions options);
  ~MemoryService() override;

  /// The user's own memory.
  LazyMemory& users() { return users_; }

  [[nodiscard]] const McpIdentity& identity() const override { return identity_; }
  [[nodiscard]] McpCapabilities capabilities() const override;
  [[nodiscard]] std::vector<std::string> tools() const override;
  /// Takes what is new into the index.
  bool rest() override;
  /// Also a tool that tools() leaves out.
  McpAnswer<McpToolResult> call_tool(std::string_view name, JsonValue arguments,
                                     McpCall& call) override;
  McpAnswer<McpPage> resources(std::string_view cursor) override;
  [[nodiscard]] std::vector<std::string> resource_templates() const override;
  McpAnswer<std::vector<McpResourceText>> read_resource(std::string_view uri,
                                                        McpCall& call) override;
  McpAnswer<McpSubscription> subscribe(const std::string& uri, McpOnChange on_change) override;
  McpSubscription subscribe_to_list(McpOnChange on_change) override;
  [[nodiscard]] std::vector<std::string> prompts() const override;
  McpAnswer<McpPromptResult> get_prompt(std::string_view name, JsonValue arguments,
                                        McpCall& call) override;
  McpAnswer<McpCompletion> complete(const McpCompletionQuery& query) override;

 private:
  McpIdentity identity_;
  LazyMemory memory_;
  LazyMemory users_;
  WritingSession session_;
  OfferedReviews offered_;
  bool lists_all_;
  MemoryWatch watch_;
};

}  // namespace bmad_mem::cli
