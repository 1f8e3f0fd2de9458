// schema.cpp - the texts of schema.sql, functions.sql and upgrade_*.sql, and grants.
//
// Beside the functions there is only what engines with PostgreSQL's protocol have in common: no
// triggers, sequences, foreign keys or extensions.
#include "schema.hpp"

#include <fmt/format.h>

#include "bmad_mem/hub.hpp"
#include "hub_postgres_tables.hpp"

namespace bmad_mem::hub_postgres {
namespace {

// Which columns a role may touch at all. What it writes beside them is the functions' matter.
constexpr std::string_view kGrants = R"sql(
grant usage on schema bmad to {0};
grant select on bmad.hub, bmad.project, bmad.member, bmad.own, bmad.replica, bmad.entry,
  bmad.gone to {0};
grant insert, delete on bmad.replica to {0};
grant update (cursor, seen_at) on bmad.replica to {0};
)sql";

}  // namespace

std::string schema_text() { return fmt::format("{}{}", kSchemaTable, kFunctionsTable); }

std::string upgrade_text() {
  static_assert(kHubVersion == 2, "each version has a way from the one before");
  return fmt::format("{}{}", kUpgrade_2Table, kFunctionsTable);
}

std::string grant_text(std::string_view role) { return fmt::format(kGrants, role); }

}  // namespace bmad_mem::hub_postgres
