#include "retrieval_scores.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace bmad_mem::bench;

namespace {

using Ids = std::vector<std::string>;

/// `size` ids that nobody asked for, with `id` at `rank`, 1-based.
Ids ranking_with(const std::string& id, std::size_t rank, std::size_t size) {
  Ids ids;
  for (std::size_t i = 1; i <= size; ++i) {
    ids.push_back(i == rank ? id : "other-" + std::to_string(i));
  }
  return ids;
}

}  // namespace

TEST_CASE("one relevant message is found at its rank or not at all") {
  struct Case {
    const char* name;
    std::size_t rank;  // 0: nowhere.
    double recall[4];  // At 1, 5, 10, 20.
    double reciprocal_rank;
    double ndcg;
  };
  static const Case kCases[] = {
      {"first", 1, {1, 1, 1, 1}, 1, 1},
      {"second", 2, {0, 1, 1, 1}, 1.0 / 2, 1 / std::log2(3)},
      {"fifth", 5, {0, 1, 1, 1}, 1.0 / 5, 1 / std::log2(6)},
      {"sixth", 6, {0, 0, 1, 1}, 1.0 / 6, 1 / std::log2(7)},
      {"tenth", 10, {0, 0, 1, 1}, 1.0 / 10, 1 / std::log2(11)},
      {"eleventh, too far down for nDCG@10", 11, {0, 0, 0, 1}, 1.0 / 11, 0},
      {"beyond all cutoffs", 30, {0, 0, 0, 0}, 1.0 / 30, 0},
      {"nowhere", 0, {0, 0, 0, 0}, 0, 0},
  };
  for (const Case& row : kCases) {
    CAPTURE(row.name);
    const Ids relevant = {"a"};
    const Scores scores = score_ranking(ranking_with("a", row.rank, 40), relevant);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(scores.recall[i] == doctest::Approx(row.recall[i]));
    }
    CHECK(scores.reciprocal_rank == doctest::Approx(row.reciprocal_rank));
    CHECK(scores.ndcg_at_10 == doctest::Approx(row.ndcg));
  }
}

TEST_CASE("several relevant messages share the recall") {
  const Ids ranking = {"b", "x", "a", "y", "z", "w"};
  const Ids relevant = {"a", "c"};
  const Scores scores = score_ranking(ranking, relevant);
  CHECK(scores.recall[0] == doctest::Approx(0));
  CHECK(scores.recall[1] == doctest::Approx(0.5));
  CHECK(scores.recall_at_10() == doctest::Approx(0.5));
  CHECK(scores.reciprocal_rank == doctest::Approx(1.0 / 3));
  CHECK(scores.ndcg_at_10 == doctest::Approx((1.0 / 2) / (1 + 1 / std::log2(3))));
}

TEST_CASE("more relevant messages than ten can still be ranked perfectly") {
  Ids relevant;
  for (int i = 0; i < 15; ++i) {
    relevant.push_back(std::to_string(i));
  }
  const Scores scores = score_ranking(relevant, relevant);
  CHECK(scores.ndcg_at_10 == doctest::Approx(1));
  CHECK(scores.recall_at_10() == doctest::Approx(10.0 / 15));
  CHECK(scores.recall[3] == doctest::Approx(1));
}

TEST_CASE("an empty ranking scores nothing") {
  const Ids relevant = {"a"};
  const Scores scores = score_ranking({}, relevant);
  CHECK(scores.recall[3] == 0);
  CHECK(scores.ndcg_at_10 == 0);
}

TEST_CASE("the mean weighs every question alike") {
  MeanScores means;
  CHECK(means.mean().reciprocal_rank == 0);
  const Ids relevant = {"a"};
  means.add(score_ranking(ranking_with("a", 1, 20), relevant));
  means.add(score_ranking(ranking_with("a", 4, 20), relevant));
  means.add(score_ranking(ranking_with("a", 0, 20), relevant));
  CHECK(means.count() == 3);
  CHECK(means.mean().recall[0] == doctest::Approx(1.0 / 3));
  CHECK(means.mean().recall_at_10() == doctest::Approx(2.0 / 3));
  CHECK(means.mean().reciprocal_rank == doctest::Approx(1.25 / 3));
}
