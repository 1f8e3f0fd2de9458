// graph_service.hpp - the face of the reference memory server, over a memory.
//
// Names, schemas and results are those of @modelcontextprotocol/server-memory 0.6.3, so that
// whoever uses it changes one line of configuration. Other than there, nothing is lost when several
// servers write at once, a search doesn't read the disk, what is deleted can be brought back, and
// what comes twice within one call is added once.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "exchange/graph/graph.hpp"
#include "mcp/lazy_memory.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {

class GraphService : public McpService {
 public:
  /// `old_file` ($MEMORY_FILE_PATH): what the reference server kept, taken in when the memory has
  /// no graph yet; it stays as it is. May be empty.
  GraphService(MemoryPlace place, std::string old_file);

  [[nodiscard]] const McpIdentity& identity() const override { return identity_; }
  [[nodiscard]] McpCapabilities capabilities() const override;
  [[nodiscard]] std::vector<std::string> tools() const override;
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

  McpIdentity identity_;
  std::string old_file_;
  LazyMemory memory_;
  std::mutex mutex_;  // Guards the next one, and all that is done with it.
  std::optional<GraphStore> store_;
};

}  // namespace bmad_mem::cli
