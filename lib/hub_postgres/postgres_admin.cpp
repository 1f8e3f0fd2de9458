// postgres_admin.cpp - the calls of PostgresHub that are for admins.
#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "hub_postgres/postgres_hub.hpp"
#include "hub_postgres_statements.hpp"
#include "hub_postgres_tables.hpp"
#include "postgres_impl.hpp"

namespace bmad_mem {

using hub_postgres::Param;
using hub_postgres::Rows;
using hub_postgres::Statement;
using hub_postgres::text_param;

namespace sql = hub_postgres::sql;

namespace {

// A vacuum reads the pages that changed since the last one, of all projects.
constexpr std::chrono::minutes kVacuumTimeout{10};

// Each text is several statements. Beside the functions there is only what engines with
// PostgreSQL's protocol have in common: no triggers, sequences, foreign keys or extensions.

/// Makes the schema "bmad" with all tables, of version kHubVersion.
std::string schema_text() { return fmt::format("{}{}", kSchemaTable, kFunctionsTable); }

/// Brings tables of version 1 to kHubVersion.
std::string upgrade_text() {
  static_assert(kHubVersion == 2, "each version has a way from the one before");
  return fmt::format("{}{}", kUpgrade_2Table, kFunctionsTable);
}

constexpr std::string_view kAskTheOwner =
    "only who owns the tables may: the role of `bmad-mem hub init`, or one that is granted it";

template <typename Value>
Result<Value> owners_only(Result<Value> result) {
  if (!result) {
    return hub_postgres::with_advice(std::move(result).error(), kAskTheOwner);
  }
  return result;
}

}  // namespace

Result<std::string> PostgresHub::init(std::string_view project) {
  BMAD_TRY_ASSIGN(const Rows tables, impl_->ask({.text = sql::kHasTables}));
  if (!tables.boolean(0, 0)) {
    Status made = impl_->connection.run_script(schema_text(), impl_->options.timeout);
    if (!made) {  // Another may have made them just now.
      BMAD_TRY_ASSIGN(const Rows again, impl_->ask({.text = sql::kHasTables}));
      if (!again.boolean(0, 0)) {
        return std::move(made).error();
      }
    }
  }
  BMAD_TRY_ASSIGN(
      const Rows rows,
      owners_only(impl_->ask({.text = sql::kAddProject, .params = {text_param(project)}})));
  impl_->options.project = project;
  impl_->project = rows.uuid(0, 0);
  return impl_->project;
}

Status PostgresHub::add_member(std::string_view who, std::string_view rights) {
  constexpr std::array<std::string_view, 4> kRights = {"read", "write", "forget", "admin"};
  if (std::ranges::find(kRights, rights) == kRights.end()) {
    return field_error(ErrorCode::E_INVALID_FORMAT, "rights",
                       fmt::format("rights are read, write, forget or admin, not '{}'", rights));
  }
  if (who.empty() || who == "public") {  // Even in quotes that means everybody.
    return field_error(ErrorCode::E_INVALID_FORMAT, "who",
                       fmt::format("a member is one role of the database, not '{}'", who));
  }
  BMAD_TRY_ASSIGN(const Rows reserved,
                  impl_->ask({.text = sql::kIsReserved, .params = {text_param(who)}}));
  if (reserved.boolean(0, 0)) {
    return field_error(
        ErrorCode::E_INVALID_FORMAT, "who",
        fmt::format(
            "{} is a role of the server's own, or has a superuser's rights or a part of them, "
            "which no rights of a hub hold back; give each member a role of its own",
            who));
  }
  BMAD_TRY_ASSIGN(const std::string role, impl_->connection.quoted(who));
  Status granted =
      impl_->connection.run_script(fmt::format(sql::kGrants, role), impl_->options.timeout);
  if (!granted) {
    if (granted.error().code == ErrorCode::E_INVALID_FORMAT) {
      granted.error().field = "who";
    }
    return owners_only(std::move(granted));
  }
  return impl_->set_member(who, rights);
}

Status PostgresHub::drop_member(std::string_view who) {
  // No grant is taken back: other projects may need it, and without a right it shows no row.
  return impl_->set_member(who, "none");
}

Status PostgresHub::Impl::set_member(std::string_view who, std::string_view rights) {
  BMAD_TRY(open());
  const std::array<Statement, 2> statements{
      {{.text = sql::kLockHead, .params = {project_param()}},
       {.text = sql::kSetMember,
        .params = {project_param(), text_param(who), text_param(rights)}}}};
  BMAD_TRY_ASSIGN(const std::vector<Rows> answers, owners_only(ask_once(statements)));
  assert(answers.size() == statements.size());
  if (answers.back().boolean(0, 0)) {
    return field_error(ErrorCode::E_INVALID_FORMAT, "who",
                       fmt::format("{} is the last admin of the project '{}'; make another "
                                   "role an admin first",
                                   who, options.project));
  }
  if (!answers.back().boolean(0, 1)) {
    return field_error(ErrorCode::E_INVALID_FORMAT, "who",
                       fmt::format("{} has no rights in the project '{}'; `bmad-mem hub "
                                   "status` lists who has some",
                                   who, options.project));
  }
  return {};
}

Result<std::vector<HubMember>> PostgresHub::members() {
  BMAD_TRY_ASSIGN(const Rows rows,
                  impl_->ask({.text = sql::kMembers, .params = {impl_->project_param()}}));
  std::vector<HubMember> members;
  for (int row = 0; row < rows.size(); ++row) {
    members.push_back(
        {.who = std::string(rows.raw(row, 0)), .rights = std::string(rows.raw(row, 1))});
  }
  return members;
}

Result<int> PostgresHub::upgrade() {
  BMAD_TRY_ASSIGN(const Rows rows, impl_->ask({.text = sql::kVersion}));
  const int version = rows.integer(0, 0);
  BMAD_TRY(hub_postgres::check_newer(version, 0));
  if (version < kHubVersion) {
    BMAD_TRY(owners_only(impl_->connection.run_script(upgrade_text(), impl_->options.timeout)));
  }
  return version;
}

Result<ForgottenRows> PostgresHub::verify_forgotten(HubVacuum vacuum) {
  BMAD_TRY_ASSIGN(const Rows began, impl_->ask({.text = sql::kNow}));
  ForgottenRows forgotten;
  // Without the right to it, the server warns and does nothing.
  Status vacuumed;
  if (vacuum == HubVacuum::kRewrite) {
    vacuumed = impl_->connection.run_script(std::string(sql::kRewrite), kVacuumTimeout);
  }
  if (vacuumed) {  // The usual one alone notes when it was, and what it had to leave.
    vacuumed = impl_->connection.run_script(std::string(sql::kVacuum), kVacuumTimeout);
  }
  if (!vacuumed && vacuumed.error().code == ErrorCode::E_HUB_AWAY) {
    return std::move(vacuumed).error();
  }
  BMAD_TRY_ASSIGN(
      const Rows looked,
      impl_->ask({.text = sql::kIsVacuumed,
                  .params = {hub_postgres::moment_param(std::string(began.raw(0, 0)))}}));
  forgotten.is_vacuumed = looked.size() == 1 && looked.boolean(0, 0);
  BMAD_TRY_ASSIGN(const Rows rows,
                  impl_->ask({.text = sql::kForgotten, .params = {impl_->project_param()}}));
  forgotten.with_content = rows.bigint(0, 0);
  forgotten.last_purge = rows.bigint(0, 1);
  return forgotten;
}

Result<std::string> PostgresHub::policy() {
  const Result<Rows> rows = impl_->ask({.text = sql::kPolicy});
  if (!rows) {
    return hub_postgres::with_advice(rows.error(), hub_postgres::kAskForRights);
  }
  return std::string(rows->raw(0, 0));
}

Status PostgresHub::set_policy(std::string_view policy) {
  BMAD_TRY(owners_only(
      impl_->ask({.text = sql::kSetPolicy, .params = {hub_postgres::bytes_param(policy)}})));
  return {};
}

}  // namespace bmad_mem
