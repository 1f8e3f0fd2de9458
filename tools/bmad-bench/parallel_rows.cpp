// parallel_rows.cpp - eight writers in one session, as processes and as threads, against one.
//
// One journal commit of the file system makes all durable that was written before it, so eight
// writers that sync outside the lock are faster than one. How much faster the raw appends show.
#include <thread>

#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "raw_append.hpp"
#include "store_rows.hpp"
#include "workers.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kWriters = 8;
constexpr double kSeconds = 0.5;  // Of each measurement, at full effort.

/// Appends a second by `processes` processes, each with a manager of its own.
Result<double> process_rate(const StoreRun& run, std::size_t processes, double seconds) {
  BMAD_TRY_ASSIGN(const std::string session, run.store.new_session());
  const Work work = [&](StartLine& start, WorkerResult& result) -> Status {
    BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open());
    const auto append = [&]() -> Status {
      BMAD_TRY(memory.add_conversation(session, run.store.entry()));
      return {};
    };
    BMAD_TRY(append());
    start.wait();
    return repeat_for(seconds, append, result);
  };
  BMAD_TRY_ASSIGN(const std::vector<WorkerResult> results, run_workers(processes, work));
  return rate_of(results);
}

/// Runs in the threads of a worker.
Status append_in_threads(MemoryManager& memory, const std::string& session,
                         const ConversationEntry& entry, double seconds, WorkerResult& result) {
  std::vector<WorkerResult> results(kWriters);
  std::vector<Status> outcomes(kWriters);
  std::vector<std::thread> threads;
  threads.reserve(kWriters);
  for (std::size_t i = 0; i < kWriters; ++i) {
    threads.emplace_back([&, i] {
      const auto append = [&]() -> Status {
        BMAD_TRY(memory.add_conversation(session, entry));
        return {};
      };
      outcomes[i] = repeat_for(seconds, append, results[i]);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  result = results.front();
  for (std::size_t i = 0; i < kWriters; ++i) {
    BMAD_TRY(outcomes[i]);
    result.count += i == 0 ? 0 : results[i].count;
    result.begin = std::min(result.begin, results[i].begin);
    result.end = std::max(result.end, results[i].end);
  }
  return {};
}

/// Appends a second by the threads of one process, which share a manager. In a child, because a
/// wait for the lock leaves a thread behind, and this process forks again.
Result<double> thread_rate(const StoreRun& run, double seconds) {
  BMAD_TRY_ASSIGN(const std::string session, run.store.new_session());
  const Work work = [&](StartLine& start, WorkerResult& result) -> Status {
    BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open());
    BMAD_TRY(memory.add_conversation(session, run.store.entry()));
    start.wait();
    return append_in_threads(memory, session, run.store.entry(), seconds, result);
  };
  BMAD_TRY_ASSIGN(const std::vector<WorkerResult> results, run_workers(1, work));
  return rate_of(results);
}

Result<double> raw_rate(const StoreRun& run, std::size_t processes, double seconds) {
  const std::string path = run.store.folder() + "/parallel.raw";
  const std::string line = std::string(kEntrySize - 1, 'x') + '\n';
  const Work work = [&](StartLine& start, WorkerResult& result) -> Status {
    BMAD_TRY_ASSIGN(RawAppender raw, RawAppender::open(path));
    BMAD_TRY(raw.append(line));
    start.wait();
    return repeat_for(seconds, [&] { return raw.append(line); }, result);
  };
  BMAD_TRY_ASSIGN(const std::vector<WorkerResult> results, run_workers(processes, work));
  return rate_of(results);
}

struct Rounds {
  std::vector<double> one;
  std::vector<double> processes;
  std::vector<double> threads;
  std::vector<double> process_ratio;
  std::vector<double> thread_ratio;
  std::vector<double> raw_one;
  std::vector<double> raw_processes;
  std::vector<double> raw_ratio;
};

Result<Rounds> run_rounds(const StoreRun& run) {
  Rounds rounds;
  const double seconds = run.seconds(kSeconds);
  for (std::size_t i = run.times(7); i > 0; --i) {
    BMAD_TRY_ASSIGN(const double one, process_rate(run, 1, seconds));
    BMAD_TRY_ASSIGN(const double processes, process_rate(run, kWriters, seconds));
    BMAD_TRY_ASSIGN(const double threads, thread_rate(run, seconds));
    BMAD_TRY_ASSIGN(const double raw_one, raw_rate(run, 1, seconds));
    BMAD_TRY_ASSIGN(const double raw_all, raw_rate(run, kWriters, seconds));
    rounds.one.push_back(one);
    rounds.processes.push_back(processes);
    rounds.threads.push_back(threads);
    rounds.process_ratio.push_back(processes / one);
    rounds.thread_ratio.push_back(threads / one);
    rounds.raw_one.push_back(raw_one);
    rounds.raw_processes.push_back(raw_all);
    rounds.raw_ratio.push_back(raw_all / raw_one);
  }
  return rounds;
}

}  // namespace

Result<std::vector<Row>> parallel_rows(const StoreRun& run) {
  BMAD_TRY_ASSIGN(const Rounds rounds, run_rounds(run));
  Row processes{.what = "eight processes appending to one session",
                .unit = "/s",
                .ours = summarize(rounds.processes),
                .baseline_name = "by one",
                .baseline = summarize(rounds.one),
                .ratio = summarize(rounds.process_ratio),
                .target = Target{.required = 1.8, .aim = 2.3}};
  processes.note = fmt::format("{} rounds of {} s; each process has a manager of its own",
                               rounds.one.size(), run.seconds(kSeconds));
  Row threads{.what = "eight threads appending to one session",
              .unit = "/s",
              .ours = summarize(rounds.threads),
              .baseline_name = "by one",
              .baseline = summarize(rounds.one),
              .ratio = summarize(rounds.thread_ratio)};
  threads.note = "one process, one manager that all threads share";
  Row raw{.what = "the limit: eight processes, raw appends",
          .unit = "/s",
          .ours = summarize(rounds.raw_processes),
          .baseline_name = "by one",
          .baseline = summarize(rounds.raw_one),
          .ratio = summarize(rounds.raw_ratio)};
  raw.note = "not ours: what sharing journal commits yields on this disk";
  return std::vector<Row>{processes, threads, raw};
}

}  // namespace bmad_mem::bench
