// endpoint.hpp - what an endpoint of the local API is: a declaration and a function.
//
//   Endpoint ──┬─> router.cpp    finds it by method and path, reads its parameters
//              └─> openapi.cpp   describes it at /openapi.json
//
// Endpoints are made from the operation table, lib/operations/table/: a new one is a row there and
// a function http_NAME in http/api/. Its shapes are in api/schemas.json.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "http/http_message.hpp"
#include "mcp/tool_arguments.hpp"

namespace bmad_mem::cli {

/// How a parameter is read, and what a client may send.
enum class ParameterKind : std::uint8_t {
  kText,    ///< Not empty, unless `may_be_empty`.
  kNumber,  ///< A whole number, `min` to `max`.
  kShare,   ///< A number from 0 to 1.
  kFlag,    ///< true, false, 1, 0.
  kTime,    ///< As --since takes it: RFC 3339, a date, 7d. A day of "since" begins, others end it.
  kType,    ///< A type of entries, singular or plural, or a group of them: see entry_types_of().
  kChoice,  ///< One of `choices`.
};

/// A parameter in the query, such as ?k=20. In the order in which one reads a declaration:
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): eight bytes of a constant.
struct QueryParameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::kText;
  std::string_view help;  ///< A sentence.
  bool required = false;
  bool repeatable = false;
  bool may_be_empty = false;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::string_view fallback = {};  ///< What holds without it, as the description shows it.
  std::span<const std::string_view> choices = {};
};

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
  std::string_view summary;    ///< One line.
  std::span<const QueryParameter> parameters = {};
  std::span<const JsonParameter> body = {};  ///< The members of the body.
  std::string_view body_schema = {};         ///< The same as a JSON Schema.
  /// Name of the body's schema, where `body` can't say it; without both: {} or no body.
  std::string_view request = {};
  std::string_view response = {};  ///< Name of the answer's schema; empty: see `media_type`.
  std::string_view media_type = "application/json";  ///< Or several, with ", " between any two.
  std::uint16_t status = 200;                        ///< When it went well.
  Result<HttpResponse> (*run)(ApiContext& context, const EndpointCall& call) = nullptr;
};

/// The types that `name` stands for: "decision", "decisions"; "facts" are facts and preferences,
/// "records" all others. Errors: E_INVALID_QUERY with field "type".
Result<std::vector<EntryType>> entry_types_of(std::string_view name);

/// Whether every parameter of the query is one of the endpoint's, and may be what it is.
/// Errors: E_INVALID_QUERY with the parameter as field, naming the nearest one or what it takes.
Status check_parameters(const HttpRequest& request, const Endpoint& endpoint, Timestamp now);

/// All endpoints that work on the memory, in the order of the description.
std::span<const Endpoint> all_endpoints();

/// One request to an endpoint: its parameters, checked, and its body, parsed. What is asked for
/// must be a parameter of the endpoint, of the kind that the accessor says.
class EndpointCall {
 public:
  EndpointCall(const HttpRequest& request, const Endpoint& endpoint,
               std::vector<HttpField> path_values, JsonValue body, Timestamp now)
      : request_(request),
        endpoint_(endpoint),
        path_values_(std::move(path_values)),
        body_(body),
        arguments_(body, endpoint.body),
        now_(now) {}

  /// What stands for {name} in the path.
  [[nodiscard]] std::string_view in_path(std::string_view name) const;
  [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view name) const;
  /// The number, else the parameter's fallback.
  [[nodiscard]] std::int64_t number(std::string_view name) const;
  [[nodiscard]] double share(std::string_view name) const;
  /// The flag, else the parameter's fallback.
  [[nodiscard]] bool flag(std::string_view name) const;
  /// Each type once.
  [[nodiscard]] std::vector<EntryType> types(std::string_view name) const;
  /// A time counted from the moment of the request.
  [[nodiscard]] std::optional<Timestamp> time(std::string_view name) const;
  /// The body, an object; absent without one.
  [[nodiscard]] JsonValue body() const { return body_; }
  /// The members of the body, checked by the rows of the endpoint.
  [[nodiscard]] const ToolArguments& arguments() const { return arguments_; }
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] Timestamp now() const { return now_; }

 private:
  const HttpRequest& request_;
  const Endpoint& endpoint_;
  std::vector<HttpField> path_values_;
  JsonValue body_;
  ToolArguments arguments_;
  Timestamp now_;

  /// What was sent, else the fallback.
  [[nodiscard]] std::string_view value(std::string_view name) const;
};

}  // namespace bmad_mem::cli
