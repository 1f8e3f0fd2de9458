#include "http/openapi.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/text.hpp"
#include "cli/entry_options.hpp"
#include "cli/json_text.hpp"
#include "cli/results.hpp"
#include "cli/tool.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli {
namespace {

std::string schema_reference(std::string_view name) {
  return fmt::format(R"({{"$ref":"#/components/schemas/{}"}})", name);
}

/// "get_record_id_history" for GET /memory/record/{id}/history: each once.
std::string operation_id(const Endpoint& endpoint) {
  std::string out = lower_ascii(endpoint.method);
  constexpr std::string_view kBase = "/memory";
  for (const char c : endpoint.path.substr(kBase.size())) {
    if (c != '{' && c != '}') {
      out += c == '/' ? '_' : c;
    }
  }
  return out;
}

/// As http/api/export.cpp sends them.
constexpr std::string_view kExportHeaders =
    R"({"Unreadable-Lines":{"description":"Damaged lines that were left out; absent for none.",)"
    R"("schema":{"type":"integer","minimum":1}},)"
    R"("Sealed-Entries":{"description":"Sealed entries without their key; absent for none.",)"
    R"("schema":{"type":"integer","minimum":1}}})";

void add_responses(JsonWriter& json, const Endpoint& endpoint) {
  json.key("responses").begin_object().key(fmt::format("{}", endpoint.status)).begin_object();
  json.member("description", "Done.");
  if (endpoint.path == "/memory/export") {
    json.key("headers").raw(kExportHeaders);
  }
  json.key("content").begin_object();
  const std::string schema =
      endpoint.response.empty() ? R"({"type":"string"})" : schema_reference(endpoint.response);
  std::string_view types = endpoint.media_type;
  while (!types.empty()) {
    const std::string_view type = types.substr(0, types.find(", "));
    json.key(type).begin_object().key("schema").raw(schema).end_object();
    types.remove_prefix(std::min(types.size(), type.size() + 2));
  }
  json.end_object().end_object();
  json.key("default").raw(R"({"$ref":"#/components/responses/Failure"})").end_object();
}

/// A body may be left out where nothing in it is required.
bool needs_body(JsonValue schema) {
  return schema["required"].present() || schema["minProperties"].present();
}

std::string operation(const Endpoint& endpoint, JsonValue schemas) {
  JsonWriter json;
  json.begin_object().member("operationId", operation_id(endpoint));
  json.member("summary", endpoint.summary);
  json.key("parameters").raw(endpoint.parameters);
  if (!endpoint.request.empty() || !endpoint.body.empty()) {
    JsonParser parser;
    const JsonValue schema = endpoint.request.empty() ? parser.parse(endpoint.body_schema).value()
                                                      : schemas[endpoint.request];
    const RawJson body = raw_json(endpoint.request.empty() ? std::string(endpoint.body_schema)
                                                           : schema_reference(endpoint.request));
    put(json, "requestBody",
        object_of("required", needs_body(schema), "content",
                  object_of("application/json", object_of("schema", body))));
  }
  add_responses(json, endpoint);
  json.end_object();
  return json.take();
}

/// The operations of the table, a path after the other; a path's methods together.
void add_table_paths(JsonWriter& json, JsonValue schemas) {
  std::vector<std::string_view> paths;
  std::map<std::string_view, std::vector<const Endpoint*>> by_path;
  for (const Endpoint& endpoint : all_endpoints()) {
    std::vector<const Endpoint*>& same = by_path[endpoint.path];
    if (same.empty()) {
      paths.push_back(endpoint.path);
    }
    same.push_back(&endpoint);
  }
  for (const std::string_view path : paths) {
    json.key(path).begin_object();
    for (const Endpoint* const endpoint : by_path[path]) {
      json.key(lower_ascii(endpoint->method)).raw(operation(*endpoint, schemas));
    }
    json.end_object();
  }
}

constexpr std::string_view kDescription =
    "The memory of one project, served on this machine only. Answers say in took_ms how long the "
    "server took. Every failure is an error with a code, a sentence, and where it is about one, "
    "the field.";

constexpr std::string_view kSecuritySchemes =
    R"({"bearer":{"type":"http","scheme":"bearer","description":"The token in the file that )"
    R"(`bmad-mem serve` names, or the secret that POST /auth/session gives to a page."}})";

constexpr std::string_view kResponses =
    R"({"Failure":{"description":"It failed, or was refused.","content":{"application/json":)"
    R"({"schema":{"$ref":"#/components/schemas/Failure"}}}}})";

}  // namespace

std::string openapi_document() {
  const std::string parts = json_compact(openapi_parts());
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(parts);
  const JsonValue schemas = value ? (*value)["schemas"] : JsonValue();
  JsonWriter json;
  json.begin_object().member("openapi", "3.1.0").key("info").begin_object();
  json.member("title", "bmad-mem").member("version", tool_version());
  json.member("description", kDescription).end_object();
  json.key("security").raw(R"([{"bearer":[]}])");
  json.key("paths").begin_object();
  add_table_paths(json, schemas);
  for (const MemberText& part : json_members(parts)) {
    if (part.key == "paths") {
      for (const MemberText& path : json_members(part.value)) {
        json.key(path.key).raw(path.value);
      }
    }
  }
  json.end_object().key("components").begin_object();
  for (const MemberText& part : json_members(parts)) {
    if (part.key == "schemas") {
      json.key("schemas").raw(part.value);
    }
  }
  json.key("responses").raw(kResponses).key("securitySchemes").raw(kSecuritySchemes);
  json.end_object().end_object();
  return with_fields(json.take());
}

}  // namespace bmad_mem::cli
