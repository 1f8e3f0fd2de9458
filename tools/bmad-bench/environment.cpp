#include "environment.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "bmad_mem/rfc3339.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

constexpr bool kAssertsOn =
#ifdef NDEBUG
    false;
#else
    true;
#endif

constexpr const char* kSanitizer =
#if defined(__SANITIZE_ADDRESS__)
    "address";
#elif defined(__SANITIZE_THREAD__)
    "thread";
#else
        "";
#endif

constexpr const char* kCompiler =
#if defined(__clang__)
    "clang " __clang_version__;
#else
    "g++ " __VERSION__;
#endif

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(": ");
      return colon == std::string::npos ? line : line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string kernel_name() {
  utsname names{};
  if (::uname(&names) != 0) {
    return "unknown";
  }
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

/// The mount that holds `folder`: "ext4 on /dev/vda (rw,relatime)".
std::string file_system_of(const std::string& folder) {
  struct stat status{};
  if (::stat(folder.c_str(), &status) != 0) {
    return "unknown";
  }
  const std::string device = fmt::format("{}:{}", major(status.st_dev), minor(status.st_dev));
  std::ifstream file("/proc/self/mountinfo");
  std::string line;
  while (std::getline(file, line)) {
    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
    std::istringstream words(line);
    std::string skipped;
    std::string number;
    std::string options;
    words >> skipped >> skipped >> number >> skipped >> skipped >> options;
    const std::size_t dash = line.find(" - ");
    if (number != device || dash == std::string::npos) {
      continue;
    }
    std::istringstream rest(line.substr(dash + 3));
    std::string type;
    std::string source;
    rest >> type >> source;
    return fmt::format("{} on {} ({})", type, source, options);
  }
  return fmt::format("device {}", device);
}

std::string build_name() {
  return fmt::format("{}{}{}", BMAD_BENCH_BUILD_TYPE, kAssertsOn ? ", asserts on" : ", asserts off",
                     *kSanitizer != '\0' ? fmt::format(", {} sanitizer", kSanitizer) : "");
}

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

}  // namespace

Environment environment_of(const std::string& folder) {
  Environment environment;
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  const double load = load_average();
  const std::string file_system = file_system_of(folder);
  const InstructionCounter counter;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  environment.facts = {
      {"date", format_rfc3339(now)},
      {"cpu", cpu_name()},
      {"cores", fmt::format("{}", cores)},
      {"load", fmt::format("{:.2f} before the start", load)},
      {"kernel", kernel_name()},
      {"folder", folder},
      {"file system", file_system},
      {"compiler", kCompiler},
      {"build", build_name()},
      {"instructions", counter.available() ? "counted" : "not counted, " + counter.reason()},
  };
  if (kAssertsOn || *kSanitizer != '\0') {
    environment.warnings.emplace_back(
        "asserts or sanitizers are on: these numbers compare with nothing; build the release "
        "preset");
  }
  if (file_system.starts_with("tmpfs") || file_system.starts_with("ramfs")) {
    environment.warnings.emplace_back(
        "the folder lies in memory, where a sync does nothing; name one on a disk with --dir");
  }
  if (load > 0.5 * static_cast<double>(cores)) {
    environment.warnings.push_back(fmt::format(
        "the machine is busy (load {:.2f} on {} cores): trust ratios, not times", load, cores));
  }
  return environment;
}

std::string environment_text(const Environment& environment) {
  std::string text;
  for (const auto& [name, value] : environment.facts) {
    text += fmt::format("{:<13} {}\n", name, value);
  }
  for (const std::string& warning : environment.warnings) {
    text += fmt::format("WARNING       {}\n", warning);
  }
  return text;
}

void write_environment(JsonWriter& json, const Environment& environment) {
  json.begin_object();
  for (const auto& [name, value] : environment.facts) {
    json.member(name, value);
  }
  json.key("warnings").begin_array();
  for (const std::string& warning : environment.warnings) {
    json.string(warning);
  }
  json.end_array().end_object();
}

}  // namespace bmad_mem::bench
