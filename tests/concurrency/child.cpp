#include "concurrency/child.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

// A child of a process that has had threads may start threads itself here: it is a fork, and the
// lock's helper threads are what is tested.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace bmad_mem::test {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

int run(const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    fmt::print(stderr, "child {}: {}\n", ::getpid(), exception.what());
  }
  return 101;
}

}  // namespace

Child::Child(const std::function<int()>& body) {
  std::fflush(nullptr);  // What is buffered must not come out twice.
  pid_ = ::fork();
  if (pid_ < 0) {
    fail("fork");
  }
  if (pid_ == 0) {
    const int status = run(body);
    std::fflush(nullptr);
    ::_exit(status);
  }
}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    static_cast<void>(wait());
  }
}

void Child::kill() {
  ::kill(pid_, SIGKILL);
  static_cast<void>(wait());
}

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

Signal::Signal() {
  int ends[2];
  if (::pipe(ends) != 0) {
    fail("pipe");
  }
  read_end_ = ends[0];
  write_end_ = ends[1];
}

Signal::~Signal() {
  ::close(read_end_);
  ::close(write_end_);
}

void Signal::raise() const {
  if (::write(write_end_, "!", 1) != 1) {
    fail("write to a pipe");
  }
}

void Signal::wait() const {
  constexpr int kPatience_ms = 60'000;
  pollfd end{.fd = read_end_, .events = POLLIN, .revents = 0};
  int ready = 0;
  while ((ready = ::poll(&end, 1, kPatience_ms)) < 0 && errno == EINTR) {
  }
  char byte = 0;
  if (ready != 1 || ::read(read_end_, &byte, 1) != 1) {
    throw std::runtime_error("nobody raised the signal");
  }
}

void wait_to_be_killed() {
  while (true) {
    ::pause();
  }
}

void* SharedMemory::map(std::size_t size) {
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    fail("mmap");
  }
  return at;
}

void SharedMemory::unmap(void* at, std::size_t size) { ::munmap(at, size); }

unsigned test_seed(const std::string& test_name) {
  const char* given = std::getenv("BMAD_TEST_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                         : std::random_device()();
  fmt::print("{}: seed {} (BMAD_TEST_SEED={} runs it again)\n", test_name, seed, seed);
  return seed;
}

}  // namespace bmad_mem::test
