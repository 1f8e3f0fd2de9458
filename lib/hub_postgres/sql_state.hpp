// sql_state.hpp - what an error of the server means for a caller.
#pragma once

#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem::hub_postgres {

/// The code for an SQLSTATE, five characters; empty when libpq made the error itself, because the
/// connection is lost.
ErrorCode code_of_sql_state(std::string_view state);

/// Whether the same statement may do on another try: others were in its way, and nothing of it
/// took effect.
bool is_worth_repeating(std::string_view state);

}  // namespace bmad_mem::hub_postgres
