#include "search/query/alike.hpp"

#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "base/hash.hpp"

namespace bmad_mem::alike_test {
namespace {

Likeness compared(std::string_view a, std::string_view b,
                  const std::vector<std::string_view>& asked = {}) {
  Analyzer analyzer = Analyzer::create("english").value();
  const ComparedText first = compared_text(a, analyzer, "english");
  const ComparedText second = compared_text(b, analyzer, "english");
  std::vector<std::uint64_t> hashes;
  for (const std::string_view word : asked) {
    hashes.push_back(xxh3(word));
  }
  const Likeness likeness = likeness_of(first, second, hashes);
  CHECK(likeness_of(second, first, hashes) == likeness);
  return likeness;
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
