// postgres_forgetting_test.cpp - what is purged is no more in the table's files.
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "postgres_fixture.hpp"

namespace bmad_mem::test::postgres_forgetting_test {
namespace {

constexpr std::string_view kCanary = "canary-7f3a9c51";

// Whether the files of the table, with what belongs to it, have the text.
bool has_text(const HubDatabase& house, std::string_view text) {
  const std::string folder = PostgresServer::shared()->path("data");
  house.sql("postgres", "checkpoint");
  for (const std::string table : {"bmad.entry",
                                  "(select reltoastrelid from pg_class where oid = "
                                  "'bmad.entry'::regclass)"}) {
    const std::string argument = table.starts_with('(') ? table : "'" + table + "'";
    const std::string path =
        house.sql("postgres", fmt::format("select pg_relation_filepath({})", argument)).value;
    REQUIRE(!path.empty());
    if (run_as_server(fmt::format("grep -qa {} {}/{}*", text, folder, path)) == 0) {
      return true;
    }
  }
  return false;
}

FeedRow purge_row(std::string_view id) {
  return {.op = FeedOp::kPurge,
          .session_id = "s1",
          .log = EntryType::kFact,
          .entry_id = std::string(id)};
}

std::string noise(std::size_t size, unsigned seed) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    seed = seed * 1664525U + 1013904223U;
    text.push_back(static_cast<char>('a' + (seed >> 24U) % 26));
  }
  return text;
}

}  // namespace

TEST_CASE("a purged text is in no file of the table that was written anew") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("forgetter", 1);
  const auto owner = must(PostgresHub::connect(house.options("owner", 0)));
  std::size_t size = 0;
  SUBCASE("a line of usual length") { size = 400; }
  SUBCASE("a short line") { size = 0; }
  SUBCASE("a long line, which is kept apart") { size = 100'000; }
  std::vector<FeedRow> rows;
  for (unsigned i = 0; i < 40; ++i) {
    rows.push_back(line_row(fmt::format("e{}", i), noise(300, i)));
  }
  const std::string secret = noise(size / 2, 99) + std::string(kCanary) + noise(size / 2, 98);
  rows[17] = line_row("secret", secret);
  rows[39] = line_row("secret", secret);
  push_next(*hub, rows);
  CHECK(must(owner->verify_forgotten()).last_purge == 0);
  CHECK(has_text(house, kCanary));
  push_next(*hub, {purge_row("secret")});
  const ForgottenRows forgotten = must(owner->verify_forgotten());
  CHECK(forgotten.with_content == 0);
  CHECK(forgotten.last_purge == 41);
  CHECK(forgotten.is_vacuumed);
  CHECK(must(owner->verify_forgotten(HubVacuum::kRewrite)).is_vacuumed);
  CHECK(all_rows(*hub).size() == 41);
  CHECK(!has_text(house, kCanary));
}

TEST_CASE("a vacuum that is not allowed, or is held up, is not called one") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("forgetter", 1);
  const auto owner = must(PostgresHub::connect(house.options("owner", 0)));
  push_next(*hub, {line_row("a", kCanary)});
  std::jthread reader([&] {
    house.sql("postgres",
              "begin isolation level repeatable read; select count(*) from bmad.entry; "
              "select pg_sleep(2); commit");
  });
  while (house
             .sql("postgres",
                  "select 1 from pg_stat_activity where query like '%pg_sleep(2)%' "
                  "and wait_event = 'PgSleep'")
             .rows == 0) {
  }
  push_next(*hub, {purge_row("a")});
  CHECK(!must(hub->verify_forgotten()).is_vacuumed);
  CHECK(!must(owner->verify_forgotten()).is_vacuumed);
  CHECK(!must(hub->verify_forgotten(HubVacuum::kRewrite)).is_vacuumed);
  reader.join();
  CHECK(must(owner->verify_forgotten()).is_vacuumed);
}

}  // namespace bmad_mem::test::postgres_forgetting_test
