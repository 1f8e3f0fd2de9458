// json_query.hpp - a query as programs write it.
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
// front of its name none of them; "text" is in the language of query/query_parser.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/query_time.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Longest JSON query, in bytes: thousands of sessions can be named.
inline constexpr std::size_t kJsonQuerySizeMax = std::size_t{1} << 20U;

/// What the query says of the weights of relevance; the config says the rest. Each is 0 to 1.
struct JsonQueryWeights {
  std::optional<double> text;
  std::optional<double> time;
  std::optional<double> importance;
  std::optional<double> access;
};

struct JsonQuery {
  std::string text;              ///< For parse_query_text(), which has not seen it.
  std::vector<EntryType> types;  ///< Any of them, each once; empty: all. So for the next three.
  std::vector<std::string> tags;
  std::vector<std::string> agents;
  std::vector<std::string> sessions;  ///< Valid ids.
  std::vector<FieldFilter> fields;    ///< Of fields there are.
  std::optional<QueryTime> since;     ///< Inclusive.
  std::optional<QueryTime> until;     ///< Inclusive.
  double min_relevance = 0;           ///< 0 to 1.
  std::size_t limit = 20;             ///< 0: no limit. 20 is the specification's.
  SortOrder sort = SortOrder::kRelevanceDesc;
  JsonQueryWeights weights;
  std::optional<RelevanceCombine> combine;
};

/// Reads `json`, one object. Errors: E_INVALID_QUERY with the field ("time_range.start",
/// "types[1]"), its place (1-based column; the line too, if there are several) and a remedy, for:
/// what is not JSON, unknown keys, values of the wrong kind or out of range, a start after the end.
Result<JsonQuery> parse_json_query(std::string_view json);

}  // namespace bmad_mem
