// app.cpp - routes a request to an endpoint, a page, or the MCP server.
#include "http/app.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "bmad_mem/text.hpp"
#include "http/endpoint.hpp"
#include "http/event_hub.hpp"
#include "http/pages.hpp"

namespace bmad_mem::cli {
namespace {

/// Many entries in one body; each line of a log may have 1 MB.
constexpr std::size_t kApiBodyMax = std::size_t{16} << 20U;
constexpr std::size_t kAuthBodyMax = 1024;

constexpr std::string_view kShell = "/index.html";

/// The addresses of pages: these, and whatever stands below those with a '/' at the end.
constexpr std::array<std::string_view, 8> kAddresses = {
    "/", "/search", "/sessions", "/knowledge", "/graph", "/health", "/session/", "/entry/"};

bool is_address(std::string_view path) {
  return std::ranges::any_of(kAddresses, [&](std::string_view address) {
    const bool has_more = address.size() > 1 && address.ends_with('/');
    return has_more ? path.size() > address.size() && path.starts_with(address) : path == address;
  });
}

/// The file that is shown at this path: itself, or the shell for each address of a page. Null when
/// there is none.
const PageFile* find_page(std::string_view path) {
  return find_by(page_files(), is_address(path) ? kShell : path, &PageFile::path);
}

bool is_page(std::string_view path) { return find_page(path) != nullptr; }

/// The file; 304 when the client has it.
HttpResponse page_response(const PageFile& file, const HttpRequest& request) {
  HttpResponse response;
  response.headers = {{"cache-control", "no-cache"}, {"etag", std::string(file.etag)}};
  // One tag, or a list of them, each in quotes.
  const std::string_view known = request.header("if-none-match");
  if (known == "*" || known.contains(file.etag)) {
    response.status = 304;
    return response;
  }
  response.content_type = file.media_type;
  response.body = file.content;
  return response;
}

/// Whether a person has typed the address into a browser.
bool wants_page(const HttpRequest& request) {
  return request.method == "GET" && request.header("accept").contains("text/html");
}

/// The pages instead of JSON for a person who is not signed in: their shell says how to get in.
void show_shell(HttpResponse& refusal) {
  const PageFile& shell = *find_page("/");
  refusal.content_type = shell.media_type;
  refusal.body = shell.content;
}

class App : public HttpHandler {
 public:
  App(MemoryManager& memory, LazyMemory& users, McpService& agents, Access& access)
      : guard_(access, is_page),
        access_(access),
        events_(memory),
        agents_(agents),
        context_{.memory = memory, .users = &users} {}

  [[nodiscard]] HttpAdmission admit(const HttpRequest& head) const override {
    const auto now = std::chrono::steady_clock::now();
    std::optional<HttpResponse> refusal = guard_.refusal(head, now);
    if (refusal && refusal->status == 401 && wants_page(head)) {
      show_shell(*refusal);
    }
    return {.refusal = std::move(refusal),
            .is_known = guard_.knows(head, now),
            .body_size_max = is_auth_path(head.path) ? kAuthBodyMax : kApiBodyMax};
  }
  /// Takes what is new into the index, and encodes some of it.
  bool rest() override { return context_.memory.index_new_entries(); }

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
    if (is_api_path(request.path)) {
      const bool is_person = guard_.is_of_page(request, std::chrono::steady_clock::now());
      const ActingAs writer(is_person ? Origin::kPerson : Origin::kAgent);
      return answer_api(context_, request);
    }
    if (const PageFile* const page = find_page(request.path)) {
      return request.method == "GET" ? page_response(*page, request) : method_refusal("GET, HEAD");
    }
    if (wants_page(request)) {
      HttpResponse response = page_response(*find_page("/"), request);
      response.status = response.status == 200 ? 404 : response.status;  // The shell says so.
      return response;
    }
    return error_response(404, "not_found", "no such endpoint; /openapi.json lists all");
  }

 private:
  Guard guard_;
  Access& access_;
  EventHub events_;
  McpService& agents_;
  ApiContext context_;
};

}  // namespace

std::unique_ptr<HttpHandler> make_app(MemoryManager& memory, LazyMemory& users, McpService& agents,
                                      Access& access) {
  return std::make_unique<App>(memory, users, agents, access);
}

}  // namespace bmad_mem::cli
