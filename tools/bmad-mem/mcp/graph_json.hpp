// graph_json.hpp - a knowledge graph as the reference memory server's tools take and give it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"
#include "exchange/graph/graph.hpp"
#include "exchange/graph/graph_store.hpp"

namespace bmad_mem::cli {

// As JavaScript's JSON.stringify writes them.

std::string entities_json(std::span<const GraphEntity> entities);
std::string relations_json(std::span<const GraphRelation> relations);
std::string added_observations_json(std::span<const AddedObservations> added);
std::string graph_json(const Graph& graph);

/// `json`, compact, as JSON.stringify(value, null, 2) lays it out.
std::string js_pretty(std::string_view json);

// The arguments of the tools. Members that nobody asked for are passed over.
// Errors: E_INVALID_QUERY, naming the place: "entities[1].name: expected a string".

Result<std::vector<GraphEntity>> read_entities(JsonValue arguments);
Result<std::vector<GraphRelation>> read_relations(JsonValue arguments);
/// Objects in the array `list` with an entity's name and an array `texts`.
Result<std::vector<AddedObservations>> read_observations(JsonValue arguments, std::string_view list,
                                                         std::string_view texts);
Result<std::vector<std::string>> read_names(JsonValue arguments, std::string_view list);
Result<std::string> read_query(JsonValue arguments);

}  // namespace bmad_mem::cli
