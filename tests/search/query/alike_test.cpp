#include "search/query/alike.hpp"

#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "base/hash.hpp"

namespace bmad_mem::alike_test {
namespace {

/// Of an entry and a newer one.
Likeness compared(std::string_view older, std::string_view newer,
                  const std::vector<std::string_view>& asked = {}) {
  Analyzer analyzer = Analyzer::create("english").value();
  std::vector<std::uint64_t> hashes;
  for (const std::string_view word : asked) {
    hashes.push_back(xxh3(word));
  }
  return likeness_of(compared_text(older, analyzer, "english", hashes),
                     compared_text(newer, analyzer, "english", hashes));
}

}  // namespace

TEST_CASE("entries that differ in a value say it anew") {
  CHECK(compared("The staging port is 8080", "The staging port is 8443 now") ==
        Likeness::kOtherValue);
  CHECK(compared("The staging server is called heron.", "The staging server is called osprey.") ==
        Likeness::kOtherValue);
  CHECK(compared("The schema file is in db/schema.sql", "The schema file is in sql/tables.sql") ==
        Likeness::kOtherValue);
  CHECK(compared("We build with Node 18.2.0 in CI", "We now build with Node 20.1.3 in CI") ==
        Likeness::kOtherValue);
  CHECK(compared("Der Port von Staging ist 8080", "Der Port von Staging ist jetzt 8443") ==
        Likeness::kOtherValue);
}

TEST_CASE("where words differ more, a number and nothing instead of another word is a value") {
  CHECK(compared("The heron service listens on port 7001.", "heron is on port 5432 now.") ==
        Likeness::kOtherValue);
  CHECK(compared("We pin heron at version 1.4.2.", "I raised heron to 2.0.1 and all tests pass.",
                 {"version", "heron"}) == Likeness::kOtherValue);
  CHECK(compared("Sessions of heron are kept for 14 days.",
                 "Sessions of heron are kept for 60 days, the lawyers said so.") ==
        Likeness::kOtherValue);
  CHECK(compared("The admin port is 8080", "moved the admin port to 8443") ==
        Likeness::kOtherValue);
  CHECK(compared("The lint job takes 3 minutes", "The test job takes 5 minutes") ==
        Likeness::kNone);
  CHECK(compared("Port 7001 is open on heron", "Port 5432 is open on osprey") == Likeness::kNone);
  CHECK(compared("Port 7001 is open on heron", "Port 7001 is open on osprey, host 12") ==
        Likeness::kNone);
  CHECK(compared("The service listens on port 8080", "The admin service listens on port 8443",
                 {"admin", "port"}) == Likeness::kNone);
  CHECK(compared("heron runs on Node 18.2.0", "heron has 12 hosts") == Likeness::kNone);
  CHECK(compared("Raw levels are kept for 90 days", "Raw levels are 2,5 metres high") ==
        Likeness::kNone);
  CHECK(compared("The config of heron is in conf/site.ini.",
                 "The config of heron is in config/main.toml now, the old file is gone.") ==
        Likeness::kOtherValue);
}

TEST_CASE("of longer entries the sentences that may answer are compared") {
  CHECK(compared("The base runs TimescaleDB 2.14.2 in a container. The tables are cut by week.",
                 "The base runs TimescaleDB 2.16.1 in a container. No migration had to be written.",
                 {"timescaledb"}) == Likeness::kOtherValue);
  CHECK(compared("The base runs TimescaleDB 2.14.2 in a container. The tables are cut by week.",
                 "The base runs TimescaleDB 2.16.1 in a container. No migration had to be written.",
                 {"tables", "migration"}) == Likeness::kNone);
  CHECK(compared("熱電対は5秒ごとに読んでいます。記録には一分に一点だけ残します。",
                 "熱電対は2秒ごとに読んでいます。楽窯の温度が上がるので。",
                 {"熱電"}) == Likeness::kOtherValue);
}

TEST_CASE(
    "a value may come first where the newer speaks of a change and the question of the rest") {
  CHECK(compared("Wendel looks after heron", "From this week on Corin looks after heron",
                 {"looks", "heron"}) == Likeness::kOtherValue);
  CHECK(compared("Wendel looks after heron", "Corin looks after heron", {"looks", "heron"}) ==
        Likeness::kNone);
  CHECK(compared("Wendel looks after heron", "Now Corin looks after heron", {"heron"}) ==
        Likeness::kNone);
}

TEST_CASE("words that speak of a change are not compared") {
  CHECK(compared("heron runs on the host avocet", "We moved heron: it runs on the host kestrel.") ==
        Likeness::kOtherValue);
  CHECK(compared("Der Preis von heron ist 5 Euro", "Der Preis von heron wurde auf 7 Euro erhöht") ==
        Likeness::kOtherValue);
}

TEST_CASE("entries about other things are not compared") {
  CHECK(compared("The staging port is 8080", "The production port is 8443") == Likeness::kNone);
  CHECK(compared("The lint job takes 3 minutes", "The test job takes 3 minutes") ==
        Likeness::kNone);
  CHECK(compared("The port of staging is 8080", "The port of production is 8080") ==
        Likeness::kNone);
  CHECK(compared("The port of staging is open", "The port of production is open", {"staging"}) ==
        Likeness::kNone);
  CHECK(compared("yes", "no") == Likeness::kNone);
  CHECK(compared("", "") == Likeness::kNone);
}

TEST_CASE("equal words are the same entry said twice") {
  CHECK(compared("What is the name of the staging server?",
                 "what is the name of the staging server") == Likeness::kSame);
}

}  // namespace bmad_mem::alike_test
