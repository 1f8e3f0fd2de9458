// retrieval_scores.hpp - how good answers are, against what people say is relevant, and the ways of
// asking.
//
//   ranking    b  x  a  y  z ...      relevant {a, c}
//   Recall@1   0 of 2                 Recall@5   1 of 2
//   MRR        1/3, since the first relevant one stands third
//   nDCG@10    1/log2(3+1), against 1/log2(1+1) + 1/log2(2+1) when both stand first
//
// Relevance is yes or no. A relevant id that is nowhere in the ranking counts as not found.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// How old something is when it is asked for; also what is yet to come is of this week.
inline constexpr std::array<std::string_view, 3> kAgeNames = {"up to 7 days", "7 to 30 days",
                                                              "beyond 30 days"};
/// The index of a name.
std::size_t age_group(std::chrono::milliseconds age);

/// A way in which each question is asked.
struct Way {
  std::string_view name;  ///< In the JSON report, and for --ranking.
  std::string_view head;  ///< Over a column.
  std::chrono::days later{0};
  bool text_alone = false;
  bool plain = false;
  bool slip = false;
  bool words_alone = false;
};
inline constexpr std::array<Way, 7> kWays = {
    // As a user asks: raw text, default settings, 5 minutes after the newest message.
    Way{.name = "default", .head = "default"},
    // The same, so much later.
    Way{.name = "week", .head = "a week on", .later = std::chrono::days(7)},
    Way{.name = "month", .head = "a month on", .later = std::chrono::days(30)},
    // By the text component alone; what age, importance and access must not spoil.
    Way{.name = "text", .head = "text alone", .text_alone = true},
    // With a slip of the finger in the rarest word.
    Way{.name = "slip", .head = "one slip", .slip = true},
    // BM25 of the single message, by text alone: what everybody has.
    Way{.name = "plain", .head = "plain BM25", .text_alone = true, .plain = true},
    // With --encoder: the default without it.
    Way{.name = "words", .head = "words alone", .words_alone = true}};
inline constexpr std::size_t kDefaultWay = 0;
inline constexpr std::size_t kTextWay = 3;
inline constexpr std::size_t kPlainWay = 5;

}  // namespace bmad_mem::bench
