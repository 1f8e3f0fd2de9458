// retrieval_metrics.hpp - how good a ranking is, against what people say is relevant.
//
//   ranking    b  x  a  y  z ...      relevant {a, c}
//   Recall@1   0 of 2                 Recall@5   1 of 2
//   MRR        1/3, since the first relevant one stands third
//   nDCG@10    1/log2(3+1), against 1/log2(1+1) + 1/log2(2+1) when both stand first
//
// Relevance is yes or no. A relevant id that is nowhere in the ranking counts as not found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bmad_mem::bench {

/// How far down recall is looked for.
inline constexpr std::array<std::size_t, 4> kRecallCutoffs = {1, 5, 10, 20};

/// Each in [0, 1].
struct Scores {
  std::array<double, kRecallCutoffs.size()> recall{};  ///< Share of the relevant ones found.
  double reciprocal_rank = 0;                          ///< 1 / rank of the first relevant one.
  double ndcg_at_10 = 0;

  /// Recall among the first ten.
  [[nodiscard]] double recall_at_10() const { return recall[2]; }
};

/// `ranking`: ids, best first, each once. `relevant`: each once, not empty.
Scores score_ranking(std::span<const std::string> ranking, std::span<const std::string> relevant);

/// The mean over questions, each as heavy.
class MeanScores {
 public:
  void add(const Scores& scores);
  /// All 0 without a question.
  [[nodiscard]] Scores mean() const;
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  Scores sum_;
  std::uint64_t count_ = 0;
};

}  // namespace bmad_mem::bench
