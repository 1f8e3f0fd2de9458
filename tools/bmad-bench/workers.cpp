#include "workers.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

constexpr int kReadyTimeoutMs = 20'000;

/// A worker's place in the shared memory.
struct Slot {
  WorkerResult result;
  std::array<char, 400> problem{};  ///< Zero-terminated; empty when all went well.
};

/// Memory that children share with their parent.
class SharedSlots {
 public:
  explicit SharedSlots(std::size_t count) : size_(count * sizeof(Slot)) {
    memory_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (std::size_t i = 0; good() && i < count; ++i) {
      new (static_cast<Slot*>(memory_) + i) Slot();
    }
  }
  SharedSlots(const SharedSlots&) = delete;
  SharedSlots& operator=(const SharedSlots&) = delete;
  ~SharedSlots() {
    if (good()) {
      ::munmap(memory_, size_);
    }
  }

  [[nodiscard]] bool good() const { return memory_ != MAP_FAILED; }
  Slot& operator[](std::size_t i) { return static_cast<Slot*>(memory_)[i]; }

 private:
  std::size_t size_;
  void* memory_;
};

struct Pipe {
  Pipe() {
    if (::pipe(ends.data()) != 0) {
      ends = {-1, -1};
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  [[nodiscard]] bool good() const { return ends[0] >= 0; }
  void close_end(std::size_t end) {
    if (ends[end] >= 0) {
      ::close(ends[end]);
      ends[end] = -1;
    }
  }
  std::array<int, 2> ends{};
};

[[noreturn]] void be_worker(const Work& work, Slot& slot, Pipe& ready, Pipe& go) {
  go.close_end(1);
  StartLine start(ready.ends[1], go.ends[0]);
  const Status done = work(start, slot.result);
  if (!done) {
    const std::string text = done.error().to_string();
    std::strncpy(slot.problem.data(), text.c_str(), slot.problem.size() - 1);
    start.wait();  // The others must not wait for one that gave up.
  }
  ::_exit(done ? 0 : 1);
}

bool all_ready(std::size_t count, const Pipe& ready) {
  for (std::size_t arrived = 0; arrived < count;) {
    pollfd wanted{.fd = ready.ends[0], .events = POLLIN, .revents = 0};
    char byte = 0;
    if (::poll(&wanted, 1, kReadyTimeoutMs) != 1 || ::read(ready.ends[0], &byte, 1) != 1) {
      return false;
    }
    ++arrived;
  }
  return true;
}

/// Whether all ended by themselves with status 0.
bool reap(const std::vector<pid_t>& children) {
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    good = ::waitpid(child, &status, 0) == child && status == 0 && good;
  }
  return good;
}

}  // namespace

void StartLine::wait() {
  if (passed_) {
    return;
  }
  passed_ = true;
  char byte = 'r';
  if (::write(ready_, &byte, 1) == 1) {
    // Ends when the parent closes the other end; nothing is ever sent.
    while (::read(go_, &byte, 1) > 0) {
    }
  }
}

Result<std::vector<WorkerResult>> run_workers(std::size_t count, const Work& work) {
  return run_workers(std::vector<Work>(count, work));
}

Result<std::vector<WorkerResult>> run_workers(std::span<const Work> works) {
  const std::size_t count = works.size();
  SharedSlots slots(count);
  Pipe ready;
  Pipe go;
  if (!slots.good() || !ready.good() || !go.good()) {
    return system_error("prepare", "worker processes");
  }
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      be_worker(works[i], slots[i], ready, go);
    }
    if (child > 0) {
      children.push_back(child);
    }
  }
  const bool started = children.size() == count && all_ready(count, ready);
  if (!started) {
    for (const pid_t child : children) {
      ::kill(child, SIGKILL);
    }
  }
  go.close_end(1);
  const bool good = reap(children) && started;
  std::vector<WorkerResult> results;
  for (std::size_t i = 0; i < count; ++i) {
    if (slots[i].problem[0] != '\0') {
      return Error{.message = fmt::format("worker {}: {}", i, slots[i].problem.data())};
    }
    results.push_back(slots[i].result);
  }
  if (!good) {
    return Error{.message = "a worker process died or never got ready"};
  }
  return results;
}

Status repeat_for(double seconds, const std::function<Status()>& append, WorkerResult& result) {
  result.begin = wall_seconds();
  const double deadline = result.begin + seconds;
  double before = result.begin;
  while (before < deadline) {
    BMAD_TRY(append());
    const double after = wall_seconds();
    result.longest = std::max(result.longest, after - before);
    ++result.count;
    before = after;
  }
  result.end = before;
  return {};
}

double rate_of(const std::vector<WorkerResult>& results) {
  std::uint64_t count = 0;
  double begin = results.front().begin;
  double end = results.front().end;
  for (const WorkerResult& result : results) {
    count += result.count;
    begin = std::min(begin, result.begin);
    end = std::max(end, result.end);
  }
  return static_cast<double>(count) / (end - begin);
}

}  // namespace bmad_mem::bench
