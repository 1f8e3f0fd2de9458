#include "retrieval_report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "search_percentiles.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kKind = "kind";
constexpr std::string_view kStore = "store";
constexpr std::string_view kCategory = "category";
constexpr std::string_view kBoth = "store and category";
constexpr std::string_view kAge = "age";
constexpr std::array<std::string_view, kAgeGroupCount> kAgeNames = {"up to 7 days", "7 to 30 days",
                                                                    "beyond 30 days"};

const Tally& tally_of(const ScoreGroup& group, Way way) { return group.tallies[index_of(way)]; }

bool has(const ScoreGroup& group, Way way) { return tally_of(group, way).means.count() > 0; }

std::uint64_t questions_of(const ScoreGroup& group) {
  std::uint64_t count = 0;
  for (const Tally& tally : group.tallies) {
    count = std::max(count, tally.means.count());
  }
  return count;
}

double recall_of(const ScoreGroup& group, Way way) {
  return tally_of(group, way).means.mean().recall_at_10();
}

/// Points of Recall@10 that the default has more than `other`; nothing when one was not asked.
std::optional<double> lead_over(const ScoreGroup& group, Way other) {
  if (!has(group, Way::kDefault) || !has(group, other)) {
    return std::nullopt;
  }
  return 100 * (recall_of(group, Way::kDefault) - recall_of(group, other));
}

std::string label_of(const ScoreGroup& group) {
  return group.kind == kAll ? "all" : group.kind + ' ' + group.name;
}

std::string score_cells(const Scores& scores) {
  std::string text;
  for (const double recall : scores.recall) {
    text += fmt::format(" {:5.1f} |", 100 * recall);
  }
  return text +
         fmt::format(" {:5.1f} | {:7.1f} |", 100 * scores.reciprocal_rank, 100 * scores.ndcg_at_10);
}

std::string line_of(const ScoreGroup& group, Way way, bool first, std::size_t width) {
  const Tally& tally = tally_of(group, way);
  return fmt::format("| {:<{}} | {:>9} | {:<10} |{} {:>7} | {:>5} |\n",
                     first ? label_of(group) : "", width,
                     first ? fmt::format("{}", tally.means.count()) : "", kWays[index_of(way)].head,
                     score_cells(tally.means.mean()), tally.refused, tally.empty);
}

std::string store_table_head(std::size_t width) {
  std::string text = fmt::format("| {:<{}} | questions | asked      |", "", width);
  for (const std::size_t cutoff : kRecallCutoffs) {
    text += fmt::format(" {:>5} |", fmt::format("R@{}", cutoff));
  }
  text += "   MRR | nDCG@10 | refused | empty |\n";
  return text + fmt::format(
                    "| {:-<{}} | --------- | ---------- | ----- | ----- | ----- | ----- | "
                    "----- | ------- | ------- | ----- |\n",
                    "", width);
}

void write_tally(JsonWriter& json, const Tally& tally) {
  const Scores scores = tally.means.mean();
  json.begin_object();
  for (std::size_t i = 0; i < kRecallCutoffs.size(); ++i) {
    json.member(fmt::format("recall_at_{}", kRecallCutoffs[i]), scores.recall[i]);
  }
  json.member("mrr", scores.reciprocal_rank).member("ndcg_at_10", scores.ndcg_at_10);
  json.member("refused", tally.refused).member("empty", tally.empty).end_object();
}

void add_outcome(ScoreGroup& group, Way way, const Outcome& outcome, const Scores& scores) {
  Tally& tally = group.tallies[index_of(way)];
  tally.means.add(scores);
  tally.refused += outcome.refused ? 1 : 0;
  tally.empty += outcome.empty ? 1 : 0;
}

}  // namespace

AgeGroup age_group(std::chrono::milliseconds age) {
  if (age <= std::chrono::days(7)) {
    return AgeGroup::kWeek;
  }
  return age <= std::chrono::days(30) ? AgeGroup::kMonth : AgeGroup::kOlder;
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
                          const Outcomes& outcomes) {
  const std::string kind = conversation ? "conversations" : "documents";
  const std::array<std::pair<std::string_view, std::string>, 5> groups = {
      {{kStore, store},
       {kBoth, fmt::format("{} {}", store, category)},
       {kCategory, category},
       {kKind, kind},
       {kAll, ""}}};
  for (const WayInfo& info : kWays) {
    const std::optional<Outcome>& outcome = outcomes[index_of(info.way)];
    if (!outcome) {
      continue;
    }
    for (const auto& [name_of_kind, name] : groups) {
      add_outcome(group(name_of_kind, name), info.way, *outcome, outcome->scores);
    }
    for (std::size_t age = 0; age < kAgeGroupCount; ++age) {
      // Also without an outcome, so that the ages stand in order.
      ScoreGroup& of_age = group(kAge, fmt::format("{}, {}", kind, kAgeNames[age]));
      if (outcome->by_age[age]) {
        add_outcome(of_age, info.way, *outcome, *outcome->by_age[age]);
      }
    }
  }
}

void RetrievalReport::add_time(Way way, double milliseconds) {
  times_[index_of(way)].push_back(milliseconds);
}

std::vector<Way> RetrievalReport::ways() const {
  std::vector<Way> ways;
  for (const WayInfo& info : kWays) {
    if (std::ranges::any_of(groups_,
                            [&](const ScoreGroup& group) { return has(group, info.way); })) {
      ways.push_back(info.way);
    }
  }
  return ways;
}

std::string RetrievalReport::store_table() const {
  std::size_t width = 3;
  for (const ScoreGroup& group : groups_) {
    if (group.kind == kStore || group.kind == kKind) {
      width = std::max(width, label_of(group).size());
    }
  }
  std::string text = store_table_head(width);
  for (const std::string_view kind : {kStore, kKind, kAll}) {
    for (const ScoreGroup& group : groups_) {
      bool first = true;
      for (const Way way : ways()) {
        if (group.kind == kind && has(group, way)) {
          text += line_of(group, way, std::exchange(first, false), width);
        }
      }
    }
  }
  return text;
}

std::string RetrievalReport::recall_table() const {
  std::size_t width = 9;
  for (const ScoreGroup& group : groups_) {
    width = std::max(width, label_of(group).size());
  }
  std::string text = fmt::format("| {:<{}} | questions |", "Recall@10", width);
  std::string rule = fmt::format("| {:-<{}} | --------- |", "", width);
  for (const Way way : ways()) {
    const std::string_view head = kWays[index_of(way)].head;
    text += fmt::format(" {} |", head);
    rule += fmt::format(" {:->{}} |", ":", head.size());
  }
  const bool compares = std::ranges::any_of(
      groups_, [](const ScoreGroup& group) { return lead_over(group, Way::kText).has_value(); });
  text += compares ? " default above text |\n" : "\n";
  text += rule + (compares ? " -----------------: |\n" : "\n");
  for (const std::string_view kind : {kAge, kCategory, kBoth, kKind, kAll}) {
    for (const ScoreGroup& group : groups_) {
      if (group.kind != kind || questions_of(group) == 0) {
        continue;
      }
      text += fmt::format("| {:<{}} | {:>9} |", label_of(group), width, questions_of(group));
      for (const Way way : ways()) {
        text += fmt::format(" {:>{}.1f} |", 100 * recall_of(group, way),
                            kWays[index_of(way)].head.size());
      }
      const std::optional<double> lead = lead_over(group, Way::kText);
      text += lead ? fmt::format(" {:>+18.1f} |\n", *lead) : "\n";
    }
  }
  return text;
}

std::string RetrievalReport::text() const {
  std::string text = store_table() + '\n' + recall_table() + '\n';
  for (const WayInfo& info : kWays) {
    const std::vector<double>& times = times_[index_of(info.way)];
    if (!times.empty()) {
      const Percentiles percentiles = percentiles_of(times);
      text += fmt::format("{:<10} p50 {:.3f} ms, p95 {:.3f} ms a query of the best 100\n",
                          info.head, percentiles.p50, percentiles.p95);
    }
  }
  return text;
}

void RetrievalReport::write(JsonWriter& json) const {
  json.key("groups").begin_array();
  for (const ScoreGroup& group : groups_) {
    if (questions_of(group) == 0) {
      continue;
    }
    json.begin_object().member("kind", group.kind).member("name", group.name);
    json.member("questions", questions_of(group));
    for (const WayInfo& info : kWays) {
      if (has(group, info.way)) {
        json.key(info.name);
        write_tally(json, tally_of(group, info.way));
      }
    }
    if (const std::optional<double> lead = lead_over(group, Way::kText)) {
      json.member("recall_at_10_above_text_points", *lead);
    }
    if (const std::optional<double> lead = lead_over(group, Way::kPlain)) {
      json.member("recall_at_10_above_plain_points", *lead);
    }
    json.end_object();
  }
  json.end_array().key("times_ms").begin_object();
  for (const WayInfo& info : kWays) {
    if (!times_[index_of(info.way)].empty()) {
      const Percentiles percentiles = percentiles_of(times_[index_of(info.way)]);
      json.key(info.name).begin_object();
      json.member("p50", percentiles.p50).member("p95", percentiles.p95).end_object();
    }
  }
  json.end_object();
}

}  // namespace bmad_mem::bench
