#include "workers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include <fmt/format.h>

namespace bmad_mem::bench {
namespace {

/// A worker's place in the shared memory.
struct Slot {
  WorkerResult result;
  std::array<char, 400> problem{};  ///< Zero-terminated; empty when all went well.
};

constexpr std::size_t kWorkersMax = 16;

/// Memory that children share with their parent.
struct Board {
  Shared shared;
  std::array<Slot, kWorkersMax> slots;
};
static_assert(std::atomic<int>::is_always_lock_free, "it is shared by processes");

[[noreturn]] void be_worker(const Work& work, Worker worker, Slot& slot) {
  try {
    work(worker);
  } catch (const Error& error) {
    error.to_string().copy(slot.problem.data(), slot.problem.size() - 1);
    worker.start();  // The others must not wait for one that gave up.
    ::_exit(1);
  }
  ::_exit(0);
}

std::vector<WorkerResult> run_on(Board& board, const std::vector<Work>& works) {
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < works.size(); ++i) {
    Slot& slot = board.slots[i];
    const pid_t child = ::fork();
    if (child == 0) {
      be_worker(works[i], Worker(board.shared, static_cast<int>(works.size()), slot.result), slot);
    }
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    good = child > 0 && ::waitpid(child, &status, 0) == child && status == 0 && good;
  }
  std::vector<WorkerResult> results;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const std::string problem = board.slots[i].problem.data();
    ensure(problem.empty(), fmt::format("worker {}: {}", i, problem));
    results.push_back(board.slots[i].result);
  }
  ensure(good, "a worker process died or could not be started");
  return results;
}

}  // namespace

void Worker::start() {
  constexpr double kSecondsMax = 20;
  if (started_) {
    return;
  }
  started_ = true;
  ++shared.arrived;
  const double deadline = wall_seconds() + kSecondsMax;
  while (shared.arrived < count_ && wall_seconds() < deadline) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void Worker::repeat_for(double seconds, const std::function<void()>& step) const {
  result.begin = wall_seconds();
  double before = result.begin;
  while (before < result.begin + seconds) {
    step();
    const double after = wall_seconds();
    result.longest = std::max(result.longest, after - before);
    ++result.count;
    before = after;
  }
  result.end = before;
}

std::vector<WorkerResult> run_workers(const std::vector<Work>& works) {
  assert(works.size() <= kWorkersMax);
  void* memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw system_error("share", "memory");
  }
  const auto unmap = [](Board* board) { ::munmap(board, sizeof(Board)); };
  const std::unique_ptr<Board, decltype(unmap)> board(new (memory) Board(), unmap);
  return run_on(*board, works);
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

void set_whole_file_lock(int descriptor, short type) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  while (::fcntl(descriptor, F_OFD_SETLKW, &range) != 0) {
    if (errno != EINTR) {
      throw system_error("lock", "a raw file");
    }
  }
}

RawAppender::RawAppender(const std::string& path)
    : log_(path, O_WRONLY | O_CREAT | O_APPEND), lock_(path + ".lock", O_RDWR | O_CREAT) {}

void RawAppender::append(std::string_view line) {
  set_whole_file_lock(lock_.get(), F_WRLCK);
  const ssize_t written = ::write(log_.get(), line.data(), line.size());
  set_whole_file_lock(lock_.get(), F_UNLCK);
  if (written != static_cast<ssize_t>(line.size()) || ::fdatasync(log_.get()) != 0) {
    throw system_error("append to", "a raw file");
  }
}

}  // namespace bmad_mem::bench
