// mcp - the memory for any host that speaks the Model Context Protocol.
#include <unistd.h>

#include <array>
#include <climits>
#include <string>
#include <utility>

#include "commands/commands.hpp"
#include "mcp/graph_service.hpp"
#include "mcp/memory_service.hpp"
#include "mcp/stdio_transport.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kServerMemory = "server-memory";

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

Result<MemoryPlace> read_place(const Tool& tool) {
  const Arguments& args = tool.args();
  MemoryPlace place{.explicit_root = std::string(args.value("root")),
                    .environment_root = std::string(environment("BMAD_MEMORY_ROOT")),
                    .directory = project_directory(),
                    .agent_id = std::string(tool.agent_id()),
                    .read_only = args.has("read-only")};
  const std::string workflow(args.maybe("workflow").value_or(environment("BMAD_MEM_WORKFLOW")));
  if (!workflow.empty() || args.has("workflow")) {
    BMAD_TRY_ASSIGN(place.access, read_workflow(workflow));
  }
  return place;
}

/// The reference server starts a relative path at the folder that it is installed in, which tells
/// nobody anything; here it starts at the project.
std::string old_graph_file(const std::string& directory) {
  const std::string path(environment("MEMORY_FILE_PATH"));
  return path.empty() || path.front() == '/' ? path : directory + "/" + path;
}

Result<ExitStatus> run_mcp(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryPlace place, read_place(tool));
  if (const auto face = tool.args().maybe("compat")) {
    if (*face != kServerMemory) {
      return tool.wrong_usage(fmt::format("--compat takes {}, not '{}'", kServerMemory, *face));
    }
    if (place.read_only) {
      return tool.wrong_usage("--read-only and --compat don't go together");
    }
    std::string old_file = old_graph_file(place.directory);
    GraphService service(std::move(place), std::move(old_file));
    BMAD_TRY(serve_mcp_on_stdio(service));
    return ExitStatus::kDone;
  }
  MemoryServiceOptions options;
  options.place = std::move(place);
  options.hints.session_id = environment("BMAD_SESSION");
  options.hints.claude_session_id = environment("CLAUDE_CODE_SESSION_ID");
  options.hints.project_name = last_name(options.place.directory);
  MemoryService service(std::move(options));
  BMAD_TRY(serve_mcp_on_stdio(service));
  return ExitStatus::kDone;
}

constexpr std::string_view kFaces[] = {kServerMemory};

constexpr Option kMcpOptions[] = {
    {.name = "compat",
     .value = "NAME",
     .help = "show another server's tools: server-memory, the reference memory server's",
     .completion = Completion::kChoice,
     .choices = kFaces},
    {.name = "read-only", .help = "offer no tools that write, and make no memory"},
};

constexpr Example kMcpExamples[] = {
    {.command = "claude mcp add memory -- bmad-mem mcp", .says = "give Claude Code the memory"},
    {.command = "codex mcp add memory -- bmad-mem mcp", .says = "the same for Codex"},
    {.command = "claude mcp add memory -- bmad-mem mcp --compat server-memory",
     .says = "in the place of @modelcontextprotocol/server-memory"},
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
        "With --compat server-memory it has the nine tools of the reference memory server, with "
        "their names and results; the graph is kept as facts in the session server-memory. A file "
        "that $MEMORY_FILE_PATH names is taken in when there is no graph yet, and stays as it "
        "is.\n\n"
        "The memory is that of the project ($CLAUDE_PROJECT_DIR, else the working directory). "
        "Where there is none, reads answer that nothing is stored yet, and the first write makes "
        "one. The server ends at the end of its input, at SIGINT and at SIGTERM.",
    .options = kMcpOptions,
    .examples = kMcpExamples,
    .run = run_mcp,
};

}  // namespace bmad_mem::cli
