// process.cpp - asks the system once for process id, host, boot and cores.
#include "base/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace bmad_mem {
namespace {

std::atomic<int> known_id = 0;

}  // namespace

int process_id() {
  static const int kRegistered =
      ::pthread_atfork(nullptr, nullptr, [] { known_id.store(0, std::memory_order_relaxed); });
  int id = known_id.load(std::memory_order_relaxed);
  if (id == 0 || kRegistered != 0) {
    id = ::getpid();
    known_id.store(id, std::memory_order_relaxed);
  }
  return id;
}

const std::string& host_name() {
  static const std::string kName = [] {
    std::array<char, 256> buffer{};
    return ::gethostname(buffer.data(), buffer.size() - 1) == 0 ? std::string(buffer.data())
                                                                : std::string("unknown");
  }();
  return kName;
}

const std::string& boot_id() {
  static const std::string kId = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string line;  // A UUID.
    std::getline(file, line);
    return line;
  }();
  return kId;
}

std::string with_home(std::string_view path) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets a variable.
  const char* const home = std::getenv("HOME");
  for (const std::string_view head : {"~", "$HOME", "${HOME}"}) {
    const std::string_view rest = path.substr(std::min(path.size(), head.size()));
    if (home != nullptr && path.starts_with(head) && (rest.empty() || rest.front() == '/')) {
      return home + std::string(rest);
    }
  }
  return std::string(path);
}

std::size_t core_count() {
  static const std::size_t kCount = std::max(1U, std::thread::hardware_concurrency());
  return kCount;
}

}  // namespace bmad_mem
