#include "http/openapi.hpp"

#include <algorithm>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/entry_options.hpp"
#include "cli/results.hpp"
#include "cli/tool.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli {
namespace {

/// The operations of the table, a path after the other; a path's methods together.
void add_table_paths(JsonWriter& json) {
  for (const Endpoint& first : all_endpoints()) {
    if (&*std::ranges::find(all_endpoints(), first.path, &Endpoint::path) != &first) {
      continue;
    }
    json.key(first.path).begin_object();
    for (const Endpoint& endpoint : all_endpoints()) {
      if (endpoint.path == first.path) {
        json.key(lower_ascii(endpoint.method)).raw(endpoint.description);
      }
    }
    json.end_object();
  }
}

void put_members(JsonWriter& json, JsonValue object) {
  for (const JsonMember& member : object.members()) {
    json.key(member.key).raw(json_of(member.value));
  }
}

}  // namespace

std::string openapi_document() {
  JsonParser parser;
  const JsonValue parts = parser.parse(openapi_parts()).value();
  const auto part = [&](std::string_view name) { return raw_json(json_of(parts[name])); };
  JsonWriter json;
  json.begin_object().member("openapi", "3.1.0").key("info").begin_object();
  json.member("version", tool_version());
  put_members(json, parts["info"]);
  json.end_object().key("security").raw(R"([{"bearer":[]}])");
  json.key("paths").begin_object();
  add_table_paths(json);
  put_members(json, parts["paths"]);
  json.end_object();
  put(json, "components",
      object_of("schemas", part("schemas"), "responses", part("responses"), "securitySchemes",
                part("securitySchemes")));
  json.end_object();
  return with_fields(json.take());
}

}  // namespace bmad_mem::cli
