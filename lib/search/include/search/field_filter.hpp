// field_filter.hpp - filters on fields: the key that an entry stands under, and the same judgement
// for an entry that was read, along with what else a filter asks of it.
//
//   status=open  ->  "FIELD:status=open"         category=<100 letters>  ->  "FIELD:category#x4Gh…"
//
// Values compare in lower case, letter by letter.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/query.hpp"
#include "store/entry_scanner.hpp"

namespace bmad_mem {

/// What entries with `value` in field `name` stand under, as a kTerm behind kFieldPrefix.
std::string field_key(std::string_view name, std::string_view value);

/// Whether the entry passes: of each field any of the values asked for, and none of the excluded
/// ones.
bool passes_fields(std::span<const FieldFilter> filters, EntryType type, JsonValue entry);

/// Whether the entry of session `session_id` is of the workspace that the filter names, if any.
bool passes_workspace(const EntryFilter& filter, std::string_view session_id, JsonValue entry);

/// Whether `entry` of session `session_id` has what the filter asks of an entry; the sessions and
/// types that it names are not looked at.
bool passes(const EntryFilter& filter, std::string_view session_id, const TableEntry& entry);

/// The entry of session `session_id` that `value` was parsed from, without its line and what the
/// session says of it.
Entry to_entry(const std::string& session_id, EntryType type, JsonValue value);
/// `entry` of session `session_id` as callers get it.
Entry to_entry(JsonParser& parser, const std::string& session_id, TableEntry entry);

}  // namespace bmad_mem
