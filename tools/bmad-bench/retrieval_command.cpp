// retrieval_command.cpp - `bmad-bench retrieval`: how often a search finds the message that
// answers.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/text.hpp"
#include "corpus.hpp"
#include "machine.hpp"
#include "retrieval_data.hpp"
#include "retrieval_scores.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kDepth = 100;
/// As long after the newest message as somebody who has just read it.
constexpr std::chrono::minutes kUntilAsked{5};

/// A clock that stands where it is put; the machine's until then.
class StandingClock : public Clock {
 public:
  void stand_at(Timestamp time) { time_ = time; }
  [[nodiscard]] Timestamp now() const override { return time_ ? *time_ : system_clock().now(); }

 private:
  std::optional<Timestamp> time_;
};

struct Ranked {
  std::string id;  ///< Of a message, as the data has it.
  double score = 0;
};

struct Answer {
  std::vector<Ranked> ranking;  ///< Best first, each id once.
  double milliseconds = 0;      ///< That the query took.
  bool refused = false;         ///< It was called a bad query; the ranking is empty.
};

/// The messages of a data set in a memory of their own, to be asked.
class AskedStore {
 public:
  explicit AskedStore(const MessageStore& messages)
      : messages_(messages),
        plan_(plan_entries(messages)),
        slips_(messages),
        latest_(latest_time(messages)) {
    for (const Message& message : messages.messages) {
      if (message.time) {
        times_.emplace(message.id, *message.time);
      }
    }
  }

  /// By the ordinary write path into a fresh memory.
  void write(const std::string& root, bool encoder) {
    constexpr std::size_t kBatchSize = 500;
    init_roomy_root(root);
    memory_.emplace(
        must(MemoryManager::open({.root = root, .agent_id = "bmad-bench", .clock = &clock_})));
    if (latest_) {
      clock_.stand_at(*latest_);
    }
    for (const PlannedSession& session : plan_.sessions) {
      must(memory_->create_session({.session_id = session.id}));
      const std::vector<std::string_view> lines(session.lines.begin(), session.lines.end());
      for (std::span<const std::string_view> left(lines); !left.empty();) {
        const auto batch = left.first(std::min(kBatchSize, left.size()));
        must(memory_->add_batch(session.id, plan_.type, batch));
        left = left.subspan(batch.size());
      }
    }
    if (encoder) {
      must(memory_->encode({.all = true}));
    }
  }

  /// The text of the question as it stands in the data, or with a slip; the hundred best.
  Answer ask(const Question& question, const Way& way) {
    if (const std::optional<Timestamp> moment = moment_of(question)) {
      clock_.stand_at(*moment + way.later);
    }
    Query query{.text = way.slip ? slips_.slipped(question.text) : question.text,
                .filter = {.limit = kDepth}};
    if (way.text_alone) {
      query.weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0};
    }
    query.use_encoder = !way.words_alone;
    if (way.plain) {
      query.ranking = TextRanking::kPlain;
    }
    const Asked asked = ask_timed(*memory_, query);
    Answer answer{.ranking = {}, .milliseconds = asked.wall_ms, .refused = asked.refused};
    std::unordered_set<std::string_view> seen;  // The data may give an id to several messages.
    for (const Hit& hit : asked.hits) {
      const std::string& id = messages_.messages[plan_.messages.at(hit.entry.id)].id;
      if (seen.insert(id).second) {
        answer.ranking.push_back({.id = id, .score = hit.relevance});
      }
    }
    return answer;
  }

  /// The relevant ids by the age of their messages, as far as both times are known.
  [[nodiscard]] std::array<std::vector<std::string>, kAgeNames.size()> by_age(
      const Question& question) const {
    std::array<std::vector<std::string>, kAgeNames.size()> ids;
    const std::optional<Timestamp> moment = moment_of(question);
    for (const std::string& id : question.relevant) {
      const auto time = times_.find(id);
      if (moment && time != times_.end()) {
        ids[age_group(*moment - time->second)].push_back(id);
      }
    }
    return ids;
  }

  [[nodiscard]] const EntryPlan& plan() const { return plan_; }

 private:
  /// When `question` is asked by default: five minutes after the latest message, or after the
  /// moment that the question names. Nothing when no message has a time.
  [[nodiscard]] std::optional<Timestamp> moment_of(const Question& question) const {
    const std::optional<Timestamp> time = question.time ? question.time : latest_;
    return time ? std::optional(*time + kUntilAsked) : std::nullopt;
  }

  const MessageStore& messages_;
  EntryPlan plan_;
  SlipMaker slips_;
  std::optional<Timestamp> latest_;
  std::unordered_map<std::string_view, Timestamp> times_;
  StandingClock clock_;
  std::optional<MemoryManager> memory_;  // Last, since it uses the others.
};

/// What came of questions that were asked in one way.
struct Tally {
  MeanScores means;
  std::uint64_t refused = 0;
  std::uint64_t empty = 0;

  [[nodiscard]] double recall() const { return 100 * means.mean().recall_at_10(); }
};

struct Group {
  std::string kind;  ///< "store", "category", "store and category", "age", "kind" or "all".
  std::string name;
  std::array<Tally, kWays.size()> tallies = {};

  [[nodiscard]] bool has(std::size_t way) const { return tallies[way].means.count() > 0; }
  [[nodiscard]] std::uint64_t questions() const {
    return std::ranges::max(tallies, {}, [](const Tally& tally) { return tally.means.count(); })
        .means.count();
  }
  /// Points of Recall@10 that the default has more; nothing when one was not asked.
  [[nodiscard]] std::optional<double> lead_over(std::size_t other) const {
    return has(kDefaultWay) && has(other)
               ? std::optional(tallies[kDefaultWay].recall() - tallies[other].recall())
               : std::nullopt;
  }
};

/// Everything that outlives one store.
struct RetrievalRun {
  const Options& options;
  RetrievalData data;
  std::vector<Group> groups = {};  ///< In the order in which they were first met.
  std::array<Values, kWays.size()> times_ms = {};
  std::ofstream run_file = {};  ///< Lines of query_id, message_id, score, for others to evaluate.
  std::uint64_t unjudged = 0;   ///< Questions of which nobody said what is relevant.

  Tally& tally(std::string_view kind, const std::string& name, std::size_t way) {
    const auto found = std::ranges::find_if(
        groups, [&](const Group& each) { return each.kind == kind && each.name == name; });
    Group& group = found != groups.end()
                       ? *found
                       : groups.emplace_back(Group{.kind = std::string(kind), .name = name});
    return group.tallies[way];
  }
};

void judge(RetrievalRun& run, const AskedStore& store, const Question& question,
           const Answer& answer, std::size_t way) {
  std::vector<std::string> ids;
  std::ranges::transform(answer.ranking, std::back_inserter(ids), &Ranked::id);
  const auto add = [&](std::string_view kind, const std::string& name,
                       const std::vector<std::string>& relevant) {
    Tally& tally = run.tally(kind, name, way);
    if (!relevant.empty()) {  // Else it was only met, so that the ages are in order.
      tally.means.add(score_ranking(ids, relevant));
      tally.refused += answer.refused ? 1U : 0U;
      tally.empty += !answer.refused && ids.empty() ? 1U : 0U;
    }
  };
  const bool talk = store.plan().type == EntryType::kConversation;
  const std::string kind = talk ? "conversations" : "documents";
  const std::string category = question.category.empty() ? "(none)" : question.category;
  add("store", question.store, question.relevant);
  add("store and category", fmt::format("{} {}", question.store, category), question.relevant);
  add("category", category, question.relevant);
  add("kind", kind, question.relevant);
  add("all", "", question.relevant);
  const auto by_age = store.by_age(question);
  for (std::size_t age = 0; age < by_age.size(); ++age) {
    add("age", fmt::format("{}, {}", kind, kAgeNames[age]), by_age[age]);
  }
}

/// In each way that is wanted, beginning with another one each time, so that none always profits
/// from what the one before it read.
void ask_question(RetrievalRun& run, AskedStore& store, const Question& question,
                  std::size_t turn) {
  const std::string& wanted = run.options.ranking;
  run.unjudged += question.relevant.empty() ? 1U : 0U;
  for (std::size_t i = 0; i < kWays.size(); ++i) {
    const std::size_t way = (turn + i) % kWays.size();
    if ((wanted != "all" && wanted != kWays[way].name) ||
        (kWays[way].words_alone && !run.options.encoder)) {
      continue;
    }
    const Answer answer = store.ask(question, kWays[way]);
    run.times_ms[way].push_back(answer.milliseconds);
    if (!question.relevant.empty()) {
      judge(run, store, question, answer, way);
    }
    if (run.run_file.is_open() && (way == kDefaultWay || wanted != "all")) {
      for (const Ranked& ranked : answer.ranking) {
        run.run_file << fmt::format("{}\t{}\t{}\n", question.id, ranked.id, ranked.score);
      }
    }
  }
}

void run_one_store(RetrievalRun& run, const MessageStore& messages) {
  const ScratchFolder folder(run.options.directory);
  AskedStore store(messages);
  const EntryPlan& plan = store.plan();
  store.write(folder.path() + "/memory", run.options.encoder);
  std::size_t asked = 0;
  for (const Question& question : run.data.questions) {
    if (question.store == messages.name) {
      ask_question(run, store, question, asked++);
    }
  }
  fmt::print(stderr, "{}: {} messages as {} in {} sessions{}; {} questions\n", messages.name,
             messages.messages.size(),
             plan.type == EntryType::kConversation ? "conversation entries" : "documents",
             plan.sessions.size(),
             plan.shortened > 0 ? fmt::format(", {} texts CUT", plan.shortened) : "", asked);
}

void check_stores(const RetrievalRun& run) {
  for (const std::string& name : run.options.stores) {
    if (std::ranges::find(run.data.stores, name, &MessageStore::name) == run.data.stores.end()) {
      throw Error{.code = ErrorCode::E_INVALID_QUERY,
                  .message = fmt::format("there is no store \"{}\" in the corpus", name),
                  .path = run.options.data};
    }
  }
}

/// A table of Recall@10 in per cent, then the times.
std::string report_text(const RetrievalRun& run) {
  std::vector<std::size_t> ways;  // That were asked.
  std::vector<std::vector<std::string>> lines = {{"Recall@10", "questions"}};
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    if (!run.times_ms[way].empty()) {
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
    for (const Group& group : run.groups) {
      if (group.kind != kind || group.questions() == 0) {
        continue;
      }
      std::vector<std::string>& line = lines.emplace_back();
      line = {group.name.empty() ? group.kind : group.kind + ' ' + group.name,
              fmt::format("{}", group.questions())};
      for (const std::size_t way : ways) {
        line.push_back(fmt::format("{:.1f}", group.tallies[way].recall()));
      }
      if (compares) {
        line.push_back(fmt::format("{:+.1f}", group.lead_over(kTextWay).value_or(0)));
      }
      line.push_back(fmt::format("{}", group.tallies[ways.front()].refused));
      line.push_back(fmt::format("{}", group.tallies[ways.front()].empty));
    }
  }
  std::string text = markdown_table(lines) + '\n';
  for (const std::size_t way : ways) {
    const Values& times = run.times_ms[way];
    text += fmt::format("{:<10} p50 {:.3f} ms, p95 {:.3f} ms a query of the best 100\n",
                        kWays[way].head, percentile(times, 0.5), percentile(times, 0.95));
  }
  return text;
}

void write_group(JsonWriter& json, const Group& group) {
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

void print_report(const RetrievalRun& run) {
  if (!run.options.json) {
    return print_text('\n' + report_text(run));
  }
  JsonWriter json;
  json.begin_object().member("data", run.options.data).member("unjudged", run.unjudged);
  json.key("groups").begin_array();
  for (const Group& group : run.groups) {
    if (group.questions() > 0) {
      write_group(json, group);
    }
  }
  json.end_array().key("times_ms").begin_object();
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    if (const Values& times = run.times_ms[way]; !times.empty()) {
      json.key(kWays[way].name).begin_object().member("p50", percentile(times, 0.5));
      json.member("p95", percentile(times, 0.95)).end_object();
    }
  }
  json.end_object().key("warnings").begin_array();
  for (const std::string& warning : run.data.warnings) {
    json.string(warning);
  }
  print_text(json_pretty(json.end_array().end_object().text()) + '\n');
}

}  // namespace

std::string no_data_text(const Options& options) {
  return fmt::format(
      "skipped: there is no folder {}; name one with --data that holds corpus.jsonl and "
      "queries.jsonl\n",
      options.data);
}

void run_retrieval(const Options& options) {
  std::error_code error;
  if (!std::filesystem::exists(options.data, error)) {
    return print_text(no_data_text(options));
  }
  RetrievalRun run{.options = options, .data = read_retrieval_data(options.data)};
  check_stores(run);
  for (const std::string& warning : run.data.warnings) {
    fmt::print(stderr, "WARNING: {}\n", warning);
  }
  if (!options.run_file.empty()) {
    run.run_file.open(options.run_file, std::ios::binary | std::ios::trunc);
  }
  for (const MessageStore& store : run.data.stores) {
    if (options.stores.empty() || is_among(options.stores, store.name)) {
      run_one_store(run, store);
    }
  }
  run.run_file.flush();
  if (!options.run_file.empty() && !run.run_file) {
    throw system_error("write", options.run_file);
  }
  if (run.unjudged > 0) {
    fmt::print(stderr,
               "{} questions name nothing relevant: they are in the run file, not in the table\n",
               run.unjudged);
  }
  print_report(run);
}

}  // namespace bmad_mem::bench
