#include "http/app.hpp"

#include <chrono>

#include "http/pages.hpp"

namespace bmad_mem::cli {
namespace {

/// Many entries in one body; each line of a log may have 1 MB.
constexpr std::size_t kApiBodyMax = std::size_t{16} << 20U;
constexpr std::size_t kAuthBodyMax = 1024;

}  // namespace

App::App(MemoryManager& memory, McpService& agents, Access& access)
    : guard_(access, is_page),
      auth_(access, memory.root()),
      events_(memory),
      mcp_(agents),
      context_{.memory = memory},
      router_(context_) {}

bool App::admits(const HttpRequest& head, HttpResponse& refusal) {
  auto refused = guard_.refusal(head, std::chrono::steady_clock::now());
  if (!refused) {
    return true;
  }
  refusal = *std::move(refused);
  return false;
}

bool App::knows(const HttpRequest& head) const {
  return guard_.knows(head, std::chrono::steady_clock::now());
}

std::size_t App::body_size_max(const HttpRequest& head) const {
  return Auth::knows(head.path) ? kAuthBodyMax : kApiBodyMax;
}

void App::rest() { context_.memory.index_new_entries(); }

HttpResponse App::handle(const HttpRequest& request) {
  if (Auth::knows(request.path)) {
    return auth_.handle(request, std::chrono::steady_clock::now());
  }
  if (request.path == "/mcp") {
    return mcp_.handle(request);
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

}  // namespace bmad_mem::cli
