// graph_schemas.cpp - the nine tools of the reference memory server (0.6.3), as it describes them
// and in its order.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "mcp/graph_service.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kDialect = R"("$schema":"http://json-schema.org/draft-07/schema#")";
// Results are closed, arguments are not: what is too much in them is passed over.
constexpr std::string_view kClosed = R"(,"additionalProperties":false)";

constexpr std::string_view kTexts = R"({"type":"array","items":{"type":"string"}})";

std::string described(std::string_view text) {
  return fmt::format(R"({{"type":"string","description":"{}"}})", text);
}

std::string texts(std::string_view description) {
  return fmt::format(R"({{"type":"array","items":{{"type":"string"}},"description":"{}"}})",
                     description);
}

std::string array_of(std::string_view items) {
  return fmt::format(R"({{"type":"array","items":{}}})", items);
}

std::string entity(std::string_view closed) {
  return fmt::format(
      R"({{"type":"object","properties":{{"name":{},"entityType":{},"observations":{}}},)"
      R"("required":["name","entityType","observations"]{}}})",
      described("The name of the entity"), described("The type of the entity"),
      texts("An array of observation contents associated with the entity"), closed);
}

std::string relation(std::string_view closed) {
  return fmt::format(R"({{"type":"object","properties":{{"from":{},"to":{},"relationType":{}}},)"
                     R"("required":["from","to","relationType"]{}}})",
                     described("The name of the entity where the relation starts"),
                     described("The name of the entity where the relation ends"),
                     described("The type of the relation"), closed);
}

std::string object_of_two(std::string_view first, std::string_view first_schema,
                          std::string_view second, std::string_view second_schema,
                          std::string_view closed) {
  return fmt::format(
      R"({{"type":"object","properties":{{"{0}":{1},"{2}":{3}}},"required":["{0}","{2}"]{4}}})",
      first, first_schema, second, second_schema, closed);
}

/// The arguments of a tool that takes one.
std::string takes(std::string_view name, std::string_view schema) {
  return fmt::format(R"({{"type":"object","properties":{{"{0}":{1}}},"required":["{0}"],{2}}})",
                     name, schema, kDialect);
}

/// The result of a tool that gives one thing.
std::string gives(std::string_view name, std::string_view schema) {
  return fmt::format(R"({{"type":"object","properties":{{"{0}":{1}}},"required":["{0}"],{2}{3}}})",
                     name, schema, kDialect, kClosed);
}

std::string gives_graph() {
  return object_of_two("entities", array_of(entity(kClosed)), "relations",
                       array_of(relation(kClosed)), fmt::format(",{}{}", kDialect, kClosed));
}

std::string gives_success() {
  return object_of_two("success", R"({"type":"boolean"})", "message", R"({"type":"string"})",
                       fmt::format(",{}{}", kDialect, kClosed));
}

enum class Effect { kAdds, kDeletes, kReads };

std::string tool(std::string_view name, std::string_view title, std::string_view description,
                 std::string_view input, std::string_view output, Effect effect) {
  return fmt::format(
      R"({{"name":"{}","title":"{}","description":"{}","inputSchema":{},"outputSchema":{},)"
      R"("annotations":{{"readOnlyHint":{},"destructiveHint":{},"idempotentHint":{},)"
      R"("openWorldHint":false}},"execution":{{"taskSupport":"forbidden"}}}})",
      name, title, description, input, output, effect == Effect::kReads, effect == Effect::kDeletes,
      effect != Effect::kAdds);
}

std::string observations_to_add() {
  return object_of_two("entityName", described("The name of the entity to add the observations to"),
                       "contents", texts("An array of observation contents to add"), "");
}

std::string observations_to_delete() {
  return object_of_two("entityName",
                       described("The name of the entity containing the observations"),
                       "observations", texts("An array of observations to delete"), "");
}

std::string relations_to_delete() {
  return fmt::format(
      R"({{"type":"array","items":{},"description":"An array of relations to delete"}})",
      relation(""));
}

}  // namespace

std::vector<std::string> GraphService::tools() const {
  return {
      tool("create_entities", "Create Entities",
           "Create multiple new entities in the knowledge graph",
           takes("entities", array_of(entity(""))), gives("entities", array_of(entity(kClosed))),
           Effect::kAdds),
      tool("create_relations", "Create Relations",
           "Create multiple new relations between entities in the knowledge graph. Relations "
           "should be in active voice",
           takes("relations", array_of(relation(""))),
           gives("relations", array_of(relation(kClosed))), Effect::kAdds),
      tool("add_observations", "Add Observations",
           "Add new observations to existing entities in the knowledge graph",
           takes("observations", array_of(observations_to_add())),
           gives("results", array_of(object_of_two("entityName", R"({"type":"string"})",
                                                   "addedObservations", kTexts, kClosed))),
           Effect::kAdds),
      tool("delete_entities", "Delete Entities",
           "Delete multiple entities and their associated relations from the knowledge graph",
           takes("entityNames", texts("An array of entity names to delete")), gives_success(),
           Effect::kDeletes),
      tool("delete_observations", "Delete Observations",
           "Delete specific observations from entities in the knowledge graph",
           takes("deletions", array_of(observations_to_delete())), gives_success(),
           Effect::kDeletes),
      tool("delete_relations", "Delete Relations",
           "Delete multiple relations from the knowledge graph",
           takes("relations", relations_to_delete()), gives_success(), Effect::kDeletes),
      tool("read_graph", "Read Graph", "Read the entire knowledge graph",
           fmt::format(R"({{"type":"object","properties":{{}},{}}})", kDialect), gives_graph(),
           Effect::kReads),
      tool("search_nodes", "Search Nodes",
           "Search for nodes in the knowledge graph based on a query",
           takes("query", described("The search query to match against entity names, types, and "
                                    "observation content")),
           gives_graph(), Effect::kReads),
      tool("open_nodes", "Open Nodes", "Open specific nodes in the knowledge graph by their names",
           takes("names", texts("An array of entity names to retrieve")), gives_graph(),
           Effect::kReads),
  };
}

}  // namespace bmad_mem::cli
