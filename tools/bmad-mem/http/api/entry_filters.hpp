// entry_filters.hpp - the parameters by which endpoints choose entries.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli {

/// What these parameters say; the endpoint has all of them but perhaps topic.
struct ChosenEntries {
  EntryFilter filter;  ///< Its limit is for the caller to set.
  bool none = false;   ///< Nothing can pass: no session belongs to the workspace.
};

/// Errors: E_INVALID_QUERY for a range that ends before it begins; those of listing sessions.
Result<ChosenEntries> choose_entries(const ApiContext& context, const EndpointCall& call);

/// The member as_of of an answer, when ?as_of asked for a time.
void add_as_of(JsonWriter& json, const EndpointCall& call);

/// The filter as one for a query, which must ask for something: all types, where it asks for none.
EntryFilter query_filter(EntryFilter filter);

}  // namespace bmad_mem::cli
