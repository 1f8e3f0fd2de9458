#include "retrieval_scores.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bmad_mem/text.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kGainDepth = 10;

/// What a relevant message at `rank` (1-based) is worth: Järvelin and Kekäläinen, 2002.
double gain_at(std::size_t rank) { return 1 / std::log2(static_cast<double>(rank) + 1); }

double best_gain(std::size_t relevant) {
  double gain = 0;
  for (std::size_t rank = 1; rank <= std::min(relevant, kGainDepth); ++rank) {
    gain += gain_at(rank);
  }
  return gain;
}

}  // namespace

Scores score_ranking(std::span<const std::string> ranking, std::span<const std::string> relevant) {
  assert(!relevant.empty());
  Scores scores;
  double gain = 0;
  for (std::size_t rank = 1; rank <= ranking.size(); ++rank) {
    if (!is_among(relevant, ranking[rank - 1])) {
      continue;
    }
    for (std::size_t i = 0; i < kRecallCutoffs.size(); ++i) {
      scores.recall[i] += rank <= kRecallCutoffs[i] ? 1 : 0;
    }
    if (scores.reciprocal_rank == 0) {
      scores.reciprocal_rank = 1 / static_cast<double>(rank);
    }
    gain += rank <= kGainDepth ? gain_at(rank) : 0;
  }
  for (double& recall : scores.recall) {
    recall /= static_cast<double>(relevant.size());
  }
  scores.ndcg_at_10 = gain / best_gain(relevant.size());
  return scores;
}

void MeanScores::add(const Scores& scores) {
  for (std::size_t i = 0; i < kRecallCutoffs.size(); ++i) {
    sum_.recall[i] += scores.recall[i];
  }
  sum_.reciprocal_rank += scores.reciprocal_rank;
  sum_.ndcg_at_10 += scores.ndcg_at_10;
  ++count_;
}

Scores MeanScores::mean() const {
  Scores mean = sum_;
  const double count = count_ > 0 ? static_cast<double>(count_) : 1;
  for (double& recall : mean.recall) {
    recall /= count;
  }
  mean.reciprocal_rank /= count;
  mean.ndcg_at_10 /= count;
  return mean;
}

std::size_t age_group(std::chrono::milliseconds age) {
  return age <= std::chrono::days(7) ? 0 : age <= std::chrono::days(30) ? 1 : 2;
}

}  // namespace bmad_mem::bench
