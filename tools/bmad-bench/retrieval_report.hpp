// retrieval_report.hpp - the quality of two rankings beside each other, by store and by category.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "retrieval_metrics.hpp"

namespace bmad_mem::bench {

inline constexpr std::size_t kRankingCount = 2;
enum class RankingName : std::uint8_t { kContext, kPlain };

/// "context" or "plain".
std::string_view ranking_text(RankingName name);

/// Of one question, by each ranking that was asked for.
using ScorePair = std::array<std::optional<Scores>, kRankingCount>;

/// Some of the questions.
struct ScoreGroup {
  std::string kind;  ///< "store", "category", "store and category" or "all".
  std::string name;
  std::array<MeanScores, kRankingCount> means = {};
};

/// Gathers scores; groups stand in the order in which they were first met.
class RetrievalReport {
 public:
  /// `conversation`: the store holds talk, and not documents.
  void add(const std::string& store, const std::string& category, bool conversation,
           const ScorePair& scores);
  /// Milliseconds that a query took.
  void add_time(RankingName name, double milliseconds);

  /// An aligned table, in per cent, then the gain and the times.
  [[nodiscard]] std::string text() const;
  void write(JsonWriter& json) const;

 private:
  ScoreGroup& group(std::string_view kind, const std::string& name);

  std::vector<ScoreGroup> groups_;
  std::array<std::vector<double>, kRankingCount> times_;
};

}  // namespace bmad_mem::bench
