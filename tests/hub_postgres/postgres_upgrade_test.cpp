// postgres_upgrade_test.cpp - a hub of each released version becomes the one that is made today.
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "postgres_fixture.hpp"

namespace bmad_mem::test::postgres_upgrade_test {
namespace {

/// The database has a hub of version 1 instead, with the members of the fixture.
void make_version_1(const HubDatabase& house) {
  std::ifstream file(BMAD_SOURCE_DIR "/tests/hub_postgres/hub_version_1.sql");
  const std::string tables(std::istreambuf_iterator<char>(file), {});
  REQUIRE(house.sql("owner", "drop schema bmad cascade; " + tables).state.empty());
  const std::string rows = fmt::format(R"(
      insert into bmad.project (project, name, head) values ('{0}', 'house', 2);
      insert into bmad.member values ('{0}', 'reader', 'read'), ('{0}', 'writer', 'write'),
        ('{0}', 'forgetter', 'forget'), ('{0}', 'admin', 'admin'), ('{0}', 'owner', 'admin');
      insert into bmad.replica (project, replica, who, host, pushed)
        values ('{0}', '{1}', 'writer', 'h', 2);
      insert into bmad.entry (project, seq, replica, session, log, op, entry_id, line)
        values ('{0}', 1, '{1}', 's1', 4, 0, 'a', 'a1'), ('{0}', 2, '{1}', 's1', 4, 0, 'b', 'b1'))",
                                       house.project(), replica_id(1));
  REQUIRE(house.sql("owner", rows).state.empty());
}

/// What the server knows of the schema, but for the order of columns.
std::string shape_of(const HubDatabase& house) {
  return house
      .sql("owner", R"(
      select string_agg(what, E'\n' order by what) from (
        select format('%s %s %s', table_name, column_name, data_type) as what
          from information_schema.columns where table_schema = 'bmad'
        union all select format('%s %s %s %s %s', tablename, policyname, cmd, qual, with_check)
          from pg_policies where schemaname = 'bmad'
        union all select format('%s %s %s %s', proname, prosecdef, proconfig, prosrc)
          from pg_proc where pronamespace = 'bmad'::regnamespace
        union all select format('%s %s %s', relname, relrowsecurity, reloptions)
          from pg_class where relnamespace = 'bmad'::regnamespace
        union all select format('%s %s', version, min_client) from bmad.hub) as all_of_it)")
      .value;
}

}  // namespace

TEST_CASE("a hub of version 1 becomes the one that is made today") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const std::string today = shape_of(house);
  make_version_1(house);
  const auto refused = PostgresHub::connect(house.options("writer", 1));
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::E_HUB_VERSION);
  CHECK(refused.error().message.contains("bmad-mem hub upgrade"));
  CHECK(PostgresHub::connect({.conninfo = house.conninfo("writer")})
            .value()
            ->upgrade()
            .error()
            .code == ErrorCode::E_ACCESS_DENIED);
  const auto owner = must(PostgresHub::connect({.conninfo = house.conninfo("owner")}));
  CHECK(must(owner->upgrade()) == 1);
  CHECK(must(owner->upgrade()) == kHubVersion);
  CHECK(shape_of(house) == today);

  const auto writer = must(PostgresHub::connect(house.options("writer", 1)));
  CHECK(push_next(*writer, {line_row("c", "c1")}).seqs == std::vector<std::uint64_t>{3});
  const std::vector<FeedRow> rows =
      all_rows(*must(PostgresHub::connect(house.options("reader", 2))));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].who == "writer");  // By its replica.
  CHECK(rows[2].line == "c1");
}

TEST_CASE("what was granted at a hub of version 1 writes nothing any more") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  make_version_1(house);
  const std::string insert = fmt::format(
      "insert into bmad.entry (project, seq, replica, session, log, op, entry_id, line) "
      "values ('{}', 9, '{}', 's1', 4, 0, 't1', 'garbage')",
      house.project(), replica_id(1));
  CHECK(house.sql("writer", insert).rows == 1);
  CHECK(house.sql("writer", "update bmad.project set head = 9223372036854775807").rows == 1);
  const auto owner = must(PostgresHub::connect({.conninfo = house.conninfo("owner")}));
  must(owner->upgrade());
  CHECK(house.sql("writer", insert).state == "42501");
  for (const std::string change :
       {"update bmad.project set head = 1", "update bmad.entry set line = null",
        "update bmad.entry set line = 'x' where op = 0"}) {
    CAPTURE(change);
    CHECK(house.sql("writer", change).rows == 0);
    CHECK(house.sql("forgetter", change).rows == 0);
    CHECK(house.sql("admin", change).rows == 0);
  }
  // The head is at the last row again.
  const auto writer = must(PostgresHub::connect(house.options("writer", 1)));
  CHECK(must(writer->head()).head == 9);
  CHECK(push_next(*writer, {line_row("c", "c1")}).seqs == std::vector<std::uint64_t>{10});
}

}  // namespace bmad_mem::test::postgres_upgrade_test
