// mcp - the memory for any host that speaks the Model Context Protocol.
#include <unistd.h>

#include <array>
#include <climits>
#include <string>
#include <utility>

#include "commands/commands.hpp"
#include "mcp/memory_service.hpp"
#include "mcp/stdio_transport.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

/// Where the project is: hosts start servers in folders of their own.
std::string project_directory() {
  if (const std::string_view named = environment("CLAUDE_PROJECT_DIR"); !named.empty()) {
    return std::string(named);
  }
  std::array<char, PATH_MAX> buffer{};
  return ::getcwd(buffer.data(), buffer.size()) == nullptr ? std::string() : buffer.data();
}

std::string last_name(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return std::string(path.substr(path.rfind('/') + 1));
}

Result<ExitStatus> run(Tool& tool) {
  const Arguments& args = tool.args();
  MemoryServiceOptions options;
  options.place.explicit_root = args.value("root");
  options.place.environment_root = environment("BMAD_MEMORY_ROOT");
  options.place.directory = project_directory();
  options.place.agent_id = tool.agent_id();
  options.place.read_only = args.has("read-only");
  const std::string workflow(args.maybe("workflow").value_or(environment("BMAD_MEM_WORKFLOW")));
  if (!workflow.empty() || args.has("workflow")) {
    BMAD_TRY_ASSIGN(options.place.access, read_workflow(workflow));
  }
  options.hints.session_id = environment("BMAD_SESSION");
  options.hints.claude_session_id = environment("CLAUDE_CODE_SESSION_ID");
  options.hints.project_name = last_name(options.place.directory);
  MemoryService service(std::move(options));
  BMAD_TRY(serve_mcp_on_stdio(service));
  return ExitStatus::kDone;
}

constexpr Option kOptions[] = {
    {.name = "read-only", .help = "offer no tools that write, and make no memory"},
};

constexpr Example kExamples[] = {
    {.command = "claude mcp add memory -- bmad-mem mcp", .says = "give Claude Code the memory"},
    {.command = "codex mcp add memory -- bmad-mem mcp", .says = "the same for Codex"},
    {.command = "bmad-mem mcp --read-only", .says = "let an agent read only"},
};

}  // namespace

const Command kMcp = {
    .name = "mcp",
    .group = Group::kConnect,
    .summary = "serve the memory to agents, as an MCP server on stdio",
    .description =
        "Speaks the Model Context Protocol on stdin and stdout: tools to search, add, remember, "
        "recall and delete, sessions and entries as resources, prompts. Agents start it by "
        "themselves once it is in their settings; docs/mcp.md shows them.\n\n"
        "The memory is that of the project ($CLAUDE_PROJECT_DIR, else the working directory). "
        "Where there is none, reads answer that nothing is stored yet, and the first write makes "
        "one. The server ends at the end of its input, at SIGINT and at SIGTERM.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace bmad_mem::cli
