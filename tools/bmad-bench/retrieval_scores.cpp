#include "retrieval_scores.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include <fmt/format.h>

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

std::uint64_t RetrievalReport::Group::questions() const {
  return std::ranges::max(tallies, {}, [](const Tally& tally) { return tally.means.count(); })
      .means.count();
}

std::optional<double> RetrievalReport::Group::lead_over(std::size_t other) const {
  if (!has(kDefaultWay) || !has(other)) {
    return std::nullopt;
  }
  return 100 * (tallies[kDefaultWay].means.mean().recall_at_10() -
                tallies[other].means.mean().recall_at_10());
}

RetrievalReport::Group& RetrievalReport::group(std::string_view kind, const std::string& name) {
  const auto found = std::ranges::find_if(
      groups_, [&](const Group& each) { return each.kind == kind && each.name == name; });
  return found != groups_.end()
             ? *found
             : groups_.emplace_back(Group{.kind = std::string(kind), .name = name});
}

void RetrievalReport::add(const std::string& store, const std::string& category, bool conversation,
                          const Outcomes& outcomes) {
  const std::string kind = conversation ? "conversations" : "documents";
  const std::array<std::pair<const char*, std::string>, 5> groups = {
      {{"store", store},
       {"store and category", fmt::format("{} {}", store, category)},
       {"category", category},
       {"kind", kind},
       {"all", ""}}};
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    const std::optional<Outcome>& outcome = outcomes[way];
    if (!outcome) {
      continue;
    }
    const auto add_to = [&](Group& to, const Scores& scores) {
      Tally& tally = to.tallies[way];
      tally.means.add(scores);
      tally.refused += outcome->refused ? 1U : 0U;
      tally.empty += outcome->empty ? 1U : 0U;
    };
    for (const auto& [name_of_kind, name] : groups) {
      add_to(group(name_of_kind, name), outcome->scores);
    }
    for (std::size_t age = 0; age < kAgeNames.size(); ++age) {
      // Also without an outcome, so that the ages stand in order.
      Group& of_age = group("age", fmt::format("{}, {}", kind, kAgeNames[age]));
      if (outcome->by_age[age]) {
        add_to(of_age, *outcome->by_age[age]);
      }
    }
  }
}

std::string RetrievalReport::text() const {
  std::vector<std::size_t> ways;  // That were asked.
  std::vector<std::vector<std::string>> lines = {{"Recall@10", "questions"}};
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    if (std::ranges::any_of(groups_, [&](const Group& group) { return group.has(way); })) {
      ways.push_back(way);
      lines.front().emplace_back(kWays[way].head);
    }
  }
  const bool compares = is_among(ways, kDefaultWay) && is_among(ways, kTextWay);
  if (compares) {
    lines.front().emplace_back("default above text");
  }
  lines.front().insert(lines.front().end(), {"refused", "empty"});
  for (const char* kind : {"age", "category", "store and category", "store", "kind", "all"}) {
    for (const Group& group : groups_) {
      if (group.kind != kind || group.questions() == 0) {
        continue;
      }
      std::vector<std::string>& line = lines.emplace_back();
      line = {group.label(), fmt::format("{}", group.questions())};
      for (const std::size_t way : ways) {
        line.push_back(fmt::format("{:.1f}", 100 * group.tallies[way].means.mean().recall_at_10()));
      }
      if (compares) {
        line.push_back(fmt::format("{:+.1f}", group.lead_over(kTextWay).value_or(0)));
      }
      line.push_back(fmt::format("{}", group.tallies[ways.front()].refused));
      line.push_back(fmt::format("{}", group.tallies[ways.front()].empty));
    }
  }
  std::string text = markdown_table(lines) + '\n';
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    if (!times_[way].empty()) {
      text +=
          fmt::format("{:<10} p50 {:.3f} ms, p95 {:.3f} ms a query of the best 100\n",
                      kWays[way].head, percentile(times_[way], 0.5), percentile(times_[way], 0.95));
    }
  }
  return text;
}

void RetrievalReport::write(JsonWriter& json) const {
  json.key("groups").begin_array();
  for (const Group& group : groups_) {
    if (group.questions() == 0) {
      continue;
    }
    json.begin_object().member("kind", group.kind).member("name", group.name);
    json.member("questions", group.questions());
    for (std::size_t way = 0; way < kWays.size(); ++way) {
      if (!group.has(way)) {
        continue;
      }
      const Tally& tally = group.tallies[way];
      const Scores mean = tally.means.mean();
      json.key(kWays[way].name).begin_object();
      for (std::size_t i = 0; i < kRecallCutoffs.size(); ++i) {
        json.member(fmt::format("recall_at_{}", kRecallCutoffs[i]), mean.recall[i]);
      }
      json.member("mrr", mean.reciprocal_rank).member("ndcg_at_10", mean.ndcg_at_10);
      json.member("refused", tally.refused).member("empty", tally.empty).end_object();
    }
    if (const std::optional<double> lead = group.lead_over(kTextWay)) {
      json.member("recall_at_10_above_text_points", *lead);
    }
    if (const std::optional<double> lead = group.lead_over(kPlainWay)) {
      json.member("recall_at_10_above_plain_points", *lead);
    }
    json.end_object();
  }
  json.end_array().key("times_ms").begin_object();
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    if (!times_[way].empty()) {
      json.key(kWays[way].name).begin_object();
      json.member("p50", percentile(times_[way], 0.5));
      json.member("p95", percentile(times_[way], 0.95)).end_object();
    }
  }
  json.end_object();
}

}  // namespace bmad_mem::bench
