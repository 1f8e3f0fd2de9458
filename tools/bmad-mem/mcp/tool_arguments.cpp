#include "mcp/tool_arguments.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"
#include "nearest.hpp"
#include "text.hpp"

namespace bmad_mem::cli {
ToolArguments::ToolArguments(JsonValue object, std::initializer_list<std::string_view> names)
    : object_(object) {
  const std::span<const std::string_view> known(names.begin(), names.size());
  for (const JsonMember& member : object.members()) {
    if (std::ranges::find(known, member.key) != known.end()) {
      continue;
    }
    const std::string_view near = nearest_word(member.key, known);
    fail(utf8_prefix(member.key, 100),
         near.empty() ? fmt::format("there is no such argument; there are: {}", joined(known))
                      : fmt::format("there is no such argument; did you mean \"{}\"?", near));
  }
}

std::optional<JsonValue> ToolArguments::given(std::string_view name) const {
  const JsonValue value = object_[name];
  const bool is_there = value.present() && value.kind() != JsonKind::kNull;
  return is_there ? std::optional(value) : std::nullopt;
}

void ToolArguments::fail(std::string_view name, std::string message) {
  if (!problem_) {
    problem_ = Error{.code = ErrorCode::E_INVALID_QUERY,
                     .message = std::move(message),
                     .field = std::string(name)};
  }
}

Status ToolArguments::check() const {
  if (problem_) {
    return *problem_;
  }
  return {};
}

std::string ToolArguments::text(std::string_view name) {
  const std::optional<JsonValue> value = given(name);
  if (value && !value->is_string()) {
    fail(name, fmt::format("must be a string, not {}", json_kind_name(value->kind())));
  }
  return value ? std::string(value->string()) : std::string();
}

std::string ToolArguments::required_text(std::string_view name) {
  std::string out = text(name);
  if (is_blank(out)) {
    fail(name, "is required, and must not be empty");
  }
  return out;
}

std::int64_t ToolArguments::integer(std::string_view name, std::int64_t fallback, std::int64_t min,
                                    std::int64_t max) {
  const std::optional<JsonValue> value = given(name);
  if (!value) {
    return fallback;
  }
  // Models write 5.0 as well.
  const double number = value->number(0);
  const bool is_whole =
      value->is_integer() ||
      (value->kind() == JsonKind::kReal &&
       number == static_cast<double>(static_cast<std::int32_t>(std::clamp(number, -1e9, 1e9))));
  const std::int64_t out = value->is_integer()
                               ? value->integer(max + 1)
                               : static_cast<std::int64_t>(std::clamp(number, -1e9, 1e9));
  if (!is_whole || out < min || out > max) {
    fail(name, fmt::format("must be a whole number from {} to {}", min, max));
    return fallback;
  }
  return out;
}

std::optional<double> ToolArguments::share(std::string_view name) {
  const std::optional<JsonValue> value = given(name);
  if (!value) {
    return std::nullopt;
  }
  const double number = value->number(-1);
  if (number < 0 || number > 1) {
    fail(name, "must be a number from 0 to 1");
    return std::nullopt;
  }
  return number;
}

bool ToolArguments::boolean(std::string_view name) {
  const std::optional<JsonValue> value = given(name);
  if (value && value->kind() != JsonKind::kBoolean) {
    fail(name, "must be true or false");
  }
  return value && value->boolean();
}

std::vector<std::string> ToolArguments::texts(std::string_view name, std::size_t count_max) {
  const std::optional<JsonValue> value = given(name);
  std::vector<std::string> out;
  if (!value) {
    return out;
  }
  if (value->is_string()) {
    out.emplace_back(value->string());
    return out;
  }
  for (const JsonValue element : value->elements()) {
    if (!element.is_string() || out.size() == count_max) {
      break;
    }
    out.emplace_back(element.string());
  }
  std::size_t count = 0;
  for ([[maybe_unused]] const JsonValue element : value->elements()) {
    ++count;
  }
  if (!value->is_array() || count != out.size()) {
    fail(name, fmt::format("must be an array of strings, at most {} of them", count_max));
  }
  return out;
}

std::string ToolArguments::choice(std::string_view name,
                                  std::span<const std::string_view> choices) {
  std::string out = text(name);
  if (!out.empty() && std::ranges::find(choices, out) == choices.end()) {
    fail(name, fmt::format("\"{}\" is none of {}", utf8_prefix(out, 100), joined(choices)));
  }
  return out;
}

}  // namespace bmad_mem::cli
