#include "lifecycle_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "bmad_mem/json_parser.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

/// All that was written to the file system of `folder` is on its disk: nobody else's sync has to
/// wait for it.
Status sync_file_system(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::syncfs(descriptor) == 0;
  Status done = synced ? Status() : Status(system_error("sync", folder));
  ::close(descriptor);
  return done;
}

Result<std::string> logs_of(const StoreCopy& copy) {
  std::string all;
  for (const EntryType type : kEntryTypes) {
    const std::string path =
        copy.session_folder() + '/' + std::string(entry_type_info(type).log_file);
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) {
      continue;  // Some logs are made on first use.
    }
    const std::size_t begin = all.size();
    all.resize(begin + size);
    std::ifstream log(path, std::ios::binary);
    if (!log.read(all.data() + begin, static_cast<std::streamsize>(size))) {
      return system_error("read", path);
    }
  }
  if (all.empty()) {
    return Error{.message = "there are no logs", .path = copy.session_folder()};
  }
  return all;
}

Status parse_lines(std::string& logs) {
  JsonParser parser;
  const std::size_t size = logs.size();
  logs.append(kJsonPadding, ' ');
  for (std::size_t begin = 0; begin < size;) {
    const std::size_t end = logs.find('\n', begin);
    if (!parser.try_parse_padded(std::string_view(logs).substr(begin, end - begin))) {
      return Error{.message = fmt::format("the line at byte {} cannot be parsed", begin)};
    }
    begin = end + 1;
  }
  logs.resize(size);
  return {};
}

Status write_durably(const std::string& path, std::string_view bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool good = descriptor >= 0;
  while (good && !bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    good = written > 0;
    bytes.remove_prefix(good ? static_cast<std::size_t>(written) : 0);
  }
  good = good && ::fsync(descriptor) == 0;
  Status done = good ? Status() : Status(system_error("write", path));
  ::close(descriptor);
  ::unlink(path.c_str());
  return done;
}

double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

Result<StoreCopy> StoreCopy::make(const SearchStore& store, const std::string& folder) {
  StoreCopy copy(folder, store.sessions.front());
  std::error_code error;
  std::filesystem::copy(store.root, folder, std::filesystem::copy_options::recursive, error);
  if (error) {
    return Error{.message = "cannot copy the memory: " + error.message(), .path = folder};
  }
  BMAD_TRY(sync_file_system(folder));
  return copy;
}

StoreCopy::StoreCopy(StoreCopy&& other) noexcept
    : root_(std::exchange(other.root_, {})), session_(std::move(other.session_)) {}

StoreCopy::~StoreCopy() {
  if (!root_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
}

Result<MemoryManager> StoreCopy::open() const {
  return MemoryManager::open({.root = root_, .agent_id = "bmad-bench"});
}

Result<RawRewrite> rewrite_raw(const StoreCopy& copy) {
  RawRewrite cost;
  const double begin = wall_seconds();
  BMAD_TRY_ASSIGN(std::string logs, logs_of(copy));
  BMAD_TRY(parse_lines(logs));
  const double parsed = wall_seconds();
  BMAD_TRY(write_durably(copy.root() + "/rewritten.raw", logs));
  cost.parse = (parsed - begin) * 1e3;
  cost.write = (wall_seconds() - parsed) * 1e3;
  return cost;
}

double file_clock_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return seconds_of(now);
}

Result<double> changed_at(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return system_error("look at", path);
  }
  return seconds_of(status.st_ctim);
}

}  // namespace bmad_mem::bench
