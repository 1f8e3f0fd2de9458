// sql_state.hpp - what an error of the server means for a caller.
#pragma once

#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem::hub_postgres {

/// The code for an SQLSTATE, five characters; empty when libpq made the error itself, because the
/// connection is lost.
ErrorCode code_of_sql_state(std::string_view state);

/// The code for a connection that was not made, or is lost; `why` is what libpq says of it. A
/// server whose disk is full lets nobody in.
ErrorCode code_of_lost_connection(std::string_view why);

/// Whether the same statement may do on another try: others were in its way, and nothing of it
/// took effect.
bool is_worth_repeating(std::string_view state);

}  // namespace bmad_mem::hub_postgres
