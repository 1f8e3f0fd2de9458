// retrieval_command.cpp - `bmad-bench retrieval`: how often a search finds the message that
// answers.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "bmad_mem/json_writer.hpp"
#include "commands.hpp"
#include "retrieval_report.hpp"
#include "retrieval_store.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

void print(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

/// Lines for others to evaluate: query_id, message_id, score, with tabs between.
class RunFile {
 public:
  Status open(const std::string& path) {
    path_ = path;
    if (!path.empty()) {
      file_.open(path, std::ios::binary | std::ios::trunc);
    }
    return path.empty() || file_ ? Status() : Status(system_error("write", path));
  }
  void add(const std::string& question, const std::vector<Ranked>& ranking) {
    for (const Ranked& ranked : path_.empty() ? std::vector<Ranked>() : ranking) {
      file_ << fmt::format("{}\t{}\t{}\n", question, ranked.id, ranked.score);
    }
  }
  Status close() {
    file_.close();
    return path_.empty() || file_ ? Status() : Status(system_error("write", path_));
  }

 private:
  std::string path_;
  std::ofstream file_;
};

/// Everything that outlives one store.
struct RetrievalRun {
  const RetrievalOptions& options;
  const RetrievalData& data;
  RetrievalReport report = {};
  RunFile run_file = {};
  std::uint64_t unjudged = 0;  ///< Questions of which nobody said what is relevant.
};

bool is_wanted(const RetrievalOptions& options, const WayInfo& way) {
  return options.ranking == "all" || options.ranking == way.name;
}

bool is_chosen(const RetrievalOptions& options, const std::string& store) {
  return options.stores.empty() || std::ranges::find(options.stores, store) != options.stores.end();
}

std::vector<std::string> ids_of(const std::vector<Ranked>& ranking) {
  std::vector<std::string> ids;
  std::ranges::transform(ranking, std::back_inserter(ids), &Ranked::id);
  return ids;
}

/// The times of the messages of a store, by their id.
using MessageTimes = std::unordered_map<std::string_view, Timestamp>;

/// Whose relevant messages are of one age, those alone are looked for.
Outcome judge(const Question& question, const Answer& answer, std::optional<Timestamp> moment,
              const MessageTimes& times) {
  const std::vector<std::string> ids = ids_of(answer.ranking);
  Outcome outcome{.scores = score_ranking(ids, question.relevant),
                  .by_age = {},
                  .refused = answer.refused,
                  .empty = !answer.refused && ids.empty()};
  std::array<std::vector<std::string>, kAgeGroupCount> by_age;
  for (const std::string& id : question.relevant) {
    const auto time = times.find(id);
    if (moment && time != times.end()) {
      by_age[static_cast<std::size_t>(age_group(*moment - time->second))].push_back(id);
    }
  }
  for (std::size_t age = 0; age < kAgeGroupCount; ++age) {
    if (!by_age[age].empty()) {
      outcome.by_age[age] = score_ranking(ids, by_age[age]);
    }
  }
  return outcome;
}

/// In each way that is wanted, beginning with another one each time, so that none always profits
/// from what the one before it read.
Status ask(RetrievalRun& run, RetrievalStore& store, const Question& question,
           const MessageTimes& times, std::size_t turn) {
  Outcomes outcomes;
  for (std::size_t i = 0; i < kWayCount; ++i) {
    const WayInfo& info = kWays[(turn + i) % kWayCount];
    if (!is_wanted(run.options, info)) {
      continue;
    }
    Result<Answer> answer = store.ask(question, info.way);
    if (!answer) {
      Error error = answer.error();
      error.message = fmt::format("question {}: {}", question.id, error.message);
      return error;
    }
    run.report.add_time(info.way, answer->seconds * 1e3);
    if (!question.relevant.empty()) {
      outcomes[index_of(info.way)] = judge(question, *answer, store.moment_of(question), times);
    }
    if (info.way == Way::kDefault || run.options.ranking == info.name) {
      run.run_file.add(question.id, answer->ranking);
    }
  }
  run.unjudged += question.relevant.empty() ? 1 : 0;
  if (!question.relevant.empty()) {
    const std::string category = question.category.empty() ? "(none)" : question.category;
    run.report.add(question.store, category, store.conversation(), outcomes);
  }
  return {};
}

MessageTimes times_of(const MessageStore& messages) {
  MessageTimes times;
  for (const Message& message : messages.messages) {
    if (message.time) {
      times.emplace(message.id, *message.time);
    }
  }
  return times;
}

Status run_one_store(RetrievalRun& run, const MessageStore& messages) {
  const double begin = wall_seconds();
  BMAD_TRY_ASSIGN(RetrievalStore store, RetrievalStore::create(messages, run.options.directory));
  const double written = wall_seconds();
  const MessageTimes times = times_of(messages);
  std::size_t asked = 0;
  for (const Question& question : run.data.questions) {
    if (question.store == messages.name) {
      BMAD_TRY(ask(run, store, question, times, asked++));
    }
  }
  const std::string cut =
      store.shortened() > 0 ? fmt::format(", {} texts CUT", store.shortened()) : "";
  print(stderr,
        fmt::format("{}: {} messages as {} in {} sessions, written in {:.1f} s{}; {} "
                    "questions in {:.1f} s\n",
                    messages.name, messages.messages.size(),
                    store.conversation() ? "conversation entries" : "documents", store.sessions(),
                    written - begin, cut, asked, wall_seconds() - written));
  return {};
}

Status check_stores(const RetrievalRun& run) {
  for (const std::string& name : run.options.stores) {
    if (std::ranges::find(run.data.stores, name, &MessageStore::name) == run.data.stores.end()) {
      return Error{.code = ErrorCode::E_INVALID_QUERY,
                   .message = fmt::format("there is no store \"{}\" in the corpus", name),
                   .path = run.options.data};
    }
  }
  return {};
}

void print_report(const RetrievalRun& run) {
  if (!run.options.json) {
    print(stdout, '\n' + run.report.text());
    return;
  }
  JsonWriter json;
  json.begin_object().member("data", run.options.data).member("unjudged", run.unjudged);
  run.report.write(json);
  json.key("warnings").begin_array();
  for (const std::string& warning : run.data.warnings) {
    json.string(warning);
  }
  json.end_array().end_object();
  print(stdout, json_pretty(json.text()) + '\n');
}

}  // namespace

Status run_retrieval(const RetrievalOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(options.data, error)) {
    print(stdout, fmt::format("skipped: there is no folder {}; name one with --data that holds "
                              "corpus.jsonl and queries.jsonl\n",
                              options.data));
    return {};
  }
  BMAD_TRY_ASSIGN(const RetrievalData data, read_retrieval_data(options.data));
  RetrievalRun run{.options = options, .data = data};
  BMAD_TRY(check_stores(run));
  for (const std::string& warning : data.warnings) {
    print(stderr, fmt::format("WARNING: {}\n", warning));
  }
  BMAD_TRY(run.run_file.open(options.run_file));
  for (const MessageStore& store : data.stores) {
    if (is_chosen(options, store.name)) {
      BMAD_TRY(run_one_store(run, store));
    }
  }
  BMAD_TRY(run.run_file.close());
  if (run.unjudged > 0) {
    print(stderr,
          fmt::format("{} questions name nothing relevant: they are in the run file, not in "
                      "the table\n",
                      run.unjudged));
  }
  print_report(run);
  return {};
}

}  // namespace bmad_mem::bench
