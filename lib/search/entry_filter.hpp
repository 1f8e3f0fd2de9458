// entry_filter.hpp - which of the entries that were read pass a filter, and how they are handed
// out.
#pragma once

#include <string>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/reports.hpp"
#include "store/entry_table.hpp"

namespace bmad_mem {

/// Whether `entry` has what the filter asks of an entry; sessions and types are not looked at.
bool passes(const EntryFilter& filter, const TableEntry& entry);

/// `entry` of session `session_id` as callers get it.
Entry to_entry(JsonParser& parser, const std::string& session_id, TableEntry entry);

}  // namespace bmad_mem
