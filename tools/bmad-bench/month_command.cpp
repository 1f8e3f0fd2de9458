// month_command.cpp - `bmad-bench month`: how well and how fast a memory answers as it gets older.
//
//   day 1 ......... 8 ......... 31 .................. 91
//   sessions of the data and made ones, each written on its day, default settings, maintenance
//   as it happens by itself; on these days questions are asked by default and by text alone
//
// tests/month does the same through every door, with gates. Here the library is called, and timed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "corpus_text.hpp"
#include "machine.hpp"
#include "retrieval_data.hpp"
#include "retrieval_scores.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr int kLastDay = 91;
constexpr std::array kProbeDays = {1, 8, 31, kLastDay};
constexpr std::array kAskedWays = {kDefaultWay, kTextWay};

struct DaySession {
  std::string id;
  int day = 1;
  EntryType type = EntryType::kConversation;
  std::vector<std::string> lines;
  std::vector<std::string> keys = {};  ///< Of the messages, see key_of(); empty for made ones.
};

/// A message as the data names it.
std::string key_of(std::string_view store, std::string_view id) {
  return fmt::format("{}\n{}", store, id);
}

/// The day of thing `number` of `count` that are spread evenly.
int day_of(std::size_t number, std::size_t count) {
  const std::size_t span = kLastDay - 2;
  return 1 + static_cast<int>(span * number / std::max<std::size_t>(count - 1, 1));
}

/// The sessions of the data in their order; documents in some of about the same size.
std::vector<DaySession> sessions_of(const RetrievalData& data) {
  std::vector<DaySession> sessions;
  for (std::size_t number = 0; number < data.stores.size(); ++number) {
    const MessageStore& store = data.stores[number];
    EntryPlan plan = plan_entries(store, {.document_sessions = 20, .as_new = true});
    for (std::size_t i = 0; i < plan.sessions.size(); ++i) {
      DaySession& session =
          sessions.emplace_back(DaySession{.id = fmt::format("data-{}-{}", number, i),
                                           .day = day_of(i, plan.sessions.size()),
                                           .type = plan.type,
                                           .lines = std::move(plan.sessions[i].lines)});
      for (const std::size_t message : plan.sessions[i].messages) {
        session.keys.push_back(key_of(store.name, store.messages[message].id));
      }
    }
  }
  return sessions;
}

/// Talk of the corpus's words, until there are as many sessions and entries as asked for.
void add_made_sessions(std::vector<DaySession>& sessions, const Options& options) {
  std::size_t entries = 0;
  for (const DaySession& session : sessions) {
    entries += session.lines.size();
  }
  const std::size_t missing =
      options.sessions > sessions.size() ? options.sessions - sessions.size() : 0;
  const std::size_t left = options.entries > entries ? options.entries - entries : 0;
  Random random(options.seed);
  TextMaker text(options.seed, random);
  for (std::size_t i = 0; i < missing; ++i) {
    DaySession& session = sessions.emplace_back(
        DaySession{.id = fmt::format("made-{}", i), .day = day_of(i, missing)});
    const Topic topic = text.topic();
    for (std::size_t line = 0; line < std::max<std::size_t>(left / missing, 1); ++line) {
      JsonWriter json;
      json.begin_object().member("role", line % 2 == 0 ? "user" : "assistant");
      json.member("content", text.sentences(topic, 25)).end_object();
      session.lines.push_back(json.take());
    }
  }
  std::ranges::stable_sort(sessions, {}, &DaySession::day);
}

/// What came of the questions of one day.
struct ProbeDay {
  std::uint64_t day = 1;
  std::uint64_t entries = 0;
  std::uint64_t sessions = 0;
  std::uint64_t archived = 0;
  std::uint64_t questions = 0;
  std::uint64_t refused = 0;
  std::uint64_t empty = 0;
  std::array<Values, kAskedWays.size()> times_ms = {};
};

/// Lives through the days.
class Month {
 public:
  Month(const Options& options, const RetrievalData& data, const std::string& folder)
      : options_(options), data_(data), root_(folder + "/memory") {}

  void run();
  /// How much was found, by the age of what answers.
  [[nodiscard]] std::vector<Record> ages() const;
  /// How fast, and in how large a memory.
  [[nodiscard]] std::vector<Record> days_asked() const;
  [[nodiscard]] double recording_seconds() const { return recording_seconds_; }

 private:
  struct Recorded {
    std::string id;
    int day = 1;
  };

  void move_to(int day, hours hour) const { move_system_clock(begin_ + days(day - 1) + hour); }
  [[nodiscard]] MemoryManager open() const {
    return must(MemoryManager::open({.root = root_, .agent_id = "bmad-bench"}));
  }
  void record(MemoryManager& memory, const DaySession& session);
  void probe(int day);
  void ask_one_way(const MemoryManager& memory, const Question& question, std::size_t way,
                   ProbeDay& probe);

  const Options& options_;
  const RetrievalData& data_;
  const Timestamp begin_ = parse_rfc3339("2031-02-03T00:00:00Z").value();
  std::string root_;
  std::unordered_map<std::string, Recorded> recorded_;  ///< By key_of().
  std::uint64_t entries_ = 0;
  std::uint64_t sessions_ = 0;
  double recording_seconds_ = 0;
  /// What was found for answers of one age on one day, each way.
  std::map<std::pair<std::uint64_t, std::size_t>, std::array<MeanScores, kAskedWays.size()>> ages_;
  std::vector<ProbeDay> probes_;
};

void Month::run() {
  move_to(1, hours(8));
  must(MemoryManager::init(root_));
  std::vector<DaySession> sessions = sessions_of(data_);
  add_made_sessions(sessions, options_);
  std::size_t next = 0;
  for (int day = 1; day <= kLastDay; ++day) {
    // A new process each day, as agents are.
    move_to(day, hours(10));
    const double begin = wall_seconds();
    MemoryManager memory = open();
    for (; next < sessions.size() && sessions[next].day == day; ++next) {
      record(memory, sessions[next]);
    }
    recording_seconds_ += wall_seconds() - begin;
    if (is_among(kProbeDays, day)) {
      // In the morning of the last day: what is older than 90 days may go.
      move_to(day, hours(day == kLastDay ? 9 : 18));
      probe(day);
    }
  }
}

void Month::record(MemoryManager& memory, const DaySession& session) {
  must(memory.create_session({.session_id = session.id}));
  const std::vector<std::string_view> lines(session.lines.begin(), session.lines.end());
  const BatchReport report = must(memory.add_batch(session.id, session.type, lines));
  for (std::size_t i = 0; i < session.keys.size() && i < report.ids.size(); ++i) {
    recorded_[session.keys[i]] = {.id = report.ids[i], .day = session.day};
  }
  entries_ += report.ids.size();
  ++sessions_;
  must(memory.close_session(session.id));
}

void Month::probe(int day) {
  const MemoryManager memory = open();
  const std::vector<ArchivedSession> archived = must(memory.archived_sessions());
  ProbeDay probe{.day = static_cast<std::uint64_t>(day),
                 .entries = entries_,
                 .sessions = sessions_,
                 .archived = archived.size()};
  for (const Question& question : data_.questions) {
    const bool known = std::ranges::all_of(question.relevant, [&](const std::string& id) {
      return recorded_.contains(key_of(question.store, id));
    });
    if (!known || question.relevant.empty()) {
      continue;
    }
    // Each way first in turn, so that neither always profits from what the other read.
    const std::size_t first = probe.questions++ % kAskedWays.size();
    for (std::size_t i = 0; i < kAskedWays.size(); ++i) {
      ask_one_way(memory, question, (first + i) % kAskedWays.size(), probe);
    }
  }
  probes_.push_back(std::move(probe));
}

void Month::ask_one_way(const MemoryManager& memory, const Question& question, std::size_t way,
                        ProbeDay& probe) {
  constexpr std::size_t kBest = 10;
  Query query{.text = question.text, .filter = {.limit = kBest}};
  if (kWays[kAskedWays[way]].text_alone) {
    query.weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0};
  }
  const Asked asked = ask_timed(memory, query);
  probe.times_ms[way].push_back(asked.wall_ms);
  std::vector<std::string> found;
  for (const Hit& hit : asked.hits) {
    found.push_back(hit.entry.id);
  }
  if (kAskedWays[way] == kDefaultWay) {
    probe.refused += asked.refused ? 1U : 0U;
    probe.empty += !asked.refused && found.empty() ? 1U : 0U;
  }
  std::array<std::vector<std::string>, kAgeNames.size()> by_age;
  for (const std::string& id : question.relevant) {
    const Recorded& recorded = recorded_.at(key_of(question.store, id));
    by_age[age_group(days(static_cast<int>(probe.day) - recorded.day))].push_back(recorded.id);
  }
  for (std::size_t age = 0; age < by_age.size(); ++age) {
    if (!by_age[age].empty()) {
      ages_[{probe.day, age}][way].add(score_ranking(found, by_age[age]));
    }
  }
}

std::vector<Record> Month::ages() const {
  std::vector<Record> records;
  for (const auto& [at, means] : ages_) {
    const double by_default = means[0].mean().recall_at_10();
    const double by_text = means[1].mean().recall_at_10();
    records.push_back({{"day", at.first},
                       {"age", std::string(kAgeNames[at.second])},
                       {"questions", means[0].count()},
                       {"recall_at_10_default", by_default},
                       {"recall_at_10_text", by_text},
                       {"difference", by_default - by_text}});
  }
  return records;
}

std::vector<Record> Month::days_asked() const {
  std::vector<Record> records;
  for (const ProbeDay& probe : probes_) {
    Record& record = records.emplace_back(Record{{"day", probe.day},
                                                 {"entries", probe.entries},
                                                 {"sessions", probe.sessions},
                                                 {"archived", probe.archived},
                                                 {"questions", probe.questions},
                                                 {"refused", probe.refused},
                                                 {"empty", probe.empty}});
    for (std::size_t way = 0; way < kAskedWays.size(); ++way) {
      for (const auto& [name, share] : {std::pair{"p50", 0.5}, std::pair{"p95", 0.95}}) {
        const Values& times = probe.times_ms[way];
        record.emplace_back(fmt::format("{}_ms_{}", name, kWays[kAskedWays[way]].name),
                            times.empty() ? 0 : percentile(times, share));
      }
    }
  }
  return records;
}

}  // namespace

void run_month(const Options& options) {
  std::error_code error;
  if (!std::filesystem::exists(options.data, error)) {
    return print_text(no_data_text(options));
  }
  const RetrievalData data = read_retrieval_data(options.data);
  const ScratchFolder folder(options.directory);
  const Environment environment = environment_of(folder.path());  // Before the clock is moved.
  tell(fmt::format("living {} days in {} sessions of {} entries", kLastDay - 1, options.sessions,
                   options.entries));
  Month month(options, data, folder.path());
  month.run();
  if (!options.json) {
    return print_text(fmt::format("{}\n{}\n{}\nrecording and maintenance: {:.1f} s\n",
                                  environment_text(environment), records_text(month.ages()),
                                  records_text(month.days_asked()), month.recording_seconds()));
  }
  JsonWriter json;
  json.begin_object();
  write_environment(json, environment);
  json.member("data", options.data).member("seed", options.seed);
  json.key("ages");
  write_records(json, month.ages());
  json.key("days");
  write_records(json, month.days_asked());
  json.member("recording_seconds", month.recording_seconds());
  print_text(json_pretty(json.end_object().text()) + '\n');
}

}  // namespace bmad_mem::bench
