// json_query.cpp - reads a query that a program writes as JSON, with the place of each error.
//
//   {"text": "why postgres", "types": ["decisions"], "tags": ["database"], "agents": ["analyst"],
//    "sessions": ["sess-2026-01-11-4q7m2s"],
//    "fields": {"status": "open", "severity": ["high", "critical"], "-category": "style"},
//    "time_range": {"start": "2026-01-10T00:00:00Z", "end": "2026-01-11"},
//    "min_relevance": 0.5, "limit": 20, "sort": "relevance_desc",
//    "weights": {"text": 0.4, "time": 0.3, "importance": 0.2, "access": 0.1}}
//
// Every member may be left out or be null. The form is that of the specification (section 5.1) and
// `sessions`, `fields` and `weights` besides; of a field any of several values, and with a '-' in
// front of its name none of them; "text" is in the language of query/query_scanner.hpp.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ids.hpp"
#include "base/json_cursor.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "model/field.hpp"
#include "query_scanner.hpp"

namespace bmad_mem {
namespace {

/// A query while it is read: its times are counted from the present once both are known.
struct Reading {
  Query query;
  std::optional<QueryTime> since;  ///< Inclusive.
  std::optional<QueryTime> until;  ///< Inclusive.
};

/// What the query says of the weights. Each is 0 to 1.
struct Weights {
  RelevanceWeights values;
  std::size_t given = 0;
  std::size_t positive = 0;  ///< Of those.
};

/// How the value of a key is read into `Target`.
template <typename Target>
struct Reader {
  std::string_view key;
  Status (*read)(const JsonNode& node, Target& target);
};

/// Reads the members of an object by a table of what may stand there. A null is a member left out.
template <typename Target>
Status read_object(const JsonNode& node, std::span<const Reader<Target>> readers, Target& target) {
  if (!node.value().is_object()) {
    return node.refuse_kind("an object");
  }
  std::size_t index = 0;
  for (const JsonMember& member : node.value().members()) {
    const JsonNode child = node.member(index++, member.value, quoted_part(member.key));
    const auto reader = std::ranges::find(readers, member.key, &Reader<Target>::key);
    if (reader == readers.end()) {
      std::vector<std::string_view> keys;
      std::ranges::transform(readers, std::back_inserter(keys), &Reader<Target>::key);
      return child.refuse_key(fmt::format("is not known here; known are {}{}",
                                          fmt::join(keys, ", "), did_you_mean(member.key, keys)));
    }
    if (child.value().kind() != JsonKind::kNull) {
      BMAD_TRY(reader->read(child, target));
    }
  }
  return {};
}

Result<std::string> read_string(const JsonNode& node) {
  if (!node.value().is_string()) {
    return node.refuse_kind("a string");
  }
  return std::string(node.value().string());
}

/// Reads a list with `read_one`, which takes a JsonNode that holds a string.
template <typename ReadOne>
Status read_list(const JsonNode& node, const ReadOne& read_one) {
  if (!node.value().is_array()) {
    return node.value().is_string()
               ? node.refuse("must be an array of strings; put the string in [ and ]")
               : node.refuse_kind("an array of strings");
  }
  std::size_t index = 0;
  for (const JsonValue value : node.value().elements()) {
    const JsonNode element = node.element(index++, value);
    if (!value.is_string()) {
      return element.refuse_kind("a string");
    }
    if (value.string().empty()) {
      return element.refuse("is empty; leave it out");
    }
    BMAD_TRY(read_one(element));
  }
  return {};
}

Status read_names(const JsonNode& node, std::vector<std::string>& names) {
  return read_list(node, [&](const JsonNode& element) -> Status {
    names.emplace_back(element.value().string());
    return {};
  });
}

Status read_types(const JsonNode& node, std::vector<EntryType>& types) {
  return read_list(node, [&](const JsonNode& element) -> Status {
    Result<EntryType> type = parse_entry_type(element.value().string());
    if (!type) {
      return element.refuse(std::move(type.error().message));
    }
    if (std::ranges::find(types, *type) == types.end()) {
      types.push_back(*type);
    }
    return {};
  });
}

Status read_sessions(const JsonNode& node, std::vector<std::string>& sessions) {
  return read_list(node, [&](const JsonNode& element) -> Status {
    if (!is_session_id(element.value().string())) {
      return element.refuse(
          fmt::format("\"{}\" is not the id of a session; `bmad-mem session list` "
                      "shows them",
                      quoted_part(element.value().string())));
    }
    sessions.emplace_back(element.value().string());
    return {};
  });
}

Status read_field_value(const JsonNode& node, FieldFilter filter,
                        std::vector<FieldFilter>& fields) {
  const JsonValue value = node.value();
  if (value.is_array() || value.is_object()) {
    return node.refuse_kind("a string, a number, true, false, or an array of these");
  }
  filter.value = filter_value_text(value);
  if (Status good = check_filter_field(filter.field, filter.value); !good) {
    return node.refuse(std::move(good.error().message));
  }
  fields.push_back(std::move(filter));
  return {};
}

Status read_fields(const JsonNode& node, Reading& out) {
  if (!node.value().is_object()) {
    return node.refuse_kind("an object of fields and values");
  }
  std::size_t index = 0;
  for (const JsonMember& member : node.value().members()) {
    const JsonNode child = node.member(index++, member.value, quoted_part(member.key));
    const bool excluded = member.key.starts_with('-');
    const FieldFilter filter{.field = std::string(member.key.substr(excluded ? 1 : 0)),
                             .excluded = excluded};
    if (!child.value().is_array()) {
      BMAD_TRY(read_field_value(child, filter, out.query.filter.fields));
      continue;
    }
    std::size_t place = 0;
    for (const JsonValue value : child.value().elements()) {
      BMAD_TRY(read_field_value(child.element(place++, value), filter, out.query.filter.fields));
    }
  }
  return {};
}

Status read_time(const JsonNode& node, RangeEnd end, std::optional<QueryTime>& time) {
  BMAD_TRY_ASSIGN(const std::string text, read_string(node));
  time = QueryTime::try_parse(text, end);
  if (!time) {
    return node.refuse(
        fmt::format("\"{}\" is not a time; write {}", quoted_part(text), QueryTime::kForms));
  }
  return {};
}

constexpr std::array<Reader<Reading>, 2> kTimeRangeReaders = {{
    {"start", [](const JsonNode& node,
                 Reading& out) { return read_time(node, RangeEnd::kSince, out.since); }},
    {"end", [](const JsonNode& node,
               Reading& out) { return read_time(node, RangeEnd::kUntil, out.until); }},
}};

Status read_time_range(const JsonNode& node, Reading& out) {
  BMAD_TRY(read_object<Reading>(node, kTimeRangeReaders, out));
  constexpr Timestamp kAnyTime{};
  if (out.since && out.until && out.since->is_fixed() && out.until->is_fixed() &&
      out.since->at(kAnyTime) > out.until->at(kAnyTime)) {
    return node.refuse("the start is after the end; swap them");
  }
  return {};
}

/// A number from 0 to 1.
Status read_share(const JsonNode& node, double& share) {
  constexpr double kOutside = -1;
  if (!node.value().is_number()) {
    return node.refuse_kind("a number");
  }
  const double number = node.value().number(kOutside);
  if (!(number >= 0 && number <= 1)) {
    return node.refuse("must be a number from 0 to 1");
  }
  share = number;
  return {};
}

template <double RelevanceWeights::* kWeight>
Status read_weight(const JsonNode& node, Weights& out) {
  ++out.given;
  BMAD_TRY(read_share(node, out.values.*kWeight));
  out.positive += out.values.*kWeight > 0 ? 1 : 0;
  return {};
}

constexpr std::array<Reader<Weights>, 4> kWeightReaders = {{
    {"text", read_weight<&RelevanceWeights::text>},
    {"time", read_weight<&RelevanceWeights::time>},
    {"importance", read_weight<&RelevanceWeights::importance>},
    {"access", read_weight<&RelevanceWeights::access>},
}};

Status read_weights(const JsonNode& node, Reading& out) {
  Weights weights;
  BMAD_TRY(read_object<Weights>(node, kWeightReaders, weights));
  if (weights.given == kWeightReaders.size() && weights.positive == 0) {
    return node.refuse("are all 0; give at least one of them more than 0");
  }
  if (weights.given > 0) {
    out.query.weights = weights.values;
  }
  return {};
}

Status read_combine(const JsonNode& node, std::optional<RelevanceCombine>& combine) {
  BMAD_TRY_ASSIGN(const std::string name, read_string(node));
  combine = try_parse_relevance_combine(name);
  if (!combine) {
    return node.refuse(
        fmt::format("\"{}\" is not known; write \"factors\" or \"sum\"", quoted_part(name)));
  }
  return {};
}

Status read_count(const JsonNode& node, std::string_view zero, std::size_t& count) {
  if (!node.value().is_number()) {
    return node.refuse_kind("a number");
  }
  if (node.value().kind() != JsonKind::kInteger || node.value().integer() < 0) {
    return node.refuse(fmt::format("must be a whole number, 0 or more{}", zero));
  }
  count = static_cast<std::size_t>(node.value().integer());
  return {};
}

Status read_sort(const JsonNode& node, SortOrder& sort) {
  // In the order of SortOrder.
  constexpr std::array<std::string_view, 3> kNames = {"relevance_desc", "time_desc", "time_asc"};
  static_assert(static_cast<int>(SortOrder::kTimeDesc) == 1);
  static_assert(static_cast<int>(SortOrder::kTimeAsc) == 2);
  BMAD_TRY_ASSIGN(const std::string name, read_string(node));
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    return node.refuse(fmt::format("\"{}\" is not an order; known are {}{}", quoted_part(name),
                                   fmt::join(kNames, ", "), did_you_mean(name, kNames)));
  }
  sort = static_cast<SortOrder>(found - kNames.begin());
  return {};
}

Status read_text(const JsonNode& node, std::string& text) {
  BMAD_TRY_ASSIGN(text, read_string(node));
  return {};
}

constexpr std::array<Reader<Reading>, 13> kQueryReaders = {{
    {"text", [](const JsonNode& node, Reading& out) { return read_text(node, out.query.text); }},
    {"types",
     [](const JsonNode& node, Reading& out) { return read_types(node, out.query.filter.types); }},
    {"time_range", read_time_range},
    {"tags",
     [](const JsonNode& node, Reading& out) { return read_names(node, out.query.filter.tags); }},
    {"agents",
     [](const JsonNode& node, Reading& out) { return read_names(node, out.query.filter.agents); }},
    {"sessions", [](const JsonNode& node,
                    Reading& out) { return read_sessions(node, out.query.filter.sessions); }},
    {"fields", read_fields},
    {"min_relevance",
     [](const JsonNode& node, Reading& out) { return read_share(node, out.query.min_relevance); }},
    {"limit",
     [](const JsonNode& node, Reading& out) {
       return read_count(node, "; 0 is no limit", out.query.filter.limit);
     }},
    {"offset", [](const JsonNode& node,
                  Reading& out) { return read_count(node, "", out.query.filter.offset); }},
    {"sort", [](const JsonNode& node, Reading& out) { return read_sort(node, out.query.sort); }},
    {"combine",
     [](const JsonNode& node, Reading& out) { return read_combine(node, out.query.combine); }},
    {"weights", read_weights},
}};

Result<Query> read_query(std::string_view json, Timestamp now) {
  if (json.size() > kJsonQuerySizeMax) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("the query has {} bytes, and the maximum is {}; shorten it",
                                        json.size(), kJsonQuerySizeMax)};
  }
  const ParsedJson root(json);
  if (!root) {
    Error problem = root.error();
    problem.code = ErrorCode::E_INVALID_QUERY;
    problem.message = printable_text(problem.message);  // It quotes the text, DEL and all.
    return placed_in(std::move(problem), json);
  }
  Reading out;
  BMAD_TRY(
      read_object<Reading>(JsonNode(ErrorCode::E_INVALID_QUERY, json, *root), kQueryReaders, out));
  out.query.filter.since = out.since ? std::optional(out.since->at(now)) : std::nullopt;
  out.query.filter.until = out.until ? std::optional(out.until->at(now)) : std::nullopt;
  return std::move(out.query);
}

}  // namespace

Result<Query> read_json_query(std::string_view json, Timestamp now) {
  Result<Query> query = read_query(json, now);
  if (!query && !json.contains('\n')) {
    query.error().line = 0;
  }
  return query;
}

}  // namespace bmad_mem
