#include "http/endpoint.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/query_time.hpp"
#include "bmad_mem/utf8.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {
namespace {

/// Most of a value that a message repeats.
constexpr std::size_t kQuotedSizeMax = 100;

Error bad_parameter(std::string_view name, std::string message) {
  return {.code = ErrorCode::E_INVALID_QUERY,
          .message = std::move(message),
          .field = std::string(utf8_prefix(name, kQuotedSizeMax))};
}

std::optional<bool> flag_in(std::string_view text) {
  if (text == "true" || text == "1") {
    return true;
  }
  return text == "false" || text == "0" ? std::optional(false) : std::nullopt;
}

RangeEnd end_of(std::string_view name) {
  return name == "since" ? RangeEnd::kSince : RangeEnd::kUntil;
}

const QueryParameter* parameter_named(const Endpoint& endpoint, std::string_view name) {
  const auto found = std::ranges::find(endpoint.parameters, name, &QueryParameter::name);
  return found == endpoint.parameters.end() ? nullptr : &*found;
}

Error unknown_parameter(const Endpoint& endpoint, std::string_view name) {
  std::vector<std::string_view> known;
  for (const QueryParameter& parameter : endpoint.parameters) {
    known.push_back(parameter.name);
  }
  if (known.empty()) {
    return bad_parameter(name, fmt::format("{} {} takes no parameters; leave this one out",
                                           endpoint.method, endpoint.path));
  }
  const std::string_view near = nearest_word(name, known);
  return bad_parameter(
      name, near.empty()
                ? fmt::format("there is no such parameter; there are {}", fmt::join(known, ", "))
                : fmt::format("there is no such parameter; did you mean {}?", near));
}

/// Why `text` can't be the parameter's value; nothing when it can.
Status check_value(const QueryParameter& parameter, std::string_view text, Timestamp now) {
  const std::string_view shown = utf8_prefix(text, kQuotedSizeMax);
  const auto refuse = [&](std::string_view remedy) -> Status {
    return bad_parameter(parameter.name, fmt::format("'{}' won't do; {}", shown, remedy));
  };
  switch (parameter.kind) {
    case ParameterKind::kText:
      if (text.empty() && !parameter.may_be_empty) {
        return bad_parameter(parameter.name, "it is empty; leave it out, or say what it is to be");
      }
      return {};
    case ParameterKind::kNumber: {
      const std::optional<std::int64_t> number = number_in<std::int64_t>(text);
      return number && *number >= parameter.min && *number <= parameter.max
                 ? Status()
                 : refuse(fmt::format("write a whole number from {} to {}", parameter.min,
                                      parameter.max));
    }
    case ParameterKind::kShare: {
      const std::optional<double> share = number_in<double>(text);
      return share && *share >= 0 && *share <= 1 ? Status() : refuse("write a number from 0 to 1");
    }
    case ParameterKind::kFlag:
      return flag_in(text) ? Status() : refuse("write true or false");
    case ParameterKind::kTime:
      if (const Result<Timestamp> time =
              parse_time(shown, now, end_of(parameter.name), parameter.name);
          !time) {
        return time.error();
      }
      return {};
    case ParameterKind::kType:
      if (const Result<std::vector<EntryType>> types = entry_types_of(shown); !types) {
        return types.error();
      }
      return {};
    case ParameterKind::kChoice:
      return is_choice(parameter.name, parameter.choices, text)
                 ? Status()
                 : refuse(fmt::format("write one of {}", fmt::join(parameter.choices, ", ")));
  }
  return {};
}

}  // namespace

Result<std::vector<EntryType>> entry_types_of(std::string_view name) {
  if (name == "facts") {
    return std::vector{EntryType::kFact, EntryType::kPreference};
  }
  if (name == "records") {
    return std::vector{EntryType::kConversation, EntryType::kDecision,   EntryType::kFinding,
                       EntryType::kEvent,        EntryType::kAgentState, EntryType::kArtifact};
  }
  Result<EntryType> type = parse_entry_type(name);
  if (!type) {
    Error error = std::move(type).error();
    error.code = ErrorCode::E_INVALID_QUERY;
    return error;
  }
  return std::vector{*type};
}

Status check_parameters(const HttpRequest& request, const Endpoint& endpoint, Timestamp now) {
  for (std::size_t i = 0; i < request.query.size(); ++i) {
    const HttpField& field = request.query[i];
    const QueryParameter* const parameter = parameter_named(endpoint, field.name);
    if (parameter == nullptr) {
      return unknown_parameter(endpoint, field.name);
    }
    const auto before = request.query.begin() + static_cast<std::ptrdiff_t>(i);
    if (!parameter->repeatable &&
        std::find_if(request.query.begin(), before,
                     [&](const HttpField& other) { return other.name == field.name; }) != before) {
      return bad_parameter(field.name, "it is given twice, and only one can hold");
    }
    BMAD_TRY(check_value(*parameter, field.value, now));
  }
  for (const QueryParameter& parameter : endpoint.parameters) {
    if (parameter.required &&
        std::ranges::find(request.query, parameter.name, &HttpField::name) == request.query.end()) {
      return bad_parameter(parameter.name, "it is required");
    }
  }
  return {};
}

std::string_view EndpointCall::in_path(std::string_view name) const {
  const auto found = std::ranges::find(path_values_, name, &HttpField::name);
  assert(found != path_values_.end());
  return found->value;
}

std::optional<std::string_view> EndpointCall::text(std::string_view name) const {
  const auto found = std::ranges::find(request_.query, name, &HttpField::name);
  return found == request_.query.end() ? std::nullopt
                                       : std::optional<std::string_view>(found->value);
}

std::vector<std::string> EndpointCall::texts(std::string_view name) const {
  std::vector<std::string> out;
  for (const HttpField& field : request_.query) {
    if (field.name == name) {
      out.push_back(field.value);
    }
  }
  return out;
}

std::string_view EndpointCall::value(std::string_view name) const {
  const QueryParameter* const parameter = parameter_named(endpoint_, name);
  assert(parameter != nullptr);
  return text(name).value_or(parameter->fallback);
}

std::int64_t EndpointCall::number(std::string_view name) const {
  return number_in<std::int64_t>(value(name)).value_or(0);
}

double EndpointCall::share(std::string_view name) const {
  return number_in<double>(value(name)).value_or(0);
}

bool EndpointCall::flag(std::string_view name) const {
  return flag_in(value(name)).value_or(false);
}

std::vector<EntryType> EndpointCall::types(std::string_view name) const {
  std::vector<EntryType> out;
  for (const std::string& text : texts(name)) {
    const Result<std::vector<EntryType>> types = entry_types_of(text);
    for (const EntryType type : types.value_or(std::vector<EntryType>())) {
      if (std::ranges::find(out, type) == out.end()) {
        out.push_back(type);
      }
    }
  }
  return out;
}

std::optional<Timestamp> EndpointCall::time(std::string_view name) const {
  const std::optional<std::string_view> written = text(name);
  const std::optional<QueryTime> time =
      written ? QueryTime::try_parse(*written, end_of(name)) : std::nullopt;
  if (!time) {
    return std::nullopt;
  }
  // Other times are counted from the one that the question is about.
  return time->at(name == "as_of" ? now_ : this->time("as_of").value_or(now_));
}

}  // namespace bmad_mem::cli
