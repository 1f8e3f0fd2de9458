// router.hpp - from a request to the endpoint that answers it.
//
//   GET /memory/search?q=pool&k=5 ──> find by path, by method ──> check parameters, parse the body
//                                 ──> Endpoint::run ──> {"hits":[…],"took_ms":0.8}
//
// A failure is {"error":{"code":…,"message":…,"field":…}} with the status that fits its code.
#pragma once

#include <string_view>

#include "bmad_mem/result.hpp"
#include "http/endpoint.hpp"
#include "http/http_message.hpp"

namespace bmad_mem::cli {

/// Threads: safe.
class ApiRouter {
 public:
  /// `context` must outlive it.
  explicit ApiRouter(ApiContext& context) : context_(context) {}

  /// Whether the path is one of the API's, if there is an endpoint or not: all below /memory/, and
  /// /openapi.json.
  [[nodiscard]] static bool knows(std::string_view path);
  /// Answers 404 where there is no endpoint, 405 with Allow where there is one for another method.
  HttpResponse handle(const HttpRequest& request);

 private:
  ApiContext& context_;
};

/// The error as a response: its status, its members, and Retry-After where waiting helps.
HttpResponse failure_response(const Error& error);

}  // namespace bmad_mem::cli
