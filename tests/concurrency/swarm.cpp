#include "concurrency/swarm.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "concurrency/child.hpp"
#include "concurrency/swarm_entries.hpp"

namespace bmad_mem::test {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

std::string session_of(const SwarmPlan& plan, unsigned writer) {
  return fmt::format("swarm-{:02}", writer % plan.sessions);
}

/// The value, or the error as an exception: whatever it is, the swarm has failed.
template <typename T>
T expect(Result<T> result) {
  if (!result) {
    throw std::runtime_error(
        fmt::format("{}: {}", error_code_name(result.error().code), result.error().to_string()));
  }
  return std::move(*result);
}

MemoryManager open_memory(const SwarmPlan& plan, std::string agent_id) {
  return expect(MemoryManager::open(
      {.root = plan.root, .agent_id = std::move(agent_id), .lock_timeout = milliseconds(120'000)}));
}

void make_sessions(const SwarmPlan& plan) {
  expect(MemoryManager::init(plan.root));
  MemoryManager memory = open_memory(plan, "swarm");
  for (unsigned i = 0; i < plan.sessions; ++i) {
    expect(memory.create_session({.session_id = session_of(plan, i)}));
  }
}

/// Appends entry `number`, unless it may be there already and is. Returns whether it was.
bool append_entry(MemoryManager& memory, const std::string& session, const SwarmEntry& entry,
                  bool may_be_there) {
  const std::string json = entry.json();
  if (!may_be_there) {
    expect(memory.add(session, EntryType::kConversation, json));
    return false;
  }
  const std::string_view line = json;
  const BatchReport report = expect(memory.add_batch(session, EntryType::kConversation, {&line, 1},
                                                     {.known = KnownEntries::kSkipId}));
  return report.skipped == 1;
}

// --- Writers that are processes. ---

constexpr int kEndedWell = 0;
constexpr int kFirstWasThere = 1;

/// One writer's life: from entry `first` to the last one. Ids go to `acknowledgements`.
int write_entries(const SwarmPlan& plan, SwarmBoard& board, unsigned writer, unsigned first,
                  int acknowledgements) {
  MemoryManager memory = open_memory(plan, fmt::format("writer-{:02}", writer));
  bool first_was_there = false;
  for (unsigned number = first; number < plan.entries; ++number) {
    const SwarmEntry entry{.seed = plan.seed, .writer = writer, .number = number};
    const bool retried = number == first && first > 0;
    first_was_there |= append_entry(memory, session_of(plan, writer), entry, retried);
    const std::string id = entry.id() + "\n";
    if (::write(acknowledgements, id.data(), id.size()) != std::ssize(id)) {
      return 101;
    }
    board.acknowledged[writer] = number + 1;
  }
  return first_was_there ? kFirstWasThere : kEndedWell;
}

/// A writer as its parent sees it: the process, its pipe, and how far it came.
class WriterProcess {
 public:
  WriterProcess(const SwarmPlan& plan, SwarmBoard& board, unsigned writer,
                std::deque<unsigned> kill_at)
      : plan_(plan), board_(board), writer_(writer), kill_at_(std::move(kill_at)) {
    start();
  }
  WriterProcess(const WriterProcess&) = delete;
  WriterProcess& operator=(const WriterProcess&) = delete;
  ~WriterProcess() { close_pipe(); }

  [[nodiscard]] int descriptor() const { return read_end_; }
  [[nodiscard]] bool ended() const { return read_end_ < 0; }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] unsigned kills() const { return kills_; }

  /// There is something in the pipe, or its end.
  /// Returns how many more entries are acknowledged.
  unsigned take_acknowledgements() {
    const unsigned before = acknowledged_;
    std::array<char, 4096> buffer;
    const ssize_t size = ::read(read_end_, buffer.data(), buffer.size());
    if (size <= 0) {
      take_end();
      return 0;
    }
    unread_.append(buffer.data(), static_cast<std::size_t>(size));
    for (std::size_t end; (end = unread_.find('\n')) != std::string::npos;) {
      const SwarmEntry expected{.seed = plan_.seed, .writer = writer_, .number = acknowledged_};
      if (unread_.substr(0, end) != expected.id()) {
        problem_ =
            fmt::format("{} was acknowledged instead of {}", unread_.substr(0, end), expected.id());
      }
      unread_.erase(0, end + 1);
      ++acknowledged_;
    }
    return acknowledged_ - before;
  }

  /// Kills it when it has come so far, after `delay` of doing nothing: so it dies anywhere.
  void kill_when_due(std::chrono::microseconds delay) {
    if (process_ == nullptr || kill_at_.empty() || acknowledged_ < kill_at_.front()) {
      return;  // One that was killed may have left acknowledgements in its pipe.
    }
    kill_at_.pop_front();
    const auto until = SteadyClock::now() + delay;
    while (SteadyClock::now() < until) {
    }
    process_->kill();
    process_.reset();
    ++kills_;
  }

 private:
  void start() {
    int ends[2];
    if (::pipe(ends) != 0) {
      throw std::runtime_error("pipe");
    }
    read_end_ = ends[0];
    process_ = std::make_unique<Child>([&] {
      ::close(ends[0]);
      return write_entries(plan_, board_, writer_, acknowledged_, ends[1]);
    });
    ::close(ends[1]);
  }

  /// The pipe is at its end, so the process is, or soon will be.
  void take_end() {
    close_pipe();
    unread_.clear();
    if (process_ == nullptr) {  // Killed.
      start();
      return;
    }
    const int status = process_->wait();
    process_.reset();
    if ((status != kEndedWell && status != kFirstWasThere) || acknowledged_ != plan_.entries) {
      problem_ =
          fmt::format("writer {} ended with {} after {} entries", writer_, status, acknowledged_);
    }
  }

  void close_pipe() {
    if (read_end_ >= 0) {
      ::close(read_end_);
    }
    read_end_ = -1;
  }

  const SwarmPlan& plan_;
  SwarmBoard& board_;
  unsigned writer_;
  std::deque<unsigned> kill_at_;
  std::unique_ptr<Child> process_;
  int read_end_ = -1;
  std::string unread_;
  unsigned acknowledged_ = 0;
  unsigned kills_ = 0;
  std::string problem_;
};

std::deque<unsigned> kill_times(const SwarmPlan& plan, std::mt19937& random) {
  std::uniform_int_distribution<unsigned> any(0, plan.entries * 9 / 10);
  std::deque<unsigned> times;
  for (unsigned i = 0; i < plan.kills; ++i) {
    times.push_back(any(random));
  }
  std::ranges::sort(times);
  return times;
}

/// Tells the readers when to look: evenly over the writers' work, and when it is done.
class LookOuts {
 public:
  explicit LookOuts(const SwarmPlan& plan)
      : step_(std::max(1U, plan.writers * plan.entries / plan.looks)) {
    for (unsigned i = 0; i < plan.readers; ++i) {
      signals_.push_back(std::make_unique<Signal>());
    }
  }
  [[nodiscard]] const Signal& signal(unsigned reader) const { return *signals_[reader]; }
  /// `count` more entries were acknowledged.
  void acknowledged(unsigned count) {
    const unsigned before = acknowledged_.fetch_add(count);
    if (before / step_ != (before + count) / step_) {
      raise();
    }
  }
  void raise() {
    for (const auto& signal : signals_) {
      signal->raise();
    }
  }

 private:
  unsigned step_;
  std::atomic<unsigned> acknowledged_ = 0;
  std::vector<std::unique_ptr<Signal>> signals_;
};

/// Listens to all writers until the last one has ended, killing some.
void tend_writers(std::vector<std::unique_ptr<WriterProcess>>& writers, LookOuts& look_outs,
                  std::mt19937& random) {
  std::uniform_int_distribution<int> delay_us(0, 3000);
  while (true) {
    std::vector<pollfd> pipes;
    std::vector<WriterProcess*> owners;
    for (const auto& writer : writers) {
      if (!writer->ended()) {
        pipes.push_back({.fd = writer->descriptor(), .events = POLLIN, .revents = 0});
        owners.push_back(writer.get());
      }
    }
    if (pipes.empty()) {
      return;
    }
    if (::poll(pipes.data(), pipes.size(), -1) < 0 && errno != EINTR) {
      throw std::runtime_error("poll");
    }
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (pipes[i].revents != 0) {
        look_outs.acknowledged(owners[i]->take_acknowledgements());
        owners[i]->kill_when_due(std::chrono::microseconds(delay_us(random)));
      }
    }
  }
}

// --- Readers. ---

/// One look at the session: whole entries only, each writer's from the first on without a gap, and
/// as many as were acknowledged before.
std::string look(const MemoryManager& memory, const SwarmPlan& plan, const SwarmBoard& board) {
  std::array<std::uint32_t, kWritersMax> before{};
  std::ranges::transform(board.acknowledged, before.begin(),
                         [](const auto& count) { return count.load(); });
  std::vector<Entry> entries =
      expect(memory.list({.types = {EntryType::kConversation}, .limit = 0}));
  std::ranges::sort(entries, {}, &Entry::line);  // All of a writer are in one session.
  SwarmTally tally(plan.seed, plan.writers);
  for (const Entry& entry : entries) {
    tally.count(entry.json);
  }
  for (unsigned writer = 0; writer < plan.writers; ++writer) {
    if (tally.count_of(writer) < before[writer]) {
      return fmt::format("a reader saw {} entries of writer {}, of which {} were acknowledged",
                         tally.count_of(writer), writer, before[writer]);
    }
  }
  for (unsigned i = 0; i < plan.sessions; ++i) {
    const SessionStatistics statistics = expect(memory.statistics(session_of(plan, i)));
    if (statistics.damaged_lines() != 0) {
      return fmt::format("a reader saw {} damaged lines", statistics.damaged_lines());
    }
  }
  return tally.problem();
}

struct ReaderResult {
  unsigned looks = 0;
  std::string problem;
};

ReaderResult keep_looking(const MemoryManager& memory, const SwarmPlan& plan,
                          const SwarmBoard& board, const Signal& look_out) {
  ReaderResult result;
  for (bool last = false; !last && result.problem.empty();) {
    look_out.wait();
    last = board.done;  // Asked before the look: the last one sees everything.
    result.problem = look(memory, plan, board);
    ++result.looks;
  }
  return result;
}

/// In a child: its exit status is 101 for a problem, or the number of looks, at most 100.
int read_in_process(const SwarmPlan& plan, const SwarmBoard& board, const Signal& look_out) {
  const MemoryManager memory = open_memory(plan, "reader");
  const ReaderResult result = keep_looking(memory, plan, board, look_out);
  if (!result.problem.empty()) {
    fmt::print(stderr, "{}\n", result.problem);
    return 101;
  }
  return static_cast<int>(std::min(result.looks, 100U));
}

void note_problem(SwarmReport& report, const std::string& problem) {
  if (report.problem.empty()) {
    report.problem = problem;
  }
}

/// What lies on disk when everybody has finished.
void check_end(const SwarmPlan& plan, SwarmReport& report) {
  SwarmTally tally(plan.seed, plan.writers);
  for (unsigned i = 0; i < plan.sessions; ++i) {
    tally.count_log(plan.root + "/sessions/" + session_of(plan, i) + "/conversation.jsonl");
  }
  note_problem(report, tally.problem());
  for (unsigned writer = 0; writer < plan.writers; ++writer) {
    if (tally.count_of(writer) != plan.entries) {
      note_problem(report, fmt::format("writer {} has {} entries", writer, tally.count_of(writer)));
    }
  }
  const MemoryManager memory = open_memory(plan, "check");
  const VerifyReport verified = expect(memory.verify());
  if (!verified.findings.empty()) {
    note_problem(report, verified.findings.front().reason);
  }
  std::uint64_t versions = 0;
  std::uint64_t entries = 0;
  for (unsigned i = 0; i < plan.sessions; ++i) {
    const SessionStatistics statistics = expect(memory.statistics(session_of(plan, i)));
    report.quarantined += static_cast<unsigned>(statistics.quarantined);
    versions += statistics.versions();
    entries += statistics.entries();
  }
  if (versions != std::uint64_t{plan.writers} * plan.entries || entries != versions) {
    note_problem(report, fmt::format("{} versions of {} entries", versions, entries));
  }
}

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

}  // namespace

SwarmReport run_processes(const SwarmPlan& plan) {
  const auto start = SteadyClock::now();
  make_sessions(plan);
  std::mt19937 random(plan.seed);
  SwarmReport report;
  const Shared<SwarmBoard> board;
  LookOuts look_outs(plan);
  std::vector<Child> readers;
  for (unsigned i = 0; i < plan.readers; ++i) {
    readers.emplace_back([&] { return read_in_process(plan, *board, look_outs.signal(i)); });
  }
  std::vector<std::unique_ptr<WriterProcess>> writers;
  for (unsigned i = 0; i < plan.writers; ++i) {
    writers.push_back(std::make_unique<WriterProcess>(plan, *board, i, kill_times(plan, random)));
  }
  tend_writers(writers, look_outs, random);
  board->done = true;
  look_outs.raise();
  for (Child& reader : readers) {
    const int status = reader.wait();
    report.looks += static_cast<unsigned>(std::max(status, 0));
    if (status < 1 || status > 100) {
      note_problem(report, "a reader saw what should not be there; it stands above");
    }
  }
  for (const auto& writer : writers) {
    note_problem(report, writer->problem());
    report.kills += writer->kills();
  }
  check_end(plan, report);
  report.seconds = seconds_since(start);
  return report;
}

SwarmReport run_threads(const SwarmPlan& plan) {
  const auto start = SteadyClock::now();
  make_sessions(plan);
  SwarmReport report;
  {
    SwarmBoard board;
    LookOuts look_outs(plan);
    MemoryManager memory = open_memory(plan, "threads");
    std::vector<std::thread> writers;
    for (unsigned writer = 0; writer < plan.writers; ++writer) {
      writers.emplace_back([&, writer] {
        for (unsigned number = 0; number < plan.entries; ++number) {
          append_entry(memory, session_of(plan, writer),
                       {.seed = plan.seed, .writer = writer, .number = number}, false);
          board.acknowledged[writer] = number + 1;
          look_outs.acknowledged(1);
        }
      });
    }
    std::vector<ReaderResult> results(plan.readers);
    std::vector<std::thread> readers;
    for (unsigned i = 0; i < plan.readers; ++i) {
      readers.emplace_back(
          [&, i] { results[i] = keep_looking(memory, plan, board, look_outs.signal(i)); });
    }
    for (std::thread& writer : writers) {
      writer.join();
    }
    board.done = true;
    look_outs.raise();
    for (std::thread& reader : readers) {
      reader.join();
    }
    for (const ReaderResult& result : results) {
      report.looks += result.looks;
      note_problem(report, result.problem);
    }
  }
  check_end(plan, report);
  report.seconds = seconds_since(start);
  return report;
}

}  // namespace bmad_mem::test
