// endpoint.hpp - what an endpoint of the local API is: a declaration and a function.
//
//   Endpoint ──┬─> router.cpp    finds it by method and path, reads its parameters
//              └─> openapi.cpp   describes it at /openapi.json
//
// Endpoints are made from the operation table, lib/operations/table/: a new one is a row there and
// a function http_NAME in http/api/. Its shapes are in api/schemas.json.
#pragma once

#include <cstdint>
#include <span>
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

}  // namespace bmad_mem::cli
