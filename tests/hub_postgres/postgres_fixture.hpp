// postgres_fixture.hpp - a PostgreSQL of a test program's own, and a fresh hub on it for each test.
//
//   NEEDS_POSTGRES();
//   HubDatabase house;                        // Tables, a project, a role for each right.
//   const auto hub = house.hub("writer", 1);  // Replica 1 of the role "writer" has joined.
//
// The server ends with the test program: postgres_server.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/hub.hpp"
#include "hub_postgres/postgres_hub.hpp"
#include "postgres_server.hpp"

namespace bmad_mem::test {

/// The value of a call that must do; throws std::runtime_error with the error.
template <typename Value>
Value must(Result<Value> result) {
  if (!result) {
    throw std::runtime_error(result.error().to_string());
  }
  if constexpr (!std::is_void_v<Value>) {
    return std::move(*result);
  }
}

/// A database with the tables of a hub and the project "house". Its owner is
/// the role "owner"; the roles "reader", "writer", "forgetter" and "admin" have
/// these rights in it, "stranger" has none.
class HubDatabase {
 public:
  explicit HubDatabase(PostgresServer& server = *PostgresServer::shared());
  HubDatabase(const HubDatabase&) = delete;
  HubDatabase& operator=(const HubDatabase&) = delete;
  ~HubDatabase();

  [[nodiscard]] std::string conninfo(std::string_view role) const;
  /// Of replica `number`, which has not joined; 0 for none.
  [[nodiscard]] PostgresOptions options(std::string_view role, int number) const;
  /// Connects and, unless `number` is 0, joins.
  [[nodiscard]] std::unique_ptr<PostgresHub> hub(std::string_view role, int number) const;
  /// One statement as this role, or as the superuser "postgres".
  SqlAnswer sql(std::string_view role, const std::string& text) const;
  /// The UUID of the project.
  [[nodiscard]] const std::string& project() const { return project_; }

 private:
  PostgresServer& server_;
  std::string name_;
  std::string project_;
};

/// The id of replica `number`.
std::string replica_id(int number);

/// A line of `session`; its row as it is pushed.
FeedRow line_row(std::string_view entry_id, std::string_view line, std::string_view session = "s1");

/// Pushes as the replica's next. Must do.
PushAnswer push_next(Hub& hub, std::vector<FeedRow> rows);

/// All rows of the feed, page by page.
std::vector<FeedRow> all_rows(Hub& hub);

}  // namespace bmad_mem::test

/// Ends a test case with a sentence where there is no PostgreSQL.
#define NEEDS_POSTGRES()                                                \
  do {                                                                  \
    if (bmad_mem::test::PostgresServer::shared() == nullptr) {          \
      MESSAGE(                                                          \
          "there is no initdb here, so the hub on PostgreSQL can't be " \
          "tested");                                                    \
      return;                                                           \
    }                                                                   \
  } while (false)
