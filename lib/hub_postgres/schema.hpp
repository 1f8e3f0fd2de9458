// schema.hpp - the tables of a hub, who may do what with them, and how they grow.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bmad_mem::hub_postgres {

/// Makes the schema "bmad" with all tables, of version kHubVersion. Several statements.
std::string_view schema_text();

/// The statement at i brings tables of version i + 1 to i + 2.
std::span<const std::string_view> upgrade_texts();

/// Grants the role what these rights need; `role` is quoted as an identifier. Several statements.
std::string grant_text(std::string_view rights, std::string_view role);

}  // namespace bmad_mem::hub_postgres
