// schema.hpp - the tables of a hub, who may do what with them, and how they grow.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::hub_postgres {

// Each is several statements.

/// Makes the schema "bmad" with all tables, of version kHubVersion.
std::string schema_text();

/// Brings tables of version 1 to kHubVersion.
std::string upgrade_text();

/// Grants the role what every member needs; `role` is quoted as an identifier.
std::string grant_text(std::string_view role);

}  // namespace bmad_mem::hub_postgres
