// endpoint.hpp - what an endpoint of the local API is: a declaration and a function.
//
//   Endpoint ──┬─> answer_api()         finds it by method and path, reads its parameters
//              └─> openapi_document()   describes it at /openapi.json
//
// Endpoints are made from the operation table, lib/operations/table/: a new one is a row there and
// a function http_NAME in http/api/. Its shapes are in api/schemas.json.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "http/http_message.hpp"
#include "mcp/tool_arguments.hpp"

namespace bmad_mem::cli {

class EndpointCall;
class LazyMemory;

/// What endpoints work on. Threads: safe.
struct ApiContext {
  MemoryManager& memory;
  LazyMemory* users = nullptr;  ///< The user's own memory; null: there is none.
};

struct Endpoint {
  std::string_view method;     ///< "GET"
  std::string_view path;       ///< "/memory/record/{id}"
  std::string_view operation;  ///< Its row of the operation table, whose right it needs.
  std::span<const JsonParameter> query = {};  ///< Parameters of the query, such as ?k=20.
  std::span<const JsonParameter> body = {};   ///< The members of the body.
  /// Name of the body's schema, where `body` can't say it; without both: {} or no body.
  std::string_view request = {};
  std::string_view description = {};  ///< The operation as OpenAPI has it.
  std::uint16_t status = 200;         ///< When it went well.
  Result<HttpResponse> (*run)(ApiContext& context, const EndpointCall& call) = nullptr;
};

/// All endpoints that work on the memory, in the order of the description.
std::span<const Endpoint> all_endpoints();

/// One request to an endpoint: the parameters of its query and the members of its body, checked.
class EndpointCall : public ToolArguments {
 public:
  /// `path_values`: the values of the {names} in the path.
  EndpointCall(const HttpRequest& request, std::vector<HttpField> path_values)
      : ToolArguments(system_clock().now()),
        request_(request),
        path_values_(std::move(path_values)) {}

  /// Reads what the endpoint takes. Errors: E_INVALID_QUERY with the parameter or member as field;
  /// E_INVALID_FORMAT for a body that is not a JSON object.
  Status read(const Endpoint& endpoint);

  /// What stands for {name} in the path.
  [[nodiscard]] std::string_view in_path(std::string_view name) const;
  /// The body, an object; absent without one.
  [[nodiscard]] JsonValue body() const { return body_; }
  [[nodiscard]] const HttpRequest& request() const { return request_; }

 private:
  const HttpRequest& request_;
  std::vector<HttpField> path_values_;
  JsonParser query_parser_;
  JsonParser body_parser_;
  JsonValue body_;
};

/// GET /memory/settings, also the answer to a change of a setting.
Result<HttpResponse> http_settings(ApiContext& context, const EndpointCall& call);

// From a request to the endpoint that answers it.
//
//   GET /memory/search?q=pool&k=5 ──> find by path, by method ──> check parameters, parse the body
//                                 ──> Endpoint::run ──> {"hits":[…],"took_ms":0.8}
//
// A failure is {"error":{"code":…,"message":…,"field":…}} with the status that fits its code.

/// Whether the path is one of the API's, if there is an endpoint or not: all below /memory/, and
/// /openapi.json.
bool is_api_path(std::string_view path);
/// Answers 404 where there is no endpoint, 405 with Allow where there is one for another method.
/// Threads: safe.
HttpResponse answer_api(ApiContext& context, const HttpRequest& request);

/// The error as a response: its status, its members, and Retry-After where waiting helps.
HttpResponse failure_response(const Error& error);

// The description of the local API, OpenAPI 3.1.
//
//   table of endpoints ──> paths, parameters ──┐
//   api/schemas.json   ──> shapes, and paths ──┴──> /openapi.json
//                          outside of the table

/// The whole description as one line of JSON. Made anew by each call.
std::string openapi_document();

/// api/schemas.json: {"info":…,"responses":…,"securitySchemes":…,"schemas":{name: schema},
/// "paths":{path: operations}}. Static storage.
std::string_view openapi_parts();

}  // namespace bmad_mem::cli
