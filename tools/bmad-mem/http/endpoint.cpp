// endpoint.cpp - checks the parameters of a request by the table and calls the endpoint.
#include "http/endpoint.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/question.hpp"
#include "bmad_mem/text.hpp"
#include "cli/entry_options.hpp"
#include "cli/results.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
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
  const Question question;
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

bool is_api_path(std::string_view path) {
  return path.starts_with("/memory/") || path == kDescriptionPath;
}

HttpResponse answer_api(ApiContext& context, const HttpRequest& request) {
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
  Result<HttpResponse> response = run(context, request, found);
  if (!response) {
    return failure_response(response.error());
  }
  response->status = status;
  if (response->content_type == "application/json" && !response->write_body) {
    add_took(response->body, std::chrono::steady_clock::now() - begin);
  }
  return *std::move(response);
}

namespace {

/// The value of a parameter as JSON of its kind; a text where it can't be that.
std::string json_text(ArgumentKind kind, std::string_view text) {
  if (kind == ArgumentKind::kFlag && (text == "true" || text == "1")) {
    return "true";
  }
  if (kind == ArgumentKind::kFlag && (text == "false" || text == "0")) {
    return "false";
  }
  if (const auto number = number_in<std::int64_t>(text); number && kind == ArgumentKind::kNumber) {
    return fmt::format("{}", *number);
  }
  if (const auto share = real_in(text); share && kind == ArgumentKind::kShare) {
    return fmt::format("{}", *share);
  }
  return json_quoted(text);
}

/// The query as a JSON object, by the kinds of `rows`.
Result<std::string> query_json(std::span<const HttpField> query,
                               std::span<const JsonParameter> rows) {
  std::map<std::string_view, std::string> members;
  for (const HttpField& field : query) {
    const auto row = std::ranges::find(rows, field.name, &JsonParameter::name);
    const ArgumentKind kind = row == rows.end() ? ArgumentKind::kTexts : row->kind;
    const bool is_list = kind == ArgumentKind::kTexts || kind == ArgumentKind::kTypes;
    const std::string text = json_text(kind, field.value);
    std::string& value = members[field.name];
    if (value.empty()) {
      value = is_list ? fmt::format("[{}]", text) : text;
    } else if (is_list) {
      value.back() = ',';
      value += text + "]";
    } else {
      return bad_argument(field.name, "it is given twice, and only one can hold");
    }
  }
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, value] : members) {
    json.key(name).raw(value);
  }
  json.end_object();
  return json.take();
}

}  // namespace

Status EndpointCall::read(const Endpoint& endpoint) {
  BMAD_TRY_ASSIGN(const std::string query, query_json(request_.query, endpoint.query));
  BMAD_TRY_ASSIGN(const JsonValue parameters, query_parser_.parse(query));
  add(parameters, endpoint.query);
  BMAD_TRY(check());
  if (!request_.body.empty()) {
    BMAD_TRY_ASSIGN(body_, body_parser_.parse(request_.body));
    if (!body_.is_object()) {
      return Error{.code = ErrorCode::E_INVALID_FORMAT,
                   .message = fmt::format("the body must be an object, not {}",
                                          json_kind_name(body_.kind()))};
    }
  }
  if (endpoint.request.empty()) {
    add(body_, endpoint.body);
  }
  return check();
}

std::string_view EndpointCall::in_path(std::string_view name) const {
  const auto found = std::ranges::find(path_values_, name, &HttpField::name);
  assert(found != path_values_.end());
  return found->value;
}

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
  const ParsedJson parts(openapi_parts());
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
