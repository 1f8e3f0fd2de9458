// graph_file.hpp - the file of the reference memory server, both ways.
//
//   {"type":"entity","name":"Ann","entityType":"person","observations":["Says hello"]}
//   {"type":"relation","from":"Ann","to":"Ben","relationType":"knows"}
//
// All entities, then all relations; keys in this order, nothing between the tokens; '\n' between
// the lines and none behind the last; an empty graph is an empty file.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "bmad_mem/json_value.hpp"
#include "exchange/graph/graph_entries.hpp"

namespace bmad_mem::cli {

/// The file, byte for byte as the reference server writes it.
std::string graph_file_text(const Graph& graph);

/// `text` as JavaScript's JSON.stringify writes it: that has short escapes for \b and \f.
std::string js_quoted(std::string_view text);

/// One line of such a file: an entity with its observations, or a relation. Other names that were
/// in use for the members are understood (entityName, from_id, …). Nothing for any other line.
using GraphLine = std::variant<std::monostate, GraphEntity, GraphRelation>;
GraphLine graph_line_from(JsonValue line);

}  // namespace bmad_mem::cli
