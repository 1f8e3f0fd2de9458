// memory_service.hpp - the memory of a project as an MCP server shows it: tools, resources,
// prompts.
//
//   memory_tools_find.cpp    memory_search, memory_context, memory_get, memory_recall
//   memory_tools_write.cpp   memory_add, memory_remember, memory_delete
//   memory_tools_about.cpp   memory_sessions, memory_stats, memory_summary
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"
#include "mcp/writing_session.hpp"

namespace bmad_mem::cli {

struct MemoryServiceOptions {
  MemoryPlace place;
  SessionHints hints;
};

class MemoryService : public McpService {
 public:
  explicit MemoryService(MemoryServiceOptions options);
  ~MemoryService() override;

  [[nodiscard]] const McpIdentity& identity() const override { return identity_; }
  [[nodiscard]] McpCapabilities capabilities() const override;
  [[nodiscard]] std::vector<std::string> tools() const override;
  McpAnswer<McpToolResult> call_tool(std::string_view name, JsonValue arguments,
                                     McpCall& call) override;

 private:
  McpIdentity identity_;
  LazyMemory memory_;
  WritingSession session_;
};

}  // namespace bmad_mem::cli
