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
  void write(const std::string& root) {
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

  /// Whose relevant messages are of one age, those alone are looked for.
  [[nodiscard]] Outcome judge(const Question& question, const Answer& answer) const {
    std::vector<std::string> ids;
    std::ranges::transform(answer.ranking, std::back_inserter(ids), &Ranked::id);
    Outcome outcome{.scores = score_ranking(ids, question.relevant),
                    .by_age = {},
                    .refused = answer.refused,
                    .empty = !answer.refused && ids.empty()};
    std::array<std::vector<std::string>, kAgeNames.size()> by_age;
    const std::optional<Timestamp> moment = moment_of(question);
    for (const std::string& id : question.relevant) {
      const auto time = times_.find(id);
      if (moment && time != times_.end()) {
        by_age[age_group(*moment - time->second)].push_back(id);
      }
    }
    for (std::size_t age = 0; age < by_age.size(); ++age) {
      if (!by_age[age].empty()) {
        outcome.by_age[age] = score_ranking(ids, by_age[age]);
      }
    }
    return outcome;
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

/// Everything that outlives one store.
struct RetrievalRun {
  const Options& options;
  RetrievalData data;
  RetrievalReport report = {};
  std::ofstream run_file = {};  ///< Lines of query_id, message_id, score, for others to evaluate.
  std::uint64_t unjudged = 0;   ///< Questions of which nobody said what is relevant.
};

/// In each way that is wanted, beginning with another one each time, so that none always profits
/// from what the one before it read.
void ask_question(RetrievalRun& run, AskedStore& store, const Question& question,
                  std::size_t turn) {
  Outcomes outcomes;
  for (std::size_t i = 0; i < kWays.size(); ++i) {
    const std::size_t way = (turn + i) % kWays.size();
    if (run.options.ranking != "all" && run.options.ranking != kWays[way].name) {
      continue;
    }
    const Answer answer = store.ask(question, kWays[way]);
    run.report.add_time(way, answer.milliseconds);
    if (!question.relevant.empty()) {
      outcomes[way] = store.judge(question, answer);
    }
    if (run.run_file.is_open() && (way == kDefaultWay || run.options.ranking != "all")) {
      for (const Ranked& ranked : answer.ranking) {
        run.run_file << fmt::format("{}\t{}\t{}\n", question.id, ranked.id, ranked.score);
      }
    }
  }
  if (question.relevant.empty()) {
    ++run.unjudged;
  } else {
    run.report.add(question.store, question.category.empty() ? "(none)" : question.category,
                   store.plan().type == EntryType::kConversation, outcomes);
  }
}

void run_one_store(RetrievalRun& run, const MessageStore& messages) {
  const ScratchFolder folder(run.options.directory);
  AskedStore store(messages);
  const EntryPlan& plan = store.plan();
  store.write(folder.path() + "/memory");
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

void print_report(const RetrievalRun& run) {
  if (!run.options.json) {
    return print('\n' + run.report.text());
  }
  JsonWriter json;
  json.begin_object().member("data", run.options.data).member("unjudged", run.unjudged);
  run.report.write(json);
  json.key("warnings").begin_array();
  for (const std::string& warning : run.data.warnings) {
    json.string(warning);
  }
  print(json_pretty(json.end_array().end_object().text()) + '\n');
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
    return print(no_data_text(options));
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
