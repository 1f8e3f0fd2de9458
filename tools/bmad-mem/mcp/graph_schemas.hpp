// graph_schemas.hpp - the tools of the reference memory server, as it describes them.
#pragma once

#include <string>
#include <vector>

namespace bmad_mem::cli {

/// The nine tools, each one JSON object, in the order of the reference server (0.6.3).
std::vector<std::string> graph_tools();

}  // namespace bmad_mem::cli
