// graph_service.cpp - answers the nine tools of the reference server from a graph in a memory.
#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "cli/json_text.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/graph/graph.hpp"
#include "mcp/memory_service.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kUri = "memory://knowledge-graph";
// The arguments of the tools. Members that nobody asked for are passed over.
// Errors: E_INVALID_QUERY, naming the place: "entities[1].name: expected a string".

Error wrong(std::string place, std::string_view expected, JsonValue got) {
  return invalid_query(place, fmt::format("{}: expected {}, received {}", place, expected,
                                          got.present() ? json_kind_name(got.kind()) : "nothing"));
}

Result<std::string> read_text(JsonValue object, std::string_view name, std::string_view where) {
  const JsonValue value = object[name];
  if (!value.is_string()) {
    return wrong(where.empty() ? std::string(name) : fmt::format("{}.{}", where, name), "a string",
                 value);
  }
  return std::string(value.string());
}

/// Calls `take(element, "list[3]")` for each element of the array `name` of `object`.
template <typename Take>
Status read_array(JsonValue object, std::string_view name, std::string_view where,
                  const Take& take) {
  const std::string place = where.empty() ? std::string(name) : fmt::format("{}.{}", where, name);
  const JsonValue list = object[name];
  if (!list.is_array()) {
    return wrong(place, "an array", list);
  }
  std::size_t index = 0;
  for (const JsonValue element : list.elements()) {
    BMAD_TRY(take(element, fmt::format("{}[{}]", place, index++)));
  }
  return {};
}

Result<std::vector<std::string>> read_texts(JsonValue object, std::string_view name,
                                            std::string_view where) {
  std::vector<std::string> texts;
  BMAD_TRY(read_array(object, name, where, [&](JsonValue text, std::string place) -> Status {
    if (!text.is_string()) {
      return wrong(std::move(place), "a string", text);
    }
    texts.emplace_back(text.string());
    return {};
  }));
  return texts;
}

/// The members of an object that are read into an Item: texts, and one list of texts.
template <typename Item>
struct ItemMembers {
  std::vector<std::pair<std::string_view, std::string Item::*>> texts;
  std::string_view list_name = {};
  std::vector<std::string> Item::* list = nullptr;
};

/// One for each object in the array `name`.
template <typename Item>
Result<std::vector<Item>> read_items(JsonValue arguments, std::string_view name,
                                     const ItemMembers<Item>& members) {
  std::vector<Item> items;
  BMAD_TRY(
      read_array(arguments, name, {}, [&](JsonValue value, const std::string& place) -> Status {
        if (!value.is_object()) {
          return wrong(place, "an object", value);
        }
        Item& item = items.emplace_back();
        for (const auto& [member, text] : members.texts) {
          BMAD_TRY_ASSIGN(item.*text, read_text(value, member, place));
        }
        if (members.list != nullptr) {
          BMAD_TRY_ASSIGN(item.*members.list, read_texts(value, members.list_name, place));
        }
        return {};
      }));
  return items;
}

Result<std::vector<GraphRelation>> read_relations(JsonValue arguments) {
  return read_items<GraphRelation>(arguments, "relations",
                                   {{{"from", &GraphRelation::from},
                                     {"to", &GraphRelation::to},
                                     {"relationType", &GraphRelation::relation_type}}});
}

/// Objects in the array `list` with an entity's name and an array `texts`.
Result<std::vector<AddedObservations>> read_observations(JsonValue arguments, std::string_view list,
                                                         std::string_view texts) {
  return read_items<AddedObservations>(
      arguments, list,
      {{{"entityName", &AddedObservations::entity_name}}, texts, &AddedObservations::contents});
}

/// `json`, compact, as JSON.stringify(value, null, 2) lays it out.
std::string js_pretty(std::string_view json) {
  std::string out;
  std::string line = "\n";
  while (!json.empty()) {
    const char c = json.front();
    const bool is_empty = json.starts_with("{}") || json.starts_with("[]");
    const std::size_t size = c == '"' ? json_string_end(json, 0) : is_empty ? 2 : 1;
    if (c == '}' || c == ']') {
      line.resize(line.size() - 2);
      out += line;
    }
    out += json.substr(0, size);
    if (c == ':') {
      out += ' ';
    } else if (c == ',') {
      out += line;
    } else if ((c == '{' || c == '[') && !is_empty) {
      out += line += "  ";
    }
    json.remove_prefix(size);
  }
  return out;
}

/// The list under that name; as text it stands alone.
McpToolResult list_result(std::string_view name, const auto& items) {
  return {.text = js_pretty(js_json(json_value(items))),
          .structured = js_json(json_object(name, items))};
}

McpToolResult graph_result(const Graph& graph) {
  std::string json = js_json(json_object(shaped(shape::graph, graph)));
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
  BMAD_TRY_ASSIGN(const std::string query, read_text(arguments, "query", {}));
  BMAD_TRY_ASSIGN(const Graph found, graph == nullptr ? Graph() : graph->search(query));
  return graph_result(found);
}

Result<McpToolResult> open_nodes(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, read_texts(arguments, "names", {}));
  BMAD_TRY_ASSIGN(const Graph found, graph == nullptr ? Graph() : graph->open_nodes(names));
  return graph_result(found);
}

Result<McpToolResult> create_entities(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<GraphEntity> wanted,
                  read_items<GraphEntity>(
                      arguments, "entities",
                      {{{"name", &GraphEntity::name}, {"entityType", &GraphEntity::entity_type}},
                       "observations",
                       &GraphEntity::observations}));
  BMAD_TRY_ASSIGN(const std::vector<GraphEntity> added, graph->create_entities(wanted));
  return list_result("entities", shaped(shape::graph_entity, added));
}

Result<McpToolResult> create_relations(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<GraphRelation> wanted, read_relations(arguments));
  BMAD_TRY_ASSIGN(const std::vector<GraphRelation> added, graph->create_relations(wanted));
  return list_result("relations", shaped(shape::graph_relation, added));
}

Result<McpToolResult> add_observations(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<AddedObservations> wanted,
                  read_observations(arguments, "observations", "contents"));
  BMAD_TRY_ASSIGN(const std::vector<AddedObservations> added, graph->add_observations(wanted));
  return list_result("results", shaped(shape::added_observations, added));
}

Result<McpToolResult> delete_entities(GraphStore* graph, JsonValue arguments) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, read_texts(arguments, "entityNames", {}));
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

McpError no_resource(std::string_view uri) {
  return {McpError::Kind::kInvalidParams,
          fmt::format("MCP error -32602: Resource {} not found", uri)};
}

McpToolResult graph_failure(std::string text) {
  return {.text = std::move(text), .is_error = true};
}

}  // namespace

GraphService::GraphService(MemoryPlace place, std::string old_file)
    : McpService({.name = "memory-server", .version = "0.6.3"}, {.tools = true,
                                                                 .tools_list_changed = true,
                                                                 .resources = true,
                                                                 .resources_list_changed = true,
                                                                 .resources_subscribe = true}),
      old_file_(std::move(old_file)),
      memory_(std::move(place)) {}

/// The nine tools of the reference memory server (0.6.3), as it describes them and in its order.
std::vector<std::string> GraphService::list(std::string_view name) const {
  return mcp_described(fmt::format("graph_{}", name));
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
    return McpError{McpError::Kind::kInvalidParams, "There is no such cursor"};
  }
  return McpPage{.items = mcp_described("graph_resources")};
}

McpAnswer<std::vector<McpResourceText>> GraphService::read_resource(std::string_view uri,
                                                                    McpCall& call) {
  if (uri != kUri) {
    return no_resource(uri);
  }
  McpAnswer<McpToolResult> graph = call_tool("read_graph", {}, call);
  if (!graph || graph->is_error) {
    return McpError{McpError::Kind::kInternal, graph ? graph->text : graph.error().message};
  }
  return std::vector<McpResourceText>{
      {.uri = std::string(uri), .mime_type = "application/json", .text = std::move(graph->text)}};
}

McpAnswer<McpSubscription> GraphService::subscribe(const std::string& uri,
                                                   McpOnChange /*on_change*/) {
  if (uri != kUri) {
    return no_resource(uri);
  }
  return McpSubscription();
}

}  // namespace bmad_mem::cli
