#include "mcp/tool_arguments.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"
#include "cli/text.hpp"

namespace bmad_mem::cli {
namespace {

/// A whole number, also one written as 5.0.
std::optional<std::int64_t> whole_number(JsonValue value, std::int64_t max) {
  if (value.is_integer()) {
    return value.integer(max + 1);
  }
  const double number = value.number(0);
  const auto whole = static_cast<std::int64_t>(std::clamp(number, -1e9, 1e9));
  const bool is_whole = value.kind() == JsonKind::kReal && number == static_cast<double>(whole);
  return is_whole ? std::optional(whole) : std::nullopt;
}

/// How many elements there are, and whether all are strings.
std::pair<std::size_t, bool> count_texts(JsonValue array) {
  std::size_t count = 0;
  bool are_texts = true;
  for (const JsonValue element : array.elements()) {
    ++count;
    are_texts = are_texts && element.is_string();
  }
  return {count, are_texts};
}

}  // namespace

Error bad_argument(std::string_view name, std::string message) {
  return {.code = ErrorCode::E_INVALID_QUERY,
          .message = std::move(message),
          .field = std::string(name)};
}

ToolArguments::ToolArguments(JsonValue object, std::span<const JsonParameter> parameters)
    : object_(object), parameters_(parameters) {
  std::vector<std::string_view> known;
  std::ranges::transform(parameters, std::back_inserter(known), &JsonParameter::name);
  for (const JsonMember& member : object.members()) {
    if (std::ranges::find(known, member.key) != known.end()) {
      continue;
    }
    const std::string_view near = nearest_word(member.key, known);
    fail(utf8_prefix(member.key, 100),
         near.empty() ? fmt::format("there is no such argument; there are: {}", joined(known))
                      : fmt::format("there is no such argument; did you mean \"{}\"?", near));
  }
  for (const JsonParameter& parameter : parameters) {
    if (const JsonValue value = this->value(parameter.name); value.present()) {
      check_value(parameter, value);
    } else if (parameter.required && !parameter.choices.empty()) {
      fail(parameter.name, fmt::format("is required: one of {}", joined(parameter.choices)));
    } else if (parameter.required) {
      fail(parameter.name, "is required, and must not be empty");
    }
  }
}

bool is_choice(std::string_view name, std::span<const std::string_view> choices,
               std::string_view text) {
  return std::ranges::find(choices, text) != choices.end() ||
         (name == "category" && try_parse_category(text));
}

void ToolArguments::check_value(const JsonParameter& parameter, JsonValue value) {
  const std::string_view name = parameter.name;
  switch (parameter.kind) {
    case ArgumentKind::kText:
    case ArgumentKind::kTime:
    case ArgumentKind::kChoice:
      if (!value.is_string()) {
        fail(name, fmt::format("must be a string, not {}", json_kind_name(value.kind())));
      } else if (parameter.required && is_blank(value.string())) {
        fail(name, "is required, and must not be empty");
      } else if (parameter.kind == ArgumentKind::kChoice && !value.string().empty() &&
                 !is_choice(name, parameter.choices, value.string())) {
        fail(name, fmt::format("\"{}\" is none of {}", utf8_prefix(value.string(), 100),
                               joined(parameter.choices)));
      }
      break;
    case ArgumentKind::kTexts: {
      const auto [count, are_texts] = count_texts(value);
      const bool fits = value.is_string() || (value.is_array() && are_texts &&
                                              std::cmp_less_equal(count, parameter.max));
      if (!fits) {
        fail(name, fmt::format("must be an array of strings, maximum {}", parameter.max));
      } else if (parameter.required && value.is_array() && count == 0) {
        fail(name, "is required, and must not be empty");
      }
      break;
    }
    case ArgumentKind::kNumber: {
      const std::optional<std::int64_t> number = whole_number(value, parameter.max);
      if (!number || *number < parameter.min || *number > parameter.max) {
        fail(name,
             fmt::format("must be a whole number from {} to {}", parameter.min, parameter.max));
      }
      break;
    }
    case ArgumentKind::kShare:
      if (const double number = value.number(-1); number < 0 || number > 1) {
        fail(name, "must be a number from 0 to 1");
      }
      break;
    case ArgumentKind::kFlag:
      if (value.kind() != JsonKind::kBoolean) {
        fail(name, "must be true or false");
      }
      break;
    case ArgumentKind::kJson:
      break;
  }
}

JsonValue ToolArguments::value(std::string_view name) const {
  const JsonValue value = object_[name];
  return value.present() && value.kind() != JsonKind::kNull ? value : JsonValue();
}

std::string_view ToolArguments::fallback(std::string_view name) const {
  const auto row = std::ranges::find(parameters_, name, &JsonParameter::name);
  assert(row != parameters_.end());
  return row == parameters_.end() ? std::string_view() : row->fallback;
}

void ToolArguments::fail(std::string_view name, std::string message) {
  if (!problem_) {
    problem_ = bad_argument(name, std::move(message));
  }
}

Status ToolArguments::check() const {
  if (problem_) {
    return *problem_;
  }
  return {};
}

std::string ToolArguments::text(std::string_view name) const {
  const JsonValue given = value(name);
  const bool says_something = given.is_string() && !given.string().empty();
  return std::string(says_something ? given.string() : fallback(name));
}

std::vector<std::string> ToolArguments::texts(std::string_view name) const {
  const JsonValue given = value(name);
  std::vector<std::string> out;
  if (given.is_string()) {
    out.emplace_back(given.string());
  }
  for (const JsonValue element : given.elements()) {
    out.emplace_back(element.string());
  }
  return out;
}

std::vector<std::string> ToolArguments::listed(std::string_view name) const {
  std::string one = text(name);
  return one.empty() ? std::vector<std::string>() : std::vector<std::string>{std::move(one)};
}

std::int64_t ToolArguments::integer(std::string_view name) const {
  if (const JsonValue given = value(name); given.present()) {
    return whole_number(given, 0).value_or(0);
  }
  const std::string_view text = fallback(name);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<double> ToolArguments::share(std::string_view name) const {
  const JsonValue given = value(name);
  return given.present() ? std::optional(given.number(0)) : std::nullopt;
}

bool ToolArguments::boolean(std::string_view name) const {
  const JsonValue given = value(name);
  return given.present() ? given.boolean() : fallback(name) == "true";
}

std::optional<Timestamp> ToolArguments::time(std::string_view name, RangeEnd end, Timestamp now) {
  const std::string text = this->text(name);
  if (text.empty()) {
    return std::nullopt;
  }
  const Result<Timestamp> time = parse_time(text, now, end, name);
  if (!time) {
    fail(name, time.error().message);
    return std::nullopt;
  }
  return *time;
}

LinkRequest read_link(const ToolArguments& args) {
  return {.from = args.text("from"),
          .kind = try_parse_link_kind(args.text("relation")).value_or(LinkKind::kSolves),
          .to = args.text("to"),
          .remove = args.boolean("remove"),
          .sessions = args.listed("session_id")};
}

}  // namespace bmad_mem::cli
