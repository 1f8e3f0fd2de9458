// statement_row.hpp - a line of a fact or a preference as an index knows it: what decides which
// statement holds, and where the line lies.
//
// All versions have one, superseded ones too: items of knowledge have their history.
#pragma once

#include "model/statement.hpp"
#include "search/entry_columns.hpp"

namespace bmad_mem {

struct StatementRow {
  StatementOutline outline;
  EntryRow row;

  bool operator==(const StatementRow&) const = default;
};

}  // namespace bmad_mem
