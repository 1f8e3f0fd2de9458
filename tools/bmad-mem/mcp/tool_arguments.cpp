// tool_arguments.cpp - checks JSON arguments by the rows of the operation table.
#include "mcp/tool_arguments.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/text.hpp"
#include "cli/filters.hpp"
#include "cli/results.hpp"
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

/// The texts of an array, or one alone; nothing for any other value.
std::optional<std::vector<std::string>> texts_in(JsonValue value) {
  if (value.is_string()) {
    return std::vector{std::string(value.string())};
  }
  return is_string_list(value) ? std::optional(json_strings(value)) : std::nullopt;
}

RangeEnd end_of(std::string_view name) {
  return name == "since" ? RangeEnd::kSince : RangeEnd::kUntil;
}

/// The types that `name` stands for: "decision", "decisions"; "facts" are facts and preferences,
/// "records" all others. Errors: E_INVALID_QUERY.
Result<std::vector<EntryType>> entry_types_of(std::string_view name) {
  if (name == "facts") {
    return std::vector{EntryType::kFact, EntryType::kPreference};
  }
  if (name == "records") {
    return std::vector{EntryType::kConversation, EntryType::kDecision,   EntryType::kFinding,
                       EntryType::kEvent,        EntryType::kAgentState, EntryType::kArtifact};
  }
  BMAD_TRY_ASSIGN(const EntryType type, parse_entry_type(name));
  return std::vector{type};
}

}  // namespace

Error bad_argument(std::string_view name, std::string message) {
  return invalid_query(utf8_prefix(name, 100), std::move(message));
}

void ToolArguments::add(JsonValue object, std::span<const JsonParameter> parameters) {
  parts_.push_back({object, parameters});
  const std::vector<std::string_view> known = mapped(parameters, &JsonParameter::name);
  for (const JsonMember& member : object.members()) {
    if (is_among(known, member.key)) {
      continue;
    }
    const std::string_view near = nearest_word(member.key, known);
    fail(member.key, known.empty() ? "nothing is taken here; leave it out"
                     : near.empty()
                         ? fmt::format("there is no such argument; there are: {}", joined(known))
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
  const bool is_list =
      parameter.kind == ArgumentKind::kTexts || parameter.kind == ArgumentKind::kTypes;
  const std::vector<std::string> texts = texts_in(value).value_or(std::vector<std::string>());
  for (const std::string& text : texts) {
    if (text.empty() && parameter.not_empty) {
      fail(name, "it is empty; leave it out, or say what it is to be");
    } else if (!parameter.choices.empty() && (is_list || !text.empty()) &&
               !is_choice(name, parameter.choices, text)) {
      fail(name,
           fmt::format("\"{}\" is none of {}", utf8_prefix(text, 100), joined(parameter.choices)));
    } else if (parameter.kind == ArgumentKind::kTypes) {
      const Result<std::vector<EntryType>> types = entry_types_of(utf8_prefix(text, 100));
      if (!types) {
        fail(name, types.error().message);
      }
    }
  }
  switch (parameter.kind) {
    case ArgumentKind::kText:
    case ArgumentKind::kTime:
    case ArgumentKind::kChoice:
      if (!value.is_string()) {
        fail(name, fmt::format("must be a string, not {}", json_kind_name(value.kind())));
      } else if (parameter.required && is_blank(value.string())) {
        fail(name, "is required, and must not be empty");
      } else if (parameter.kind == ArgumentKind::kTime && !value.string().empty()) {
        if (const auto time =
                parse_time(utf8_prefix(value.string(), 100), now_, end_of(name), name);
            !time) {
          fail(name, time.error().message);
        }
      }
      break;
    case ArgumentKind::kTexts:
    case ArgumentKind::kTypes:
      if (!texts_in(value) || std::cmp_greater(texts.size(), parameter.max)) {
        fail(name, fmt::format("must be an array of strings, maximum {}", parameter.max));
      } else if (parameter.required && texts.empty()) {
        fail(name, "is required, and must not be empty");
      }
      break;
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

std::pair<JsonParameter, JsonValue> ToolArguments::lookup(std::string_view name) const {
  for (const Part& part : parts_) {
    for (const JsonParameter& row : part.parameters) {
      if (row.name == name || row.key == name) {
        const JsonValue value = part.object[row.name];
        return {row, value.kind() == JsonKind::kNull ? JsonValue() : value};
      }
    }
  }
  return {};
}

JsonValue ToolArguments::value(std::string_view name) const { return lookup(name).second; }

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
  const auto [row, given] = lookup(name);
  return std::string(given.string().empty() ? row.fallback : given.string());
}

std::vector<std::string> ToolArguments::texts(std::string_view name) const {
  return texts_in(value(name)).value_or(std::vector<std::string>());
}

std::vector<std::string> ToolArguments::listed(std::string_view name) const {
  std::string one = text(name);
  return one.empty() ? std::vector<std::string>() : std::vector<std::string>{std::move(one)};
}

std::int64_t ToolArguments::integer(std::string_view name) const {
  const auto [row, given] = lookup(name);
  return given.present() ? whole_number(given, 0).value_or(0)
                         : number_in<std::int64_t>(row.fallback).value_or(0);
}

std::optional<double> ToolArguments::share(std::string_view name) const {
  const JsonValue given = value(name);
  return given.present() ? std::optional(given.number(0)) : std::nullopt;
}

bool ToolArguments::boolean(std::string_view name) const {
  const auto [row, given] = lookup(name);
  return given.present() ? given.boolean() : row.fallback == "true";
}

std::vector<EntryType> ToolArguments::types(std::string_view name) const {
  std::vector<EntryType> out;
  for (const std::string& text : texts(name)) {
    for (const EntryType type : entry_types_of(text).value_or(std::vector<EntryType>())) {
      add_once(out, type);
    }
  }
  return out;
}

std::optional<Timestamp> ToolArguments::time(std::string_view name) const {
  const std::string text = this->text(name);
  if (text.empty()) {
    return std::nullopt;
  }
  const Timestamp from = name == "as_of" ? now_ : time("as_of").value_or(now_);
  const Result<Timestamp> time = parse_time(text, from, end_of(name), name);
  return time ? std::optional(*time) : std::nullopt;
}

LinkRequest read_link(const ToolArguments& args) {
  return {.from = args.text("from"),
          .kind = try_parse_link_kind(args.text("relation")).value_or(LinkKind::kSolves),
          .to = args.text("to"),
          .remove = args.boolean("remove"),
          .sessions = args.listed("session_id")};
}

RememberParams read_statement(const ToolArguments& args) {
  const std::string source = args.text("source");
  return {.category = try_parse_category(args.text("category")).value_or(Category::kProjectFact),
          .key = args.text("key"),
          .value = args.text("value"),
          .agent_id = args.text("agent"),
          .confidence = args.share("confidence").value_or(kUsualConfidence),
          .tags = args.texts("tag"),
          .source = {.kind = source, .trust = only_if(source == "web", kWebReliability)},
          .pinned = args.boolean("pinned"),
          .session_id = args.text("session")};
}

ContextOptions read_context_options(const ToolArguments& args) {
  return {.agent_id = args.text("agent"),
          .task = args.text("task"),
          .max_tokens = if_some(args.count("max_tokens")),
          .as_of = args.time("as_of")};
}

RecallOptions read_recall_options(const ToolArguments& args) {
  return {.category = try_parse_category(args.text("category")),
          .agent_id = args.text("agent"),
          .key = args.text("key"),
          .sessions = args.texts("session"),
          .as_of = args.time("as_of"),
          .min_confidence = args.share("min_confidence").value_or(0),
          .candidates = args.boolean("candidates"),
          .contradicted_only = args.boolean("contradicted"),
          .limit = args.count("limit"),
          .offset = args.count("offset")};
}

Result<EntryFilter> read_entry_filter(const ToolArguments& args) {
  const std::string archived = args.text("archived");
  EntryFilter filter{
      .sessions = args.texts("session"),
      .types = args.types("type"),
      .tags = args.texts("tag"),
      .agents = args.texts("agent"),
      .since = args.time("since"),
      .until = args.time("until"),
      .as_of = args.time("as_of"),
      .pinned_only = args.boolean("pinned"),
      .archived = archived_choice(archived == "false" || archived == "0" ? "no" : archived),
      .offset = args.count("offset")};
  if (!args.name_of("limit").empty()) {
    filter.limit = args.count("limit");
  }
  const JsonValue fields = args.value("where");
  Status read =
      fields.present() && !fields.is_array() ? read_field_filters(fields, filter.fields) : Status();
  for (const JsonValue each : fields.elements()) {
    Result<FieldFilter> field = parse_field_filter(each.string());
    if (!field) {
      read = std::move(field).error();
      break;
    }
    filter.fields.push_back(*std::move(field));
  }
  if (!read) {
    return bad_argument(args.name_of("where"), read.error().message);
  }
  return filter;
}

}  // namespace bmad_mem::cli
