#include "mcp/graph_service.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/graph/graph.hpp"
#include "mcp/graph_json.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kUri = "memory://knowledge-graph";
constexpr std::string_view kResource =
    R"({"uri":"memory://knowledge-graph","name":"knowledge-graph","title":"Knowledge Graph",)"
    R"("description":"The entire knowledge graph: entities, observations and relations",)"
    R"("mimeType":"application/json"})";

McpToolResult list_result(std::string_view member, const std::string& json) {
  return {.text = js_pretty(json), .structured = fmt::format(R"({{"{}":{}}})", member, json)};
}

McpToolResult graph_result(const Graph& graph) {
  std::string json = graph_json(graph);
  return {.text = js_pretty(json), .structured = std::move(json)};
}

McpToolResult done(std::string_view message) {
  return {.text = std::string(message),
          .structured = fmt::format(R"({{"success":true,"message":"{}"}})", message)};
}

using Run = Result<McpToolResult> (*)(GraphStore* graph, JsonValue arguments);

// Reading a memory that isn't there yet: an empty graph.

Result<McpToolResult> read_graph(GraphStore* graph, JsonValue /*arguments*/) {
  if (graph == nullptr) {
    return graph_result({});
  }
  BMAD_TRY_ASSIGN(const Graph* all, graph->graph());
  return graph_result(*all);
}

Result<McpToolResult> search_nodes(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::string query, read_query(arguments));
  if (graph == nullptr) {
    return graph_result({});
  }
  BMAD_TRY_ASSIGN(const Graph found, graph->search(query));
  return graph_result(found);
}

Result<McpToolResult> open_nodes(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, read_names(arguments, "names"));
  if (graph == nullptr) {
    return graph_result({});
  }
  BMAD_TRY_ASSIGN(const Graph found, graph->open_nodes(names));
  return graph_result(found);
}

Result<McpToolResult> create_entities(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<GraphEntity> wanted, read_entities(arguments));
  BMAD_TRY_ASSIGN(const std::vector<GraphEntity> added, graph->create_entities(wanted));
  return list_result("entities", entities_json(added));
}

Result<McpToolResult> create_relations(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<GraphRelation> wanted, read_relations(arguments));
  BMAD_TRY_ASSIGN(const std::vector<GraphRelation> added, graph->create_relations(wanted));
  return list_result("relations", relations_json(added));
}

Result<McpToolResult> add_observations(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<AddedObservations> wanted,
                  read_observations(arguments, "observations", "contents"));
  BMAD_TRY_ASSIGN(const std::vector<AddedObservations> added, graph->add_observations(wanted));
  return list_result("results", added_observations_json(added));
}

Result<McpToolResult> delete_entities(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, read_names(arguments, "entityNames"));
  BMAD_TRY(graph->delete_entities(names));
  return done("Entities deleted successfully");
}

Result<McpToolResult> delete_observations(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<AddedObservations> unwanted,
                  read_observations(arguments, "deletions", "observations"));
  BMAD_TRY(graph->delete_observations(unwanted));
  return done("Observations deleted successfully");
}

Result<McpToolResult> delete_relations(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<GraphRelation> unwanted, read_relations(arguments));
  BMAD_TRY(graph->delete_relations(unwanted));
  return done("Relations deleted successfully");
}

struct GraphTool {
  std::string_view name;
  bool writes;
  Run run;  ///< `graph` is null only for those that don't write.
};

constexpr GraphTool kGraphTools[] = {
    {"create_entities", true, create_entities},
    {"create_relations", true, create_relations},
    {"add_observations", true, add_observations},
    {"delete_entities", true, delete_entities},
    {"delete_observations", true, delete_observations},
    {"delete_relations", true, delete_relations},
    {"read_graph", false, read_graph},
    {"search_nodes", false, search_nodes},
    {"open_nodes", false, open_nodes},
};

Error too_long() {
  return {.code = ErrorCode::E_SIZE_LIMIT,
          .message = fmt::format("the line is longer than {} bytes", FileLines::kLineSizeMax)};
}

McpToolResult graph_failure(std::string text) {
  return {.text = std::move(text), .is_error = true};
}

}  // namespace

GraphService::GraphService(MemoryPlace place, std::string old_file)
    : identity_{.name = "memory-server", .version = "0.6.3"},
      old_file_(std::move(old_file)),
      memory_(std::move(place)) {}

McpCapabilities GraphService::capabilities() const {
  return {.tools = true,
          .tools_list_changed = true,
          .resources = true,
          .resources_list_changed = true,
          .resources_subscribe = true};
}

/// What the reference server kept, line by line. A line that is none is an error, as it is there:
/// whoever repairs the file loses nothing.
Status GraphService::take_old_file(GraphStore& graph) {
  Graph old;
  JsonParser parser;
  Result<FileLines> lines = FileLines::open(old_file_);
  if (!lines) {
    return lines.error().os_error == ENOENT ? Status() : lines.error();
  }
  FileLine line;
  while (true) {
    BMAD_TRY_ASSIGN(const bool more, lines->next(line));
    if (!more) {
      break;
    }
    if (!line.too_long && line.text.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    const Result<JsonValue> value = line.too_long ? too_long() : parser.parse(line.text);
    if (!value) {
      return Error{.code = value.error().code,
                   .message = fmt::format("{}, line {}: {}; nothing was taken in", old_file_,
                                          line.number, value.error().message),
                   .path = old_file_,
                   .line = line.number};
    }
    GraphLine item = graph_line_from(*value);
    if (auto* entity = std::get_if<GraphEntity>(&item)) {
      old.entities.push_back(std::move(*entity));
    } else if (auto* relation = std::get_if<GraphRelation>(&item)) {
      old.relations.push_back(std::move(*relation));
    }
  }
  return graph.take_in(old);
}

Result<GraphStore*> GraphService::store(bool to_write) {
  if (!store_) {
    const bool makes_one = to_write || !old_file_.empty();
    BMAD_TRY_ASSIGN(MemoryManager * memory, makes_one ? memory_.to_write() : memory_.to_read());
    if (memory == nullptr) {
      return nullptr;
    }
    BMAD_TRY_ASSIGN(GraphStore graph, GraphStore::open(*memory));
    if (!old_file_.empty()) {
      BMAD_TRY_ASSIGN(const bool wants, graph.wants_graph());
      if (wants) {
        BMAD_TRY(take_old_file(graph));
      }
    }
    store_.emplace(std::move(graph));
  }
  return &*store_;
}

McpAnswer<McpToolResult> GraphService::call_tool(std::string_view name, JsonValue arguments,
                                                 McpCall& call) {
  const auto* const tool = std::ranges::find(kGraphTools, name, &GraphTool::name);
  if (tool == std::end(kGraphTools)) {
    return graph_failure(fmt::format("MCP error -32602: Tool {} not found", name));
  }
  Result<McpToolResult> result = [&]() -> Result<McpToolResult> {
    const std::lock_guard guard(mutex_);
    BMAD_TRY_ASSIGN(GraphStore * graph, store(tool->writes));
    return tool->run(graph, arguments);
  }();
  if (!result) {
    const Error& error = result.error();
    if (error.code == ErrorCode::E_INVALID_QUERY && !error.field.empty()) {
      return graph_failure(
          fmt::format("MCP error -32602: Input validation error: Invalid arguments for tool {}: {}",
                      name, error.message));
    }
    return graph_failure(error.message);
  }
  if (tool->writes) {
    call.resource_updated(kUri);
  }
  return *std::move(result);
}

McpAnswer<McpPage> GraphService::resources(std::string_view cursor) {
  if (!cursor.empty()) {
    return std::unexpected(McpError{McpError::Kind::kInvalidParams, "There is no such cursor"});
  }
  return McpPage{.items = {std::string(kResource)}};
}

McpAnswer<std::vector<McpResourceText>> GraphService::read_resource(std::string_view uri,
                                                                    McpCall& call) {
  if (uri != kUri) {
    return std::unexpected(McpError{McpError::Kind::kInvalidParams,
                                    fmt::format("MCP error -32602: Resource {} not found", uri)});
  }
  McpAnswer<McpToolResult> graph = call_tool("read_graph", {}, call);
  if (!graph || graph->is_error) {
    return std::unexpected(
        McpError{McpError::Kind::kInternal, graph ? graph->text : graph.error().message});
  }
  return std::vector<McpResourceText>{
      {.uri = std::string(uri), .mime_type = "application/json", .text = std::move(graph->text)}};
}

McpAnswer<std::unique_ptr<McpSubscription>> GraphService::subscribe(const std::string& uri,
                                                                    McpOnChange /*on_change*/) {
  if (uri != kUri) {
    return std::unexpected(McpError{McpError::Kind::kInvalidParams,
                                    fmt::format("MCP error -32602: Resource {} not found", uri)});
  }
  return std::unique_ptr<McpSubscription>();
}

}  // namespace bmad_mem::cli
