// postgres_rights_test.cpp - the tables themselves keep each role to its rights, whatever it sends.
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "postgres_fixture.hpp"

namespace bmad_mem::test::postgres_rights_test {
namespace {

constexpr std::string_view kDenied = "42501";

// Two projects: in "house" the roles have their rights, in "garden" the owner alone has any.
struct TwoProjects {
  TwoProjects() {
    const auto owner = must(PostgresHub::connect({.conninfo = house.conninfo("owner")}));
    garden = must(owner->init("garden"));
    const auto writer = this->house.hub("writer", 1);
    push_next(*writer, {line_row("a", "a1"), line_row("b", "b1")});
    push_next(*writer, {{.op = FeedOp::kManifest, .session_id = "s1", .line = "{}"}});
    must(house.hub("forgetter", 2)->push({.rows = {{.op = FeedOp::kPurge, .entry_id = "b"}}}));
    must(house.hub("reader", 3)->confirm(1));
    must(house.hub("admin", 4)->confirm(1));
    house.sql("owner", fmt::format(R"(
        insert into bmad.replica (project, replica, host) values ('{0}', '{1}', 'x');
        insert into bmad.entry (project, seq, replica, session, log, op, entry_id, line)
          values ('{0}', 1, '{1}', 's', 0, 0, 'a', 'garden');
        insert into bmad.gone (project, session, entry_id, seq) values ('{0}', 's1', 'z', 1))",
                                   garden, replica_id(1)));
  }

  // How the statement ends for the role; {0} and {1} are the projects.
  SqlAnswer ask(const std::string& role, std::string_view text) {
    SqlConnection& connection = roles.try_emplace(role, house.conninfo(role)).first->second;
    return connection.run(fmt::format(fmt::runtime(text), house.project(), garden));
  }

  HubDatabase house;
  std::string garden;
  std::map<std::string, SqlConnection> roles;
};

}  // namespace

TEST_CASE("a role sees the rows of its projects alone, in every table") {
  NEEDS_POSTGRES();
  TwoProjects hub;
  for (const std::string table : {"project", "member", "replica", "entry", "gone"}) {
    CAPTURE(table);
    const std::string all = "select 1 from bmad." + table;
    for (const std::string role : {"reader", "writer", "forgetter", "admin"}) {
      CAPTURE(role);
      CHECK(hub.ask(role, all).rows > 0);
      CHECK(hub.ask(role, all + " where project <> '{0}'").rows == 0);
      CHECK(hub.ask(role, all + " where project = '{1}'").rows == 0);
    }
    CHECK(hub.ask("stranger", all).state == kDenied);
  }
  CHECK(hub.ask("stranger", "select 1 from bmad.hub").state == kDenied);
  CHECK(hub.ask("writer", "select 1 from bmad.member").rows == 1);
  CHECK(hub.ask("admin", "select 1 from bmad.member").rows == 5);
}

TEST_CASE("a role that is granted all and is in no project has no rows") {
  NEEDS_POSTGRES();
  TwoProjects hub;
  hub.house.sql("postgres", "grant usage on schema bmad to stranger");
  hub.house.sql("postgres", "grant all on all tables in schema bmad to stranger");
  for (const std::string table : {"project", "member", "replica", "entry", "gone"}) {
    CAPTURE(table);
    CHECK(hub.ask("stranger", "select 1 from bmad." + table).rows == 0);
    CHECK(hub.ask("stranger", "delete from bmad." + table).rows == 0);
  }
  for (const std::string change :
       {"update bmad.project set head = 0", "update bmad.replica set pushed = 0",
        "update bmad.entry set line = null", "update bmad.member set rights = 'admin'",
        "update bmad.gone set seq = 0", "update bmad.hub set version = 9"}) {
    CAPTURE(change);
    const SqlAnswer answer = hub.ask("stranger", change);
    CHECK(answer.state.empty());
    CHECK(answer.rows == 0);
  }
  CHECK(hub.ask("stranger", "insert into bmad.member values ('{0}', 'stranger', 'admin')").state ==
        kDenied);
  hub.house.sql("postgres", "drop owned by stranger");
}

TEST_CASE("nobody but the owner writes what rights are") {
  NEEDS_POSTGRES();
  TwoProjects hub;
  for (const std::string role : {"reader", "writer", "forgetter", "admin", "stranger"}) {
    for (const std::string change :
         {"update bmad.member set rights = 'admin'",
          "delete from bmad.member",
          "insert into bmad.member values ('{1}', current_user, 'admin')",
          "insert into bmad.project (project, name) values (gen_random_uuid(), 'mine')",
          "delete from bmad.project",
          "update bmad.project set name = 'mine'",
          "update bmad.hub set version = 9",
          "insert into bmad.hub values (true, 9, 9)",
          "delete from bmad.entry",
          "update bmad.entry set entry_id = 'x'",
          "delete from bmad.gone",
          "update bmad.project set head = 9223372036854775807",
          "update bmad.replica set pushed = 9",
          "insert into bmad.entry (project, seq, replica, session, log, op, entry_id, line) values "
          "('{0}', 9, '00000000-0000-4000-8000-000000000001', 's1', 4, 0, 't1', 'garbage')",
          "update bmad.entry set line = null where op = 6",
          "update bmad.entry set line = 'mine'",
          "insert into bmad.gone values ('{0}', 's1', 'x', 1)",
          "create or replace function bmad.drop_row(uuid, bigint) returns boolean language sql as "
          "'select true'",
          "update bmad.gone set entry_id = 'x'",
          "update bmad.replica set who = 'writer'",
          "truncate bmad.entry",
          "alter table bmad.entry disable row level security",
          "drop policy entry_read on bmad.entry",
          "create table bmad.mine (a int)"}) {
      CAPTURE(role);
      CAPTURE(change);
      CHECK(hub.ask(role, change).state == kDenied);
    }
  }
}

TEST_CASE("each right allows what it says, and no more") {
  NEEDS_POSTGRES();
  TwoProjects hub;
  // Of the role's own replica, whose number is $2, or of another's.
  const auto push = [](std::string_view replica, std::string_view ops, std::string_view line) {
    return fmt::format(
        "select bmad.push('{{0}}', r.replica, r.pushed, null, 2, '{{{{s}}}}', '{{{{4}}}}', "
        "'{{{{{}}}}}', '{{{{1}}}}', '{{{{c}}}}', array[{}]::bytea[]) from "
        "(select * from bmad.replica r where {} limit 1) r",
        ops, line, replica);
  };
  const std::string_view own = "r.who = current_user";
  struct Row {
    std::string change;
    std::string rows_of_reader, rows_of_writer, rows_of_forgetter;  // How many, or the error.
  };
  const std::string denied(kDenied);
  const std::vector<Row> rows = {
      {push(own, "0", "'c1'"), denied, "2", "2"},
      {push(own, "2", "null"), denied, denied, "2"},
      {push(own, "3", "'c2'"), denied, denied, "2"},
      {push(own, "6", "'{{}}'"), denied, "2", "2"},
      {push(own, "0", "null"), denied, "22023", "22023"},
      {push(own, "6", "null"), denied, "22023", "22023"},
      {push(own, "7", "'c1'"), denied, "22023", "22023"},
      {push(own, "0,0", "'c1'"), denied, "22023", "22023"},
      {push("r.who = 'admin'", "0", "'forged'"), denied, denied, denied},
      {"set transaction isolation level repeatable read; " + push(own, "0", "'c1'"), denied, denied,
       denied},
      {"select bmad.push('{1}', gen_random_uuid(), 0, null, 2, '{{s}}', '{{4}}', '{{0}}', '{{0}}', "
       "'{{c}}', array['x']::bytea[])",
       denied, denied, denied},
      {"select bmad.drop_row('{0}', 1)", denied, denied, denied},
      {"insert into bmad.replica (project, replica, host) values "
       "('{0}', gen_random_uuid(), 'x')",
       "1", "1", "1"},
      {"insert into bmad.replica (project, replica, host) values "
       "('{1}', gen_random_uuid(), 'x')",
       denied, denied, denied},
      {"insert into bmad.replica (project, replica, who, host) values "
       "('{0}', gen_random_uuid(), 'owner', 'x')",
       denied, denied, denied},
      {"update bmad.replica set cursor = 1 where who <> current_user", "0", "0", "0"},
      {"delete from bmad.replica where who <> current_user", "0", "0", "0"},
  };
  const auto outcome = [&](const std::string& role, const std::string& change) {
    const SqlAnswer answer = hub.ask(role, change);
    return answer.state.empty() ? fmt::format("{}", answer.rows) : answer.state;
  };
  for (const Row& row : rows) {
    CAPTURE(row.change);
    CHECK(outcome("reader", row.change) == row.rows_of_reader);
    CHECK(outcome("writer", row.change) == row.rows_of_writer);
    CHECK(outcome("forgetter", row.change) == row.rows_of_forgetter);
    CHECK(outcome("stranger", row.change) == denied);
  }
}

TEST_CASE("a role that acts as another one has the other's rights") {
  NEEDS_POSTGRES();
  TwoProjects hub;
  const auto push_as = [&](const std::string& role) {
    const std::string push = fmt::format(
        "set role {}; select bmad.push('{}', '{}', 3, null, 2, '{{s}}', '{{4}}', '{{0}}', '{{0}}', "
        "'{{c}}', array['c1']::bytea[])",
        role, hub.house.project(), replica_id(1));
    return hub.house.sql("postgres", push);
  };
  CHECK(push_as("forgetter").state == kDenied);
  CHECK(push_as("postgres").state == kDenied);
  CHECK(push_as("writer").rows == 2);
}

TEST_CASE("a function of the asker's sees no membership of others") {
  NEEDS_POSTGRES();
  TwoProjects hub;
  const SqlAnswer made = hub.ask("reader", R"(
      create temp table seen (rights text);
      create function pg_temp.leak(uuid, text) returns boolean cost 0.0000001 language plpgsql
        as 'begin insert into seen values ($2); return true; end')");
  CHECK(made.state.empty());
  CHECK(hub.ask("reader", "select 1 from bmad.own where pg_temp.leak(project, rights)").rows == 1);
  CHECK(hub.ask("reader", "select 1 from seen").rows == 1);
}

TEST_CASE("a role pushes as no replica of another one, and loses no line by it") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  push_next(*house.hub("writer", 1), {line_row("a", "a1")});
  const auto thief = must(PostgresHub::connect(house.options("forgetter", 1)));
  const auto answer = thief->push({.pushed = 1, .rows = {line_row("b", "b1")}});
  CHECK(answer.error().code == ErrorCode::E_ACCESS_DENIED);
  CHECK(must(thief->head()).head == 1);
  CHECK(must(thief->head()).pushed == 1);
}

TEST_CASE("an admin drops a row, and nobody else does") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto writer = house.hub("writer", 1);
  const auto admin = house.hub("admin", 2);
  push_next(*writer, {line_row("a", "garbage"), line_row("b", R"({"id":"b"})")});
  CHECK(house.hub("forgetter", 3)->drop_row(1).error().code == ErrorCode::E_ACCESS_DENIED);
  CHECK(must(skipped_rows(*admin)).size() == 2);
  must(drop_skipped_row(*admin, 1));
  CHECK(drop_skipped_row(*admin, 1).error().code == ErrorCode::E_SESSION_NOT_FOUND);
  CHECK(must(writer->pull({})).size() == 1);
  CHECK(push_next(*writer, {line_row("c", "c1")}).seqs == std::vector<std::uint64_t>{3});
}

TEST_CASE("a call that the role has no right to says so, and changes nothing") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto writer = house.hub("writer", 1);
  push_next(*writer, {line_row("a", "a1")});
  const auto code = [](const auto& result) { return result.error().code; };
  CHECK(code(house.hub("reader", 2)->push({.rows = {line_row("b", "b1")}})) ==
        ErrorCode::E_ACCESS_DENIED);
  for (const FeedOp op : {FeedOp::kPurge, FeedOp::kRedact}) {
    const FeedRow row{.op = op, .session_id = "s1", .target = 1, .entry_id = "a", .line = "-"};
    CHECK(code(writer->push({.pushed = 1, .rows = {row}})) == ErrorCode::E_ACCESS_DENIED);
  }
  const HubHead head = must(writer->head());
  CHECK(head.head == 1);
  CHECK(head.pushed == 1);
  CHECK(all_rows(*writer).size() == 1);
  CHECK(all_rows(*writer).front().line == "a1");
  CHECK(code(PostgresHub::connect(house.options("stranger", 1))) == ErrorCode::E_ACCESS_DENIED);
  PostgresOptions options = house.options("writer", 1);
  options.project = "garden";
  CHECK(code(PostgresHub::connect(options)) == ErrorCode::E_ACCESS_DENIED);
  CHECK(code(writer->add_member("writer", "admin")) == ErrorCode::E_ACCESS_DENIED);
  CHECK(code(writer->init("mine")) == ErrorCode::E_ACCESS_DENIED);
}

TEST_CASE("rights that are taken back end at once, whatever was granted") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto owner = must(PostgresHub::connect(house.options("owner", 0)));
  const auto writer = house.hub("writer", 1);
  push_next(*writer, {line_row("a", "a1")});
  must(owner->add_member("writer", "read"));
  CHECK(writer->push({.pushed = 1, .rows = {line_row("b", "b1")}}).error().code ==
        ErrorCode::E_ACCESS_DENIED);
  CHECK(must(writer->head()).pushed == 1);
  house.sql("owner", "delete from bmad.member where who = 'writer'");
  CHECK(writer->head().error().code == ErrorCode::E_ACCESS_DENIED);
  CHECK(must(writer->pull({})).empty());
  CHECK(writer->confirm(1).error().code == ErrorCode::E_ACCESS_DENIED);
}

TEST_CASE("rights are taken away, but not from the last admin") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto owner = must(PostgresHub::connect(house.options("owner", 0)));
  must(owner->drop_member("writer"));
  CHECK(PostgresHub::connect(house.options("writer", 1)).error().code ==
        ErrorCode::E_ACCESS_DENIED);
  CHECK(owner->drop_member("writer").error().field == "who");
  CHECK(house.hub("forgetter", 0)->drop_member("reader").error().code ==
        ErrorCode::E_ACCESS_DENIED);
  must(owner->drop_member("admin"));
  CHECK(owner->drop_member("owner").error().field == "who");
  CHECK(owner->add_member("owner", "forget").error().field == "who");
  must(owner->add_member("owner", "admin"));
  must(owner->add_member("writer", "admin"));
  must(owner->drop_member("owner"));
  must(owner->drop_member("reader"));
  CHECK(must(owner->members()) ==
        std::vector<HubMember>{{"forgetter", "forget"}, {"writer", "admin"}});
}

TEST_CASE("of two admins that go at once one stays") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto owner = must(PostgresHub::connect(house.options("owner", 0)));
  SqlConnection other(house.conninfo("owner"));
  other.run("begin");
  other.run("select 1 from bmad.project for update");
  other.run("delete from bmad.member where who = 'owner'");
  Status dropped;
  {
    const std::jthread drops([&] { dropped = owner->drop_member("admin"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    other.run("commit");
  }
  REQUIRE(!dropped);
  CHECK(dropped.error().field == "who");
  CHECK(house.sql("owner", "select 1 from bmad.member where rights = 'admin'").rows == 1);
}

}  // namespace bmad_mem::test::postgres_rights_test
