#include "http/router.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cli/results.hpp"
#include "cli/text.hpp"
#include "http/openapi.hpp"
#include "mcp/memory_tools.hpp"

namespace bmad_mem::cli {
namespace {

/// What stands for the {names} of `pattern` in `path`; nothing when it doesn't match.
std::optional<std::vector<HttpField>> match(std::string_view pattern, std::string_view path) {
  std::vector<HttpField> values;
  while (!pattern.empty()) {
    const std::string_view want = pattern.substr(0, pattern.find('/', 1));
    const std::string_view have = path.substr(0, path.find('/', 1));
    if (want.starts_with("/{")) {
      if (have.size() < 2) {
        return std::nullopt;
      }
      values.push_back({.name = std::string(want.substr(2, want.size() - 3)),
                        .value = std::string(have.substr(1))});
    } else if (want != have) {
      return std::nullopt;
    }
    pattern.remove_prefix(want.size());
    path.remove_prefix(have.size());
  }
  return path.empty() ? std::optional(std::move(values)) : std::nullopt;
}

constexpr std::string_view kDescriptionPath = "/openapi.json";

/// The endpoint that a request means, or why there is none.
struct Match {
  const Endpoint* endpoint = nullptr;
  std::vector<HttpField> values;
  std::vector<std::string_view> methods;  ///< Those that the path has.
};

Match find_endpoint(std::string_view method, std::string_view path) {
  Match found;
  for (const Endpoint& endpoint : all_endpoints()) {
    std::optional<std::vector<HttpField>> values = match(endpoint.path, path);
    if (!values) {
      continue;
    }
    if (endpoint.method == method) {
      found.endpoint = &endpoint;
      found.values = *std::move(values);
      return found;
    }
    found.methods.push_back(endpoint.method);
  }
  return found;
}

HttpResponse refusal(const Match& found) {
  return found.methods.empty()
             ? error_response(404, "not_found",
                              "there is no such endpoint; /openapi.json lists those there are")
             : method_refusal(joined(found.methods));
}

Result<HttpResponse> run(ApiContext& context, const HttpRequest& request, Match& found) {
  const Endpoint& endpoint = *found.endpoint;
  // Here for all, also for what streams: behind the head of an answer nothing can be refused.
  BMAD_TRY(context.memory.check_allowed(endpoint.operation, /*changes=*/false));
  EndpointCall call(request, std::move(found.values));
  BMAD_TRY(call.read(endpoint));
  return endpoint.run(context, call);
}

/// Adds the member took_ms to the object in `json`.
void add_took(std::string& json, std::chrono::steady_clock::duration took) {
  const double ms = std::chrono::duration<double, std::milli>(took).count();
  json.pop_back();  // '}'
  json += fmt::format("{}\"took_ms\":{:.3f}}}", json.size() > 1 ? "," : "", ms);
}

}  // namespace

HttpResponse failure_response(const Error& error) {
  HttpResponse response =
      json_response(json_object("error", error), answer_to(error.code).http_status);
  if (response.status == 503) {
    response.headers.push_back({.name = "Retry-After", .value = "1"});
  }
  return response;
}

bool ApiRouter::knows(std::string_view path) {
  return path.starts_with("/memory/") || path == kDescriptionPath;
}

HttpResponse ApiRouter::handle(const HttpRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  if (request.path == kDescriptionPath && request.method == "GET") {
    return json_response(openapi_document());
  }
  Match found = find_endpoint(request.method, request.path);
  if (request.path == kDescriptionPath) {
    found.methods = {"GET"};
  }
  if (found.endpoint == nullptr) {
    return refusal(found);
  }
  const std::uint16_t status = found.endpoint->status;
  Result<HttpResponse> response = run(context_, request, found);
  if (!response) {
    return failure_response(response.error());
  }
  response->status = status;
  if (response->content_type == "application/json" && !response->write_body) {
    add_took(response->body, std::chrono::steady_clock::now() - begin);
  }
  return *std::move(response);
}

}  // namespace bmad_mem::cli
