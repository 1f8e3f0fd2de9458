// hit_view.hpp - the hits of a search as the tool prints them.
//
//   0.83  decision  dec-001  2026-01-11 10:05 (3 days ago)  by architect
//         Use *PostgreSQL* for the ledger, since it has transactions
#pragma once

#include "bmad_mem/reports.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

/// Prints the hits, as text or as JSON, with what `query` asks for: the entries around them, and
/// where their relevance comes from and how the query was read.
void print_answer(Tool& tool, const Query& query, const QueryAnswer& answer);

}  // namespace bmad_mem::cli
