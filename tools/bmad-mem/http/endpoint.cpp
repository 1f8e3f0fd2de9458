#include "http/endpoint.hpp"

#include <algorithm>
#include <cassert>
#include <map>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {
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

}  // namespace bmad_mem::cli
