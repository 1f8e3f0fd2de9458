// lock_rows.cpp - what waiting for a session's lock is like: who gets it, how long it takes, and
// when it is given up.
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "raw_append.hpp"
#include "stopwatch.hpp"
#include "store_rows.hpp"
#include "workers.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kProcesses = 8;

struct Fairness {
  double most = 0;
  double least = 0;
  double longest_ms = 0;
  [[nodiscard]] double ratio() const { return most / std::max(least, 1.0); }
};

Fairness fairness_of(const std::vector<WorkerResult>& results) {
  Fairness fairness;
  fairness.least = static_cast<double>(results.front().count);
  for (const WorkerResult& result : results) {
    const auto count = static_cast<double>(result.count);
    fairness.most = std::max(fairness.most, count);
    fairness.least = std::min(fairness.least, count);
    fairness.longest_ms = std::max(fairness.longest_ms, result.longest * 1e3);
  }
  return fairness;
}

Result<Fairness> our_fairness(const StoreRun& run, double seconds) {
  BMAD_TRY_ASSIGN(const std::string session, run.store.new_session());
  const Work work = [&](StartLine& start, WorkerResult& result) -> Status {
    BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open(std::chrono::seconds(60)));
    const auto append = [&]() -> Status {
      BMAD_TRY(memory.add_conversation(session, {.role = "user", .content = "tick"}));
      return {};
    };
    BMAD_TRY(append());
    start.wait();
    return repeat_for(seconds, append, result);
  };
  BMAD_TRY_ASSIGN(const std::vector<WorkerResult> results, run_workers(kProcesses, work));
  return fairness_of(results);
}

Result<Fairness> raw_fairness(const StoreRun& run, double seconds) {
  const std::string path = run.store.folder() + "/fairness.raw";
  const std::string line(80, '\n');
  const Work work = [&](StartLine& start, WorkerResult& result) -> Status {
    BMAD_TRY_ASSIGN(RawAppender raw, RawAppender::open(path));
    start.wait();
    return repeat_for(seconds, [&] { return raw.append(line); }, result);
  };
  BMAD_TRY_ASSIGN(const std::vector<WorkerResult> results, run_workers(kProcesses, work));
  return fairness_of(results);
}

Row fairness_row(const Fairness& ours, const Fairness& raw, double seconds) {
  Row row{
      .what = "lock: most / least turns of eight processes",
      .unit = "",
      .ours = single(ours.ratio()),
      .baseline_name = "F_OFD_SETLKW alone",
      .baseline = single(raw.ratio()),
      .target = Target{.of = TargetOf::kOurs, .better = Better::kLower, .required = 2, .aim = {}}};
  row.note = fmt::format("ours {:.0f} / {:.0f} appends in {} s, raw {:.0f} / {:.0f}; not a gate",
                         ours.most, ours.least, seconds, raw.most, raw.least);
  return row;
}

}  // namespace

Result<std::vector<Row>> fairness_rows(const StoreRun& run) {
  const double seconds = run.seconds(5);
  BMAD_TRY_ASSIGN(const Fairness ours, our_fairness(run, seconds));
  BMAD_TRY_ASSIGN(const Fairness raw, raw_fairness(run, seconds));
  Row wait{.what = "lock: longest append of those, wait and sync",
           .unit = "ms",
           .ours = single(ours.longest_ms),
           .baseline_name = "F_OFD_SETLKW alone",
           .baseline = single(raw.longest_ms)};
  return std::vector<Row>{fairness_row(ours, raw, seconds), wait};
}

namespace {

/// Milliseconds by which a wait for a held lock ended after its time-out.
///
/// The holder is a descriptor of its own in the same process: an open-file-description lock
/// excludes every other open file description, whichever process it is in, so that this is as good
/// as a second process, and it can't outlive the test.
Status measure_lateness(const StoreRun& run, const std::string& session,
                        std::chrono::milliseconds asked, WorkerResult& result) {
  BMAD_TRY_ASSIGN(MemoryManager memory, run.store.open(asked));
  BMAD_TRY(memory.add_conversation(session, run.store.entry()));
  const std::string path = run.store.session_file(session, ".lock");
  const int holder = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (holder < 0) {
    return system_error("open", path);
  }
  BMAD_TRY(set_whole_file_lock(holder, F_WRLCK));
  result.begin = wall_seconds();
  const Result<std::string> added = memory.add_conversation(session, run.store.entry());
  result.end = wall_seconds();
  BMAD_TRY(set_whole_file_lock(holder, F_UNLCK));
  ::close(holder);
  if (added || added.error().code != ErrorCode::E_LOCK_TIMEOUT) {
    return Error{.message = added ? "an append went past a held lock" : added.error().to_string()};
  }
  // What timed out must not stand in the way of the next.
  BMAD_TRY(memory.add_conversation(session, run.store.entry()));
  return {};
}

}  // namespace

Result<std::vector<Row>> timeout_rows(const StoreRun& run) {
  constexpr std::chrono::milliseconds kAsked(200);
  BMAD_TRY_ASSIGN(const std::string session, run.store.new_session());
  std::vector<double> late;
  for (std::size_t i = run.times(15); i > 0; --i) {
    // In a child, since a wait that timed out leaves a thread behind.
    const Work work = [&](StartLine& start, WorkerResult& result) -> Status {
      start.wait();
      return measure_lateness(run, session, kAsked, result);
    };
    BMAD_TRY_ASSIGN(const std::vector<WorkerResult> results, run_workers(1, work));
    late.push_back((results.front().end - results.front().begin) * 1e3 -
                   static_cast<double>(kAsked.count()));
  }
  Row row{.what = "lock: time-out of 200 ms, how late", .unit = "ms", .ours = summarize(late)};
  row.note = fmt::format("earliest {:.3f} ms, latest {:.3f} ms after the time asked for",
                         std::ranges::min(late), std::ranges::max(late));
  return std::vector<Row>{row};
}

}  // namespace bmad_mem::bench
