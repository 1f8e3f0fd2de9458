// postgres_impl.hpp - what the calls of PostgresHub share.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "connection.hpp"
#include "hub_postgres/postgres_hub.hpp"

namespace bmad_mem {

struct PostgresHub::Impl {
  explicit Impl(const PostgresOptions& given) : options(given), connection(given) {}

  /// Connects when there is no connection, and looks whether server and tables are fit for us.
  /// Whether it connected just now.
  Result<bool> open();
  /// Whether they are, and the project is there.
  Status check();
  /// One statement that may be done twice: again when the connection turns out to be lost.
  Result<hub_postgres::Rows> ask(hub_postgres::Statement statement);
  /// Statements that may not. After an error that is E_HUB_AWAY they may have taken effect.
  Result<std::vector<hub_postgres::Rows>> ask_once(
      std::span<const hub_postgres::Statement> statements);
  /// The project's UUID as a parameter. Errors: E_ACCESS_DENIED when there is none.
  [[nodiscard]] hub_postgres::Param project_param() const;

  /// "none" takes all rights away. Errors: as PostgresHub::add_member() and drop_member().
  Status set_member(std::string_view who, std::string_view rights);
  /// The rows of kPull or kRows.
  Result<std::vector<FeedRow>> feed(hub_postgres::Statement statement);

  PostgresOptions options;
  hub_postgres::Connection connection;
  std::string project;  ///< Its UUID; empty when only admins' calls are made.
};

namespace hub_postgres {

/// Errors: E_HUB_VERSION when the tables are newer, or this program may not write to them.
Status check_newer(int version, int min_client);

inline constexpr std::string_view kAskForRights =
    "an admin gives rights with `bmad-mem hub member ROLE --rights write`";
/// The error, and for E_ACCESS_DENIED also how to come by the right.
Error with_advice(Error error, std::string_view advice);

}  // namespace hub_postgres
}  // namespace bmad_mem
