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
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
#include "commands.hpp"
#include "corpus_text.hpp"
#include "environment.hpp"
#include "retrieval_data.hpp"
#include "retrieval_plan.hpp"
#include "retrieval_report.hpp"
#include "scratch_folder.hpp"
#include "search_percentiles.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

using std::chrono::days;
using std::chrono::hours;

constexpr int kLastDay = 91;
constexpr std::array kProbeDays = {1, 8, 31, kLastDay};
constexpr std::size_t kDocumentSessions = 20;
constexpr std::size_t kBest = 10;
constexpr std::size_t kTextSizeMax = 100'000;
constexpr std::array<std::string_view, kAgeGroupCount> kAgeNames = {"up to 7 days", "7 to 30 days",
                                                                    "beyond 30 days"};
constexpr std::array kAskedWays = {Way::kDefault, Way::kText};

struct DaySession {
  std::string id;
  int day = 1;
  EntryType type = EntryType::kConversation;
  std::vector<std::string> lines;
  std::vector<std::string> keys;  ///< Of the messages, as the data names them; empty for made ones.
};

std::string key_of(std::string_view store, std::string_view id) {
  return fmt::format("{}\n{}", store, id);
}

/// The day of thing `number` of `count` that are spread evenly.
int day_of(std::size_t number, std::size_t count) {
  const std::size_t span = kLastDay - 2;
  return 1 + static_cast<int>(span * number / std::max<std::size_t>(count - 1, 1));
}

std::string line_of(EntryType type, std::string_view speaker, std::string_view text, bool user) {
  const std::string_view kept = text.empty() ? "-" : utf8_prefix(text, kTextSizeMax);
  JsonWriter json;
  json.begin_object();
  if (type == EntryType::kConversation) {
    json.member("role", user ? "user" : "assistant");
  } else {
    json.member("kind", "document");
  }
  if (!speaker.empty()) {
    json.member("agent_id", speaker);
  }
  json.member("content", kept).end_object();
  return json.take();
}

/// The sessions of a store in the order of the data; documents in some of about the same size.
std::vector<DaySession> sessions_of(const MessageStore& store, std::size_t store_number) {
  const bool talk = is_conversation(store);
  const std::size_t count = store.messages.size();
  std::vector<DaySession> sessions;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) {
    const Message& message = store.messages[i];
    const std::string name =
        talk ? message.session : fmt::format("{}", i * kDocumentSessions / count);
    const auto [place, is_new] = places.try_emplace(name, sessions.size());
    if (is_new) {
      sessions.push_back({.id = fmt::format("data-{}-{}", store_number, sessions.size()),
                          .type = talk ? EntryType::kConversation : EntryType::kEvent});
    }
    DaySession& session = sessions[place->second];
    session.lines.push_back(line_of(session.type, message.speaker, message.text,
                                    message.speaker == store.messages.front().speaker));
    session.keys.push_back(key_of(store.name, message.id));
  }
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    sessions[i].day = day_of(i, sessions.size());
  }
  return sessions;
}

/// Talk of the corpus's words, until there are as many sessions and entries as asked for.
void add_made_sessions(std::vector<DaySession>& sessions, const MonthOptions& options) {
  std::size_t entries = 0;
  for (const DaySession& session : sessions) {
    entries += session.lines.size();
  }
  const std::size_t missing =
      options.sessions > sessions.size() ? options.sessions - sessions.size() : 0;
  const std::size_t left = options.entries > entries ? options.entries - entries : 0;
  const Vocabulary vocabulary(options.seed);
  Random random(options.seed);
  TextMaker text(vocabulary, random);
  for (std::size_t i = 0; i < missing; ++i) {
    DaySession session{.id = fmt::format("made-{}", i), .day = day_of(i, missing)};
    const Topic topic = text.topic();
    const std::size_t size = std::max<std::size_t>(left / missing, 1);
    for (std::size_t line = 0; line < size; ++line) {
      const bool user = line % 2 == 0;
      session.lines.push_back(line_of(session.type, "", text.sentences(topic, 25), user));
    }
    sessions.push_back(std::move(session));
  }
  std::ranges::stable_sort(sessions, {}, &DaySession::day);
}

/// What was found for answers of one age on one day, each way.
struct AgeRow {
  int day = 1;
  std::size_t age = 0;
  std::array<MeanScores, kAskedWays.size()> means = {};
};

struct ProbeDay {
  int day = 1;
  std::uint64_t entries = 0;
  std::size_t sessions = 0;
  std::size_t archived = 0;
  std::uint64_t questions = 0;
  std::uint64_t refused = 0;
  std::uint64_t empty = 0;
  std::array<std::vector<double>, kAskedWays.size()> times_ms = {};
};

/// Lives through the days.
class Month {
 public:
  Month(const MonthOptions& options, const RetrievalData& data) : options_(options), data_(data) {}

  Status run();
  [[nodiscard]] std::string text() const;
  void write(JsonWriter& json) const;

 private:
  struct Recorded {
    std::string id;
    int day = 1;
  };

  void move_to(int day, hours hour) const { move_system_clock(begin_ + days(day - 1) + hour); }
  Status record(MemoryManager& memory, const DaySession& session);
  Status probe(int day);
  Status ask(const MemoryManager& memory, const Question& question, ProbeDay& probe);
  Status ask_one_way(const MemoryManager& memory, const Question& question, std::size_t way,
                     ProbeDay& probe);
  AgeRow& row_of(int day, std::size_t age);

  const MonthOptions& options_;
  const RetrievalData& data_;
  const Timestamp begin_ = parse_rfc3339("2031-02-03T00:00:00Z").value();
  ScratchFolder folder_;
  std::string root_;
  std::unordered_map<std::string, Recorded> recorded_;  ///< By key_of().
  std::uint64_t entries_ = 0;
  std::size_t sessions_ = 0;
  double recording_seconds_ = 0;
  std::vector<AgeRow> rows_;
  std::vector<ProbeDay> probes_;
};

Status Month::run() {
  BMAD_TRY(folder_.make_in(options_.directory));
  root_ = folder_.path() + "/memory";
  move_to(1, hours(8));
  BMAD_TRY(MemoryManager::init(root_));
  std::vector<DaySession> sessions;
  for (std::size_t i = 0; i < data_.stores.size(); ++i) {
    std::ranges::move(sessions_of(data_.stores[i], i), std::back_inserter(sessions));
  }
  add_made_sessions(sessions, options_);
  std::size_t next = 0;
  for (int day = 1; day <= kLastDay; ++day) {
    // A new process each day, as agents are.
    move_to(day, hours(10));
    const double begin = wall_seconds();
    BMAD_TRY_ASSIGN(MemoryManager memory,
                    MemoryManager::open({.root = root_, .agent_id = "bmad-bench"}));
    for (; next < sessions.size() && sessions[next].day == day; ++next) {
      BMAD_TRY(record(memory, sessions[next]));
    }
    recording_seconds_ += wall_seconds() - begin;
    if (std::ranges::find(kProbeDays, day) != kProbeDays.end()) {
      // In the morning of the last day: what is older than 90 days may go.
      move_to(day, hours(day == kLastDay ? 9 : 18));
      BMAD_TRY(probe(day));
    }
  }
  return {};
}

Status Month::record(MemoryManager& memory, const DaySession& session) {
  BMAD_TRY(memory.create_session({.session_id = session.id}));
  const std::vector<std::string_view> lines(session.lines.begin(), session.lines.end());
  BMAD_TRY_ASSIGN(const BatchReport report, memory.add_batch(session.id, session.type, lines));
  for (std::size_t i = 0; i < session.keys.size() && i < report.ids.size(); ++i) {
    recorded_[session.keys[i]] = {.id = report.ids[i], .day = session.day};
  }
  entries_ += report.ids.size();
  ++sessions_;
  BMAD_TRY(memory.close_session(session.id));
  return {};
}

Status Month::probe(int day) {
  BMAD_TRY_ASSIGN(const MemoryManager memory,
                  MemoryManager::open({.root = root_, .agent_id = "bmad-bench"}));
  BMAD_TRY_ASSIGN(const std::vector<ArchivedSession> archived, memory.archived_sessions());
  ProbeDay probe{
      .day = day, .entries = entries_, .sessions = sessions_, .archived = archived.size()};
  for (const Question& question : data_.questions) {
    const bool known = std::ranges::all_of(question.relevant, [&](const std::string& id) {
      return recorded_.contains(key_of(question.store, id));
    });
    if (known && !question.relevant.empty()) {
      BMAD_TRY(ask(memory, question, probe));
    }
  }
  probes_.push_back(std::move(probe));
  return {};
}

/// Each way first in turn, so that neither always profits from what the other read.
Status Month::ask(const MemoryManager& memory, const Question& question, ProbeDay& probe) {
  const std::size_t first = probe.questions++ % kAskedWays.size();
  for (std::size_t i = 0; i < kAskedWays.size(); ++i) {
    BMAD_TRY(ask_one_way(memory, question, (first + i) % kAskedWays.size(), probe));
  }
  return {};
}

Status Month::ask_one_way(const MemoryManager& memory, const Question& question, std::size_t way,
                          ProbeDay& probe) {
  Query query{.text = question.text, .filter = {.limit = kBest}};
  if (kWays[index_of(kAskedWays[way])].text_alone) {
    query.weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0};
  }
  const double begin = wall_seconds();
  const Result<std::vector<Hit>> hits = memory.query(query);
  probe.times_ms[way].push_back((wall_seconds() - begin) * 1e3);
  if (!hits && hits.error().code != ErrorCode::E_INVALID_QUERY) {
    return hits.error();
  }
  std::vector<std::string> found;
  if (hits) {
    std::ranges::transform(*hits, std::back_inserter(found),
                           [](const Hit& hit) { return hit.entry.id; });
  }
  if (kAskedWays[way] == Way::kDefault) {
    probe.refused += hits ? 0 : 1;
    probe.empty += hits && hits->empty() ? 1 : 0;
  }
  std::array<std::vector<std::string>, kAgeGroupCount> by_age;
  for (const std::string& id : question.relevant) {
    const Recorded& recorded = recorded_.at(key_of(question.store, id));
    by_age[static_cast<std::size_t>(age_group(days(probe.day - recorded.day)))].push_back(
        recorded.id);
  }
  for (std::size_t age = 0; age < kAgeGroupCount; ++age) {
    if (!by_age[age].empty()) {
      row_of(probe.day, age).means[way].add(score_ranking(found, by_age[age]));
    }
  }
  return {};
}

AgeRow& Month::row_of(int day, std::size_t age) {
  const auto found = std::ranges::find_if(
      rows_, [&](const AgeRow& row) { return row.day == day && row.age == age; });
  if (found != rows_.end()) {
    return *found;
  }
  rows_.push_back({.day = day, .age = age});
  std::ranges::sort(rows_, {}, [](const AgeRow& row) { return std::pair(row.day, row.age); });
  return row_of(day, age);
}

std::string Month::text() const {
  std::string text =
      "| day | answer is      | questions | R@10 default | R@10 text alone | difference |\n"
      "| --- | -------------- | --------- | -----------: | --------------: | ---------: |\n";
  for (const AgeRow& row : rows_) {
    const double by_default = 100 * row.means[0].mean().recall_at_10();
    const double by_text = 100 * row.means[1].mean().recall_at_10();
    text += fmt::format("| {:>3} | {:<14} | {:>9} | {:>12.1f} | {:>15.1f} | {:>+10.1f} |\n",
                        row.day, kAgeNames[row.age], row.means[0].count(), by_default, by_text,
                        by_default - by_text);
  }
  text +=
      "\n| day | entries | sessions | archived | questions | refused | empty | p50 default | p95 "
      "default | p50 text alone | p95 text alone |\n"
      "| --- | ------- | -------- | -------- | --------- | ------- | ----- | ----------: | "
      "----------: | -------------: | -------------: |\n";
  for (const ProbeDay& probe : probes_) {
    text += fmt::format("| {:>3} | {:>7} | {:>8} | {:>8} | {:>9} | {:>7} | {:>5} |", probe.day,
                        probe.entries, probe.sessions, probe.archived, probe.questions,
                        probe.refused, probe.empty);
    for (std::size_t way = 0; way < kAskedWays.size(); ++way) {
      const Percentiles times =
          probe.times_ms[way].empty() ? Percentiles() : percentiles_of(probe.times_ms[way]);
      const int width = way == 0 ? 8 : 11;
      text += fmt::format(" {:>{}.2f} ms | {:>{}.2f} ms |", times.p50, width, times.p95, width);
    }
    text += '\n';
  }
  return text + fmt::format("\nrecording and maintenance: {:.1f} s for {} entries\n",
                            recording_seconds_, entries_);
}

void Month::write(JsonWriter& json) const {
  json.key("ages").begin_array();
  for (const AgeRow& row : rows_) {
    json.begin_object().member("day", row.day).member("age", kAgeNames[row.age]);
    json.member("questions", row.means[0].count());
    json.member("recall_at_10_default", row.means[0].mean().recall_at_10());
    json.member("recall_at_10_text", row.means[1].mean().recall_at_10()).end_object();
  }
  json.end_array().key("days").begin_array();
  for (const ProbeDay& probe : probes_) {
    json.begin_object().member("day", probe.day).member("entries", probe.entries);
    json.member("sessions", std::uint64_t{probe.sessions});
    json.member("archived", std::uint64_t{probe.archived});
    json.member("questions", probe.questions).member("refused", probe.refused);
    json.member("empty", probe.empty);
    for (std::size_t way = 0; way < kAskedWays.size(); ++way) {
      if (!probe.times_ms[way].empty()) {
        const Percentiles times = percentiles_of(probe.times_ms[way]);
        json.key(fmt::format("{}_ms", kWays[index_of(kAskedWays[way])].name)).begin_object();
        json.member("p50", times.p50).member("p95", times.p95).end_object();
      }
    }
    json.end_object();
  }
  json.end_array().member("recording_seconds", recording_seconds_);
}

void print(std::FILE* to, std::string_view text) { std::fwrite(text.data(), 1, text.size(), to); }

}  // namespace

Status run_month(const MonthOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(options.data, error)) {
    print(stdout, fmt::format("skipped: there is no folder {}; name one with --data that holds "
                              "corpus.jsonl and queries.jsonl\n",
                              options.data));
    return {};
  }
  BMAD_TRY_ASSIGN(const RetrievalData data, read_retrieval_data(options.data));
  const Environment environment = environment_of(options.directory);  // Before the clock is moved.
  print(stderr, fmt::format("living {} days in {} sessions of {} entries ...\n", kLastDay - 1,
                            options.sessions, options.entries));
  Month month(options, data);
  BMAD_TRY(month.run());
  if (!options.json) {
    print(stdout, environment_text(environment) + '\n' + month.text());
    return {};
  }
  JsonWriter json;
  json.begin_object().key("environment");
  write_environment(json, environment);
  json.member("data", options.data).member("seed", options.seed);
  month.write(json);
  print(stdout, json_pretty(json.end_object().text()) + '\n');
  return {};
}

}  // namespace bmad_mem::bench
