// question.hpp - a query as the engine works with it: text taken apart, filters put together.
//
//   'why postgres -mysql type:decision since:7d'  +  Query::filter
//        clauses: why postgres -mysql       filter: types {decision}, since …     prose: for dates
#pragma once

#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "search/query_parser.hpp"

namespace bmad_mem {

struct Question {
  std::vector<QueryClause> clauses;
  std::string prose;                    ///< What dates and names are looked for in.
  EntryFilter filter;                   ///< Of the query and of its text.
  std::vector<std::string> topics;      ///< Any of them; empty: all.
  std::vector<QueryFilter> exclusions;  ///< -type:x and its like; those of fields are in `filter`.
  std::vector<ProseReading> as_prose;   ///< As ParsedQuery has them; so for the next.
  std::vector<std::string> notes;
};

/// E_INVALID_QUERY for a time range that ends before it begins.
Status check_time_range(const EntryFilter& filter);

/// Takes `query` apart; `now` is what its relative times count from.
/// Errors: E_INVALID_QUERY, as parse_query_text() and check_fields(); for a time range that ends
/// before it begins; for a query that says nothing at all.
Result<Question> read_question(const Query& query, Timestamp now);

}  // namespace bmad_mem
