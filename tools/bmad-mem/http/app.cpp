#include "http/app.hpp"

#include <chrono>

#include "http/endpoint.hpp"
#include "http/event_hub.hpp"
#include "http/mcp_endpoint.hpp"
#include "http/pages.hpp"
#include "http/router.hpp"

namespace bmad_mem::cli {
namespace {

/// Many entries in one body; each line of a log may have 1 MB.
constexpr std::size_t kApiBodyMax = std::size_t{16} << 20U;
constexpr std::size_t kAuthBodyMax = 1024;

class App : public HttpHandler {
 public:
  App(MemoryManager& memory, McpService& agents, Access& access)
      : guard_(access, is_page),
        access_(access),
        events_(memory),
        agents_(agents),
        context_{.memory = memory},
        router_(context_) {}

  [[nodiscard]] HttpAdmission admit(const HttpRequest& head) const override {
    const auto now = std::chrono::steady_clock::now();
    return {.refusal = guard_.refusal(head, now),
            .is_known = guard_.knows(head, now),
            .body_size_max = is_auth_path(head.path) ? kAuthBodyMax : kApiBodyMax};
  }
  /// Takes what is new into the index.
  void rest() override { context_.memory.index_new_entries(); }

  HttpResponse handle(const HttpRequest& request) override {
    if (is_auth_path(request.path)) {
      return answer_auth(access_, context_.memory.root(), request,
                         std::chrono::steady_clock::now());
    }
    if (request.path == "/mcp") {
      return answer_mcp(agents_, request);
    }
    if (request.path == "/memory/events") {
      return events_.handle(request);
    }
    if (ApiRouter::knows(request.path) || request.path == "/openapi.json") {
      return router_.handle(request);
    }
    if (const PageFile* const page = find_page(request.path)) {
      return request.method == "GET" ? page_response(*page, request) : method_refusal("GET, HEAD");
    }
    return error_response(404, "not_found",
                          "there is nothing here; /openapi.json tells what there is");
  }

 private:
  Guard guard_;
  Access& access_;
  EventHub events_;
  McpService& agents_;
  ApiContext context_;
  ApiRouter router_;
};

}  // namespace

std::unique_ptr<HttpHandler> make_app(MemoryManager& memory, McpService& agents, Access& access) {
  return std::make_unique<App>(memory, agents, access);
}

}  // namespace bmad_mem::cli
