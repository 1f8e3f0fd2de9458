#include <chrono>

#include <doctest/doctest.h>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem::test::recall_score_test {
namespace {

using std::chrono::days;

constexpr Timestamp kNow{days(20'000)};

double score(double confidence, std::uint64_t accesses, int age_days) {
  return recall_score(confidence, accesses, kNow - days(age_days), kNow);
}

}  // namespace

TEST_CASE("confidence and accesses raise the score of old knowledge") {
  CHECK(score(0.9, 0, 1000) > score(0.8, 0, 1000));
  CHECK(score(0.8, 5, 1000) > score(0.8, 1, 1000));
  CHECK(score(0.8, 1, 1000) > score(0.8, 0, 1000));
}

TEST_CASE("accesses are worth no more than confidence itself") {
  CHECK(score(0.8, 1'000'000'000, 1000) <= 2 * 0.8);
  CHECK(score(0.8, 4, 1000) == doctest::Approx(1.5 * 0.8));
}

TEST_CASE("what is new is not buried by what was popular") {
  for (const std::uint64_t accesses : {1ULL, 100ULL, 1'000'000ULL}) {
    CHECK(score(0.8, 0, 0) >= score(0.8, accesses, 400));
    CHECK(score(0.8, 0, 0) > score(0.79, accesses, 400));
  }
  // Two weeks later it has to have earned half of that.
  CHECK(score(0.8, 0, 14) == doctest::Approx(1.5 * 0.8));
}

TEST_CASE("knowledge from the future counts as new") {
  CHECK(score(0.5, 0, -10) == doctest::Approx(1.0));
}

}  // namespace bmad_mem::test::recall_score_test
