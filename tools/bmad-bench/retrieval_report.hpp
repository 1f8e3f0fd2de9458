// retrieval_report.hpp - the quality of answers in each way of asking, by store, by category and by
// the age of what answers.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "retrieval_metrics.hpp"
#include "retrieval_ways.hpp"

namespace bmad_mem::bench {

/// How old something is when it is asked for.
enum class AgeGroup : std::uint8_t { kWeek, kMonth, kOlder };
inline constexpr std::size_t kAgeGroupCount = 3;

/// kWeek up to 7 days, kMonth up to 30; also what is yet to come is of this week.
AgeGroup age_group(std::chrono::milliseconds age);

/// What came of one question, asked in one way.
struct Outcome {
  Scores scores;
  std::array<std::optional<Scores>, kAgeGroupCount> by_age;  ///< Of those relevant ones alone.
  bool refused = false;                                      ///< As a bad query.
  bool empty = false;                                        ///< No error, and nothing found.
};

/// Of one question, in each way in which it was asked.
using Outcomes = std::array<std::optional<Outcome>, kWayCount>;

struct Tally {
  MeanScores means;
  std::uint64_t refused = 0;
  std::uint64_t empty = 0;
};

/// Some of the questions.
struct ScoreGroup {
  std::string kind;  ///< "store", "category", "store and category", "age", "kind" or "all".
  std::string name;
  std::array<Tally, kWayCount> tallies = {};
};

/// Gathers scores; groups stand in the order in which they were first met.
class RetrievalReport {
 public:
  /// `conversation`: the store holds talk, and not documents.
  void add(const std::string& store, const std::string& category, bool conversation,
           const Outcomes& outcomes);
  /// Milliseconds that a query took.
  void add_time(Way way, double milliseconds);

  /// Two aligned tables, in per cent, then the times.
  [[nodiscard]] std::string text() const;
  void write(JsonWriter& json) const;

 private:
  ScoreGroup& group(std::string_view kind, const std::string& name);
  [[nodiscard]] std::vector<Way> ways() const;
  [[nodiscard]] std::string store_table() const;
  [[nodiscard]] std::string recall_table() const;

  std::vector<ScoreGroup> groups_;
  std::array<std::vector<double>, kWayCount> times_;
};

}  // namespace bmad_mem::bench
