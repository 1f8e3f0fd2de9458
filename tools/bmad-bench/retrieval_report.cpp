#include "retrieval_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "search_percentiles.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::array kRankings = {RankingName::kContext, RankingName::kPlain};
constexpr std::string_view kAll = "all";
constexpr std::string_view kKind = "kind";
constexpr std::string_view kStore = "store";
constexpr std::string_view kCategory = "category";
constexpr std::string_view kBoth = "store and category";

std::size_t index_of(RankingName name) { return static_cast<std::size_t>(name); }

bool has(const ScoreGroup& group, RankingName name) {
  return group.means[index_of(name)].count() > 0;
}

/// Points of Recall@10 by which context is better; nothing when one of them was not asked for.
std::optional<double> gain_of(const ScoreGroup& group) {
  if (!has(group, RankingName::kContext) || !has(group, RankingName::kPlain)) {
    return std::nullopt;
  }
  const auto recall = [&](RankingName name) {
    return group.means[index_of(name)].mean().recall_at_10();
  };
  return 100 * (recall(RankingName::kContext) - recall(RankingName::kPlain));
}

std::string score_cells(const Scores& scores) {
  std::string text;
  for (const double recall : scores.recall) {
    text += fmt::format(" {:5.1f} |", 100 * recall);
  }
  return text +
         fmt::format(" {:5.1f} | {:7.1f} |", 100 * scores.reciprocal_rank, 100 * scores.ndcg_at_10);
}

std::string line_of(const ScoreGroup& group, RankingName name, std::size_t width) {
  const bool first = name == RankingName::kContext || !has(group, RankingName::kContext);
  const MeanScores& means = group.means[index_of(name)];
  const std::string label = group.kind == kAll ? "all" : group.kind + ' ' + group.name;
  const std::optional<double> gain = first ? gain_of(group) : std::nullopt;
  return fmt::format("| {:<{}} | {:>9} | {:<7} |{} {:>8} |\n", first ? label : "", width,
                     first ? fmt::format("{}", means.count()) : "", ranking_text(name),
                     score_cells(means.mean()), gain ? fmt::format("{:+.1f}", *gain) : "");
}

std::string head(std::size_t width) {
  std::string text = fmt::format("| {:<{}} | questions | ranking |", "", width);
  for (const std::size_t cutoff : kRecallCutoffs) {
    text += fmt::format(" {:>5} |", fmt::format("R@{}", cutoff));
  }
  text += "   MRR | nDCG@10 | R@10 +/- |\n";
  return text + fmt::format(
                    "| {:-<{}} | --------- | ------- | ----- | ----- | ----- | ----- | ----- "
                    "| ------- | -------- |\n",
                    "", width);
}

void write_scores(JsonWriter& json, const MeanScores& means) {
  const Scores scores = means.mean();
  json.begin_object();
  for (std::size_t i = 0; i < kRecallCutoffs.size(); ++i) {
    json.member(fmt::format("recall_at_{}", kRecallCutoffs[i]), scores.recall[i]);
  }
  json.member("mrr", scores.reciprocal_rank).member("ndcg_at_10", scores.ndcg_at_10).end_object();
}

}  // namespace

std::string_view ranking_text(RankingName name) {
  return name == RankingName::kContext ? "context" : "plain";
}

ScoreGroup& RetrievalReport::group(std::string_view kind, const std::string& name) {
  const auto found = std::ranges::find_if(groups_, [&](const ScoreGroup& candidate) {
    return candidate.kind == kind && candidate.name == name;
  });
  if (found != groups_.end()) {
    return *found;
  }
  return groups_.emplace_back(ScoreGroup{.kind = std::string(kind), .name = name});
}

void RetrievalReport::add(const std::string& store, const std::string& category, bool conversation,
                          const ScorePair& scores) {
  const std::array<std::pair<std::string_view, std::string>, 5> groups = {
      {{kStore, store},
       {kBoth, fmt::format("{} {}", store, category)},
       {kCategory, category},
       {kKind, conversation ? "conversations" : "documents"},
       {kAll, ""}}};
  for (const auto& [kind, name] : groups) {
    ScoreGroup& target = group(kind, name);
    for (std::size_t i = 0; i < kRankingCount; ++i) {
      if (scores[i]) {
        target.means[i].add(*scores[i]);
      }
    }
  }
}

void RetrievalReport::add_time(RankingName name, double milliseconds) {
  times_[index_of(name)].push_back(milliseconds);
}

std::string RetrievalReport::text() const {
  std::size_t width = 0;
  for (const ScoreGroup& group : groups_) {
    width = std::max(width, group.kind == kAll ? 3 : group.kind.size() + 1 + group.name.size());
  }
  std::string text = head(width);
  for (const std::string_view kind : {kStore, kCategory, kBoth, kKind, kAll}) {
    for (const ScoreGroup& group : groups_) {
      for (const RankingName name : kRankings) {
        if (group.kind == kind && has(group, name)) {
          text += line_of(group, name, width);
        }
      }
    }
  }
  text += '\n';
  for (const RankingName name : kRankings) {
    const std::vector<double>& times = times_[index_of(name)];
    if (!times.empty()) {
      const Percentiles percentiles = percentiles_of(times);
      text += fmt::format("{:<7} p50 {:.3f} ms, p95 {:.3f} ms a query of the best 100\n",
                          ranking_text(name), percentiles.p50, percentiles.p95);
    }
  }
  return text;
}

void RetrievalReport::write(JsonWriter& json) const {
  json.key("groups").begin_array();
  for (const ScoreGroup& group : groups_) {
    json.begin_object().member("kind", group.kind).member("name", group.name);
    json.member("questions", std::max(group.means[0].count(), group.means[1].count()));
    for (const RankingName name : kRankings) {
      if (has(group, name)) {
        json.key(ranking_text(name));
        write_scores(json, group.means[index_of(name)]);
      }
    }
    if (const std::optional<double> gain = gain_of(group)) {
      json.member("recall_at_10_gain_points", *gain);
    }
    json.end_object();
  }
  json.end_array().key("times_ms").begin_object();
  for (const RankingName name : kRankings) {
    if (!times_[index_of(name)].empty()) {
      const Percentiles percentiles = percentiles_of(times_[index_of(name)]);
      json.key(ranking_text(name)).begin_object();
      json.member("p50", percentiles.p50).member("p95", percentiles.p95).end_object();
    }
  }
  json.end_object();
}

}  // namespace bmad_mem::bench
