// lookup.hpp - finding what a path or a parameter names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli {

/// The session that ?session_id names, as a list; empty without.
std::vector<std::string> named_session(const EndpointCall& call);

/// The entries with the {id} of the path, in ?session_id or anywhere, in their latest versions or
/// in those of ?as_of; at least one. Errors: E_SESSION_NOT_FOUND when there is none.
Result<std::vector<Entry>> entries_of_path(const ApiContext& context, const EndpointCall& call);

/// The one of them to change. Errors: as above; E_INVALID_QUERY when several sessions have one.
Result<Entry> entry_to_change(const ApiContext& context, const EndpointCall& call);

/// That there is no entry `id`.
Error no_such_entry(std::string_view id);

}  // namespace bmad_mem::cli
