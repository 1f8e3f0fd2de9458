// entry_filters.hpp - the entries that a request means, by its parameters or by its path.
#pragma once

#include <vector>

#include "bmad_mem/query.hpp"
#include "bmad_mem/result.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli {

/// What read_entry_filter() reads, ?workspace and ?sensitive say. Errors: E_INVALID_QUERY for a
/// range that ends before it begins; those of listing sessions.
Result<EntryFilter> choose_entries(const ApiContext& context, const EndpointCall& call);

/// The filter as one for a query, which must ask for something: all types, where it asks for none.
EntryFilter query_filter(EntryFilter filter);

/// The entries with the {id} of the path, in ?session_id or anywhere, in their latest versions or
/// in those of ?as_of; at least one. Errors: E_ENTRY_NOT_FOUND when there is none.
Result<std::vector<Entry>> entries_of_path(const ApiContext& context, const EndpointCall& call);

/// The one of them to change. Errors: as above; E_INVALID_QUERY when several sessions have one.
Result<Entry> entry_to_change(const ApiContext& context, const EndpointCall& call);

/// The memory to write to, that of the project or of the user, as `scope` of the call says.
Result<MemoryManager*> memory_to_write(ApiContext& context, const EndpointCall& call);

}  // namespace bmad_mem::cli
