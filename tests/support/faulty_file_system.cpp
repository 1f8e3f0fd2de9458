#include "support/faulty_file_system.hpp"

#include <algorithm>
#include <utility>

#include "store/posix_file_system.hpp"

namespace bmad_mem::test {
namespace {

class FaultyFile final : public File {
 public:
  FaultyFile(std::unique_ptr<File> below, std::shared_ptr<FaultPlan> plan, std::string path)
      : below_(std::move(below)), plan_(std::move(plan)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    BMAD_TRY(plan_->check(Operation::kReadAt, path_, std::to_string(offset)));
    return below_->read_at(offset, out);
  }

  Result<std::size_t> write(std::string_view bytes) override {
    const auto verdict = plan_->judge(Operation::kWrite, path_, std::to_string(bytes.size()));
    if (verdict.error) {
      return *verdict.error;
    }
    return below_->write(bytes.substr(0, verdict.size.value_or(bytes.size())));
  }

  Result<std::size_t> write_at(std::uint64_t offset, std::string_view bytes) override {
    const auto verdict = plan_->judge(Operation::kWriteAt, path_,
                                      std::to_string(offset) + " " + std::to_string(bytes.size()));
    if (verdict.error) {
      return *verdict.error;
    }
    return below_->write_at(offset, bytes.substr(0, verdict.size.value_or(bytes.size())));
  }

  Status truncate(std::uint64_t size) override {
    BMAD_TRY(plan_->check(Operation::kTruncate, path_, std::to_string(size)));
    return below_->truncate(size);
  }

  /// Not a call to be counted: what depends on it is faster with it, and right without it.
  Status set_mtime(std::int64_t mtime_ns) override { return below_->set_mtime(mtime_ns); }

  Status sync_data() override {
    BMAD_TRY(plan_->check(Operation::kSyncData, path_));
    return below_->sync_data();
  }

  Status sync_all() override {
    BMAD_TRY(plan_->check(Operation::kSyncAll, path_));
    return below_->sync_all();
  }

  Result<FileInfo> info() override {
    BMAD_TRY(plan_->check(Operation::kFileInfo, path_));
    return below_->info();
  }

  [[nodiscard]] int descriptor() const override { return below_->descriptor(); }

 private:
  std::unique_ptr<File> below_;
  std::shared_ptr<FaultPlan> plan_;
  std::string path_;
};

std::string_view mode_name(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead:
      return "read";
    case OpenMode::kAppend:
      return "append";
    case OpenMode::kUpdate:
      return "update";
    case OpenMode::kCreate:
      return "create";
  }
  return "?";
}

}  // namespace

std::string_view operation_name(Operation operation) {
  constexpr std::string_view kNames[] = {
      "open",     "read_at",          "write",         "write_at", "truncate",       "sync_data",
      "sync_all", "file_info",        "info",          "list",     "make_directory", "rename",
      "remove",   "remove_directory", "sync_directory"};
  return kNames[static_cast<std::size_t>(operation)];
}

Fault fault_at(const std::vector<std::string>& calls, std::size_t nth, int error_number) {
  const std::string name = calls[nth].substr(0, calls[nth].find(' '));
  const auto same_kind =
      std::ranges::count_if(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(nth) + 1,
                            [&](const std::string& call) { return call.starts_with(name + " "); });
  int kind = 0;
  while (operation_name(static_cast<Operation>(kind)) != name) {
    ++kind;
  }
  return {.operation = static_cast<Operation>(kind),
          .nth = static_cast<std::size_t>(same_kind),
          .error_number = error_number};
}

FaultPlan::Verdict FaultPlan::judge(Operation operation, const std::string& path,
                                    const std::string& details) {
  Verdict verdict;
  for (const std::function<void()>& work : note_call(operation, path, details, verdict)) {
    work();  // Without the mutex: it may come back here.
  }
  return verdict;
}

/// Logs the call and fills in its verdict. Returns what is to be done before it.
std::vector<std::function<void()>> FaultPlan::note_call(Operation operation,
                                                        const std::string& path,
                                                        const std::string& details,
                                                        Verdict& verdict) {
  const std::lock_guard guard(mutex_);
  operations_.push_back(operation);
  log_.push_back(std::string(operation_name(operation)) + " " + path +
                 (details.empty() ? "" : " " + details));
  std::vector<std::function<void()>> works;
  for (ActiveFault& active : faults_) {
    const Fault& fault = active.fault;
    if (fault.operation != operation || path.find(fault.path_part) == std::string::npos) {
      continue;
    }
    ++active.matched;
    if (active.matched < fault.nth || (active.matched > fault.nth && !fault.from_then_on)) {
      continue;
    }
    if (active.work) {
      works.push_back(active.work);
    } else if (active.short_size) {
      verdict.size = active.short_size;
    } else if (!verdict.error) {
      verdict.error = posix_error(fault.error_number, operation_name(operation), path);
    }
  }
  return works;
}

Status FaultPlan::check(Operation operation, const std::string& path, const std::string& details) {
  Verdict verdict = judge(operation, path, details);
  if (verdict.error) {
    return *std::move(verdict.error);
  }
  return {};
}

FaultyFileSystem::FaultyFileSystem(FileSystem& below)
    : below_(below), plan_(std::make_shared<FaultPlan>()) {}

void FaultyFileSystem::fail(Fault fault) {
  const std::lock_guard guard(plan_->mutex_);
  plan_->faults_.push_back({.fault = std::move(fault), .matched = 0, .short_size = {}, .work = {}});
}

void FaultyFileSystem::shorten(Fault fault, std::size_t size) {
  const std::lock_guard guard(plan_->mutex_);
  plan_->faults_.push_back(
      {.fault = std::move(fault), .matched = 0, .short_size = size, .work = {}});
}

void FaultyFileSystem::meanwhile(Fault at, std::function<void()> work) {
  const std::lock_guard guard(plan_->mutex_);
  plan_->faults_.push_back(
      {.fault = std::move(at), .matched = 0, .short_size = {}, .work = std::move(work)});
}

void FaultyFileSystem::heal() {
  const std::lock_guard guard(plan_->mutex_);
  plan_->faults_.clear();
}

std::vector<std::string> FaultyFileSystem::log() const {
  const std::lock_guard guard(plan_->mutex_);
  return plan_->log_;
}

void FaultyFileSystem::clear_log() {
  const std::lock_guard guard(plan_->mutex_);
  plan_->log_.clear();
  plan_->operations_.clear();
}

std::size_t FaultyFileSystem::count(Operation operation) const {
  const std::lock_guard guard(plan_->mutex_);
  return static_cast<std::size_t>(std::ranges::count(plan_->operations_, operation));
}

Result<std::unique_ptr<File>> FaultyFileSystem::open(const std::string& path, OpenMode mode) {
  BMAD_TRY(plan_->check(Operation::kOpen, path, std::string(mode_name(mode))));
  BMAD_TRY_ASSIGN(std::unique_ptr<File> file, below_.open(path, mode));
  return std::make_unique<FaultyFile>(std::move(file), plan_, path);
}

Result<FileInfo> FaultyFileSystem::info(const std::string& path) {
  BMAD_TRY(plan_->check(Operation::kInfo, path));
  return below_.info(path);
}

Result<std::vector<std::string>> FaultyFileSystem::list(const std::string& path) {
  BMAD_TRY(plan_->check(Operation::kList, path));
  return below_.list(path);
}

Status FaultyFileSystem::make_directory(const std::string& path) {
  BMAD_TRY(plan_->check(Operation::kMakeDirectory, path));
  return below_.make_directory(path);
}

Status FaultyFileSystem::rename(const std::string& from, const std::string& to) {
  BMAD_TRY(plan_->check(Operation::kRename, from + " " + to));
  return below_.rename(from, to);
}

Status FaultyFileSystem::remove(const std::string& path) {
  BMAD_TRY(plan_->check(Operation::kRemove, path));
  return below_.remove(path);
}

Status FaultyFileSystem::remove_directory(const std::string& path) {
  BMAD_TRY(plan_->check(Operation::kRemoveDirectory, path));
  return below_.remove_directory(path);
}

Status FaultyFileSystem::sync_directory(const std::string& path) {
  BMAD_TRY(plan_->check(Operation::kSyncDirectory, path));
  return below_.sync_directory(path);
}

std::string FaultyFileSystem::display_path(const std::string& path) const {
  return below_.display_path(path);
}

}  // namespace bmad_mem::test
