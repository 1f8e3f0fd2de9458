#include "machine.hpp"

#include <fcntl.h>
#include <mntent.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "bmad_mem/rfc3339.hpp"

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
    ", address sanitizer";
#elif defined(__SANITIZE_THREAD__)
    ", thread sanitizer";
#else
        "";
#endif

constexpr const char* kCompiler =
#if defined(__clang__)
    "clang " __clang_version__;
#else
    "g++ " __VERSION__;
#endif

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}

std::string kernel_name() {
  utsname names{};
  return ::uname(&names) != 0
             ? "unknown"
             : fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

/// The mount that holds `folder`: "ext4 on /dev/vda (rw,relatime)".
std::string file_system_of(const std::string& folder) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(folder, error).string() + '/';
  std::string longest;
  std::string text = "unknown";
  if (std::FILE* mounts = ::setmntent("/proc/self/mounts", "r")) {
    while (const mntent* mount = ::getmntent(mounts)) {
      const std::string at = mount->mnt_dir;
      // A later mount on the same folder hides the earlier one.
      if (at.size() >= longest.size() && path.starts_with(at == "/" ? at : at + '/')) {
        longest = at;
        text = fmt::format("{} on {} ({})", mount->mnt_type, mount->mnt_fsname, mount->mnt_opts);
      }
    }
    ::endmntent(mounts);
  }
  return text;
}

}  // namespace

double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }
double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

Descriptor::Descriptor(const std::string& path, int flags)
    : number_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
  if (number_ < 0) {
    throw system_error("open", path);
  }
}

void Descriptor::close() {
  if (number_ >= 0) {
    ::close(std::exchange(number_, -1));
  }
}

Error system_error(const std::string& action, const std::string& path) {
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = fmt::format("cannot {} {}: {}", action, path,
                                      std::generic_category().message(errno)),
               .path = path,
               .os_error = errno};
}

Environment environment_of(const std::string& folder) {
  Environment environment;
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  double load = 0;
  if (::getloadavg(&load, 1) != 1) {
    load = 0;
  }
  const std::string file_system = file_system_of(folder);
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
      {"build", fmt::format("{}, asserts {}{}", BMAD_BENCH_BUILD_TYPE, kAssertsOn ? "on" : "off",
                            kSanitizer)},
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
  json.key("environment").begin_object();
  for (const auto& [name, value] : environment.facts) {
    json.member(name, value);
  }
  json.key("warnings").begin_array();
  for (const std::string& warning : environment.warnings) {
    json.string(warning);
  }
  json.end_array().end_object();
}

ScratchFolder::ScratchFolder(const std::string& directory)
    : path_(directory + "/bmad-bench-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw system_error("make a folder in", directory);
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace bmad_mem::bench
