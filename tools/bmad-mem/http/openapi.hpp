// openapi.hpp - the description of the local API, OpenAPI 3.1.
//
//   table of endpoints ──> paths, parameters ──┐
//   api/schemas.json   ──> shapes, and paths ──┴──> /openapi.json
//                          outside of the table
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// The whole description as one line of JSON. Made anew by each call.
std::string openapi_document();

/// api/schemas.json: {"info":…,"responses":…,"securitySchemes":…,"schemas":{name: schema},
/// "paths":{path: operations}}. Static storage.
std::string_view openapi_parts();

}  // namespace bmad_mem::cli
