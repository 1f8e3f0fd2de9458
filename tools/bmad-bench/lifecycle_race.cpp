// lifecycle_race.cpp - who waits for a compaction: three processes on one session.
//
//   reader   query  query  query |query  query ...                query| query
//   writer   append append append|append                        append| append
//   third                        |<---------- compact() ------------->|
//
// Reader and writer pause for a millisecond between calls: three that never rest on two cores wait
// for each other whatever the engine does.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <thread>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "lifecycle_rows.hpp"
#include "stopwatch.hpp"
#include "workers.hpp"

namespace bmad_mem::bench {
namespace {

enum class Phase : int { kBefore, kDuring, kAfter };

/// Seconds that the slowest call took.
struct Slowest {
  double before = 0;
  double during = 0;  ///< Of calls that ran at any time of the compaction.
  std::uint64_t calls_during = 0;
};

/// What the three processes share.
struct Board {
  std::atomic<Phase> phase = Phase::kBefore;
  Slowest reader;
  Slowest writer;
  double compaction = 0;  ///< Seconds.
};
static_assert(std::atomic<Phase>::is_always_lock_free, "it is shared by processes");

class SharedBoard {
 public:
  SharedBoard() {
    memory_ =
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (good()) {
      board_ = new (memory_) Board();
    }
  }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  ~SharedBoard() {
    if (good()) {
      ::munmap(memory_, sizeof(Board));
    }
  }
  [[nodiscard]] bool good() const { return memory_ != MAP_FAILED; }
  Board& operator*() const { return *board_; }

 private:
  void* memory_ = nullptr;
  Board* board_ = nullptr;
};

/// Calls `step` until the compaction is over, and once more.
Status repeat_until_after(const Board& board, Slowest& slowest, const std::function<Status()>& step,
                          WorkerResult& result) {
  Phase phase = Phase::kBefore;
  while (phase != Phase::kAfter) {
    const Phase at_begin = board.phase;
    const double begin = wall_seconds();
    BMAD_TRY(step());
    const double took = wall_seconds() - begin;
    phase = board.phase;
    const bool is_before = phase == Phase::kBefore;
    double& longest = is_before ? slowest.before : slowest.during;
    if (at_begin != Phase::kAfter) {
      longest = std::max(longest, took);
      slowest.calls_during += is_before ? 0 : 1;
    }
    ++result.count;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

class Race {
 public:
  Race(const SearchStore& store, const StoreCopy& copy, Board& board)
      : store_(store), copy_(copy), board_(board) {}

  Status run() {
    const std::vector<Work> works = {
        [this](StartLine& start, WorkerResult&) { return compact(start); },
        [this](StartLine& start, WorkerResult& result) { return read(start, result); },
        [this](StartLine& start, WorkerResult& result) { return write(start, result); }};
    const Result<std::vector<WorkerResult>> results = run_workers(works);
    return results ? Status() : Status(results.error());
  }

 private:
  Status compact(StartLine& start) {
    Status done = [&]() -> Status {
      BMAD_TRY_ASSIGN(MemoryManager memory, copy_.open());
      start.wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      board_.phase = Phase::kDuring;
      const double begin = wall_seconds();
      BMAD_TRY(memory.compact(copy_.session()));
      board_.compaction = wall_seconds() - begin;
      return {};
    }();
    board_.phase = Phase::kAfter;  // Also when it failed: the others wait for that.
    return done;
  }

  Status read(StartLine& start, WorkerResult& result) {
    BMAD_TRY_ASSIGN(const MemoryManager memory, copy_.open());
    std::size_t next = 0;
    const auto ask = [&]() -> Status {
      const SearchWords& words = store_.queries[next++ % store_.queries.size()];
      BMAD_TRY(memory.query(text_query(words, TextRanking::kContext)));
      return {};
    };
    BMAD_TRY(ask());
    start.wait();
    return repeat_until_after(board_, board_.reader, ask, result);
  }

  Status write(StartLine& start, WorkerResult& result) {
    BMAD_TRY_ASSIGN(MemoryManager memory, copy_.open());
    const ConversationEntry entry{.role = "user",
                                  .content = "Does somebody wait while the session is compacted?",
                                  .agent_id = "builder"};
    const auto append = [&]() -> Status {
      BMAD_TRY(memory.add_conversation(copy_.session(), entry));
      return {};
    };
    BMAD_TRY(append());
    start.wait();
    return repeat_until_after(board_, board_.writer, append, result);
  }

  const SearchStore& store_;
  const StoreCopy& copy_;
  Board& board_;
};

struct Side {
  Pairs slowest;
  std::vector<double> before;
  std::uint64_t calls = 0;

  void add(const Slowest& side, double compaction) {
    slowest.add(side.during * 1e3, compaction * 1e3);
    before.push_back(side.before * 1e3);
    calls += side.calls_during;
  }
  [[nodiscard]] Row row(std::string what, std::string_view calls_name) const {
    const Target no_longer{
        .of = TargetOf::kRatio, .better = Better::kHigher, .required = 1, .aim = {}};
    Row made = slowest.row(std::move(what), "compact()", no_longer);
    made.note = fmt::format("the slowest of {} {} each time, {} times; before it {:.1f} ms",
                            calls / slowest.ours.size(), calls_name, slowest.ours.size(),
                            summarize(before).median);
    return made;
  }
};

}  // namespace

LifecycleRows race_rows(const LifecycleRun& run) {
  Side reader;
  Side writer;
  for (std::size_t i = 0; i < run.times(7); ++i) {
    BMAD_TRY_ASSIGN(const StoreCopy copy, run.copy());
    const SharedBoard board;
    if (!board.good()) {
      return system_error("share", "memory");
    }
    BMAD_TRY(Race(run.store, copy, *board).run());
    reader.add((*board).reader, (*board).compaction);
    writer.add((*board).writer, (*board).compaction);
  }
  return std::vector<Row>{reader.row("a reader's slowest query during a compaction", "queries"),
                          writer.row("a writer's slowest append during a compaction", "appends")};
}

}  // namespace bmad_mem::bench
