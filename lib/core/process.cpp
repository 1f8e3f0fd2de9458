#include "core/process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

namespace bmad_mem {
namespace {

std::atomic<int> known_id = 0;

}  // namespace

int process_id() {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { known_id.store(0, std::memory_order_relaxed); });
  int id = known_id.load(std::memory_order_relaxed);
  if (id == 0 || registered != 0) {
    id = ::getpid();
    known_id.store(id, std::memory_order_relaxed);
  }
  return id;
}

const std::string& host_name() {
  static const std::string name = [] {
    std::array<char, 256> buffer{};
    return ::gethostname(buffer.data(), buffer.size() - 1) == 0 ? std::string(buffer.data())
                                                                : std::string("unknown");
  }();
  return name;
}

const std::string& boot_id() {
  static const std::string id = [] {
    const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    std::array<char, 36> buffer{};  // A UUID.
    const ssize_t size = file < 0 ? -1 : ::read(file, buffer.data(), buffer.size());
    if (file >= 0) {
      ::close(file);
    }
    return size == static_cast<ssize_t>(buffer.size()) ? std::string(buffer.data(), buffer.size())
                                                       : std::string();
  }();
  return id;
}

std::size_t core_count() {
  static const std::size_t count = std::max(1U, std::thread::hardware_concurrency());
  return count;
}

}  // namespace bmad_mem
