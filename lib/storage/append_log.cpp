#include "storage/append_log.hpp"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "storage/atomic_file.hpp"
#include "torn_tail.hpp"

namespace bmad_mem {

/// One open log file, shared by the AppendLog and by those who still wait for their sync.
struct OpenLog {
  struct Range {
    std::uint64_t offset;
    std::uint64_t end;
  };

  std::unique_ptr<File> file;
  FileInfo identity;
  std::uint64_t size = 0;  // As prepare() saw it; guarded by the session's lock.

  std::mutex mutex;  // Guards what follows; not held during a sync.
  std::condition_variable synced;
  std::uint64_t written_end = 0;
  std::uint64_t durable_end = 0;
  bool syncing = false;
  std::vector<Range> unacknowledged;  // Not empty: suspect.
};

namespace {

bool is_suspect(OpenLog& log) {
  const std::lock_guard guard(log.mutex);
  return !log.unacknowledged.empty();
}

void mark_suspect(OpenLog& log, std::uint64_t offset, std::uint64_t end) {
  const std::lock_guard guard(log.mutex);
  log.unacknowledged.push_back({offset, end});
}

/// Copies [from, end) of `source` to the end of `target`.
Status copy_range(File& source, File& target, std::uint64_t from, std::uint64_t end) {
  std::string buffer;
  constexpr std::uint64_t kChunkSize = 1U << 20U;
  while (from < end) {
    buffer.resize(static_cast<std::size_t>(std::min(kChunkSize, end - from)));
    BMAD_TRY_ASSIGN(const std::size_t size, source.read_at(from, buffer));
    if (size == 0) {
      break;
    }
    BMAD_TRY(write_all(target, std::string_view(buffer).substr(0, size)));
    from += size;
  }
  return {};
}

Error sync_failed(const std::string& reason, const Error* cause) {
  Error error = cause != nullptr ? *cause : Error{};
  error.code = ErrorCode::E_STORAGE_IO;
  error.message = fmt::format(
      "the lines could not be made durable and do not count as written ({}); check the disk, then "
      "write them again",
      reason);
  return error;
}

}  // namespace

AppendLog::AppendLog(FileSystem& files, const Clock& clock, std::string path,
                     std::string quarantine_path)
    : files_(files),
      clock_(clock),
      path_(std::move(path)),
      quarantine_path_(std::move(quarantine_path)) {}

Result<std::uint64_t> AppendLog::prepare() {
  Result<FileInfo> at_path = files_.info(path_);
  if (!at_path && !is_not_found(at_path.error())) {
    return at_path.error();
  }
  const auto is_current = [&] {
    return open_ != nullptr && at_path.has_value() && at_path->same_file(open_->identity);
  };
  if (is_current() && is_suspect(*open_)) {
    BMAD_TRY(leave_out_unacknowledged());  // Closes the file; a new one is at the path.
    at_path = files_.info(path_);
  }
  if (!is_current()) {
    BMAD_TRY(open_current(at_path ? &*at_path : nullptr));
  } else {
    open_->size = at_path->size;
  }
  if (open_->size > 0) {
    char last = '\0';
    BMAD_TRY_ASSIGN(const std::size_t got,
                    open_->file->read_at(open_->size - 1, std::span<char>(&last, 1)));
    if (got == 1 && last != '\n') {
      BMAD_TRY_ASSIGN(open_->size, mend_torn_end(open_->size));
    }
  } else {
    // Whoever writes the first byte makes the name durable before: a log that holds something is
    // in its folder for good.
    BMAD_TRY(files_.sync_directory(parent_folder(path_)));
  }
  return open_->size;
}

Status AppendLog::open_current(const FileInfo* at_path) {
  if (at_path != nullptr && at_path->kind != FileKind::kRegular) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = "is not a regular file; move away what is there",
                 .path = files_.display_path(path_)};
  }
  auto log = std::make_shared<OpenLog>();
  BMAD_TRY_ASSIGN(log->file, files_.open(path_, OpenMode::kAppend));
  BMAD_TRY_ASSIGN(log->identity, log->file->info());
  log->size = log->identity.size;
  open_ = std::move(log);
  return {};
}

Result<AppendLog::Written> AppendLog::write(std::string_view lines) {
  assert(open_ != nullptr);
  assert(lines.ends_with('\n'));
  const std::uint64_t offset = open_->size;
  const std::uint64_t end = offset + lines.size();
  if (Status written = write_all(*open_->file, lines); !written) {
    Error error = std::move(written).error();
    error.path = files_.display_path(path_);
    if (const Status shortened = open_->file->truncate(offset); !shortened) {
      // Part of the lines may stand there: the next prepare() leaves them out.
      mark_suspect(*open_, offset, end);
      return sync_failed(error.message, &error);
    }
    return error;
  }
  open_->size = end;
  {
    const std::lock_guard guard(open_->mutex);
    open_->written_end = end;
    // An editor may have cut the file short in place: what lies there now is not durable yet.
    open_->durable_end = std::min(open_->durable_end, offset);
  }
  return Written{.offset = offset, .end = end, .log = open_};
}

Status AppendLog::sync_all() { return open_->file->sync_all(); }

Status AppendLog::sync(const Written& written) {
  OpenLog& log = *written.log;
  std::unique_lock lock(log.mutex);
  // One thread syncs for all that have written by then. This is not only cheaper: the kernel
  // reports a failed write-back once per descriptor, so it must reach all whom it concerns.
  log.synced.wait(lock, [&] { return !log.syncing || log.durable_end >= written.end; });
  const auto covered_by_failure = [&] { return !log.unacknowledged.empty(); };
  if (log.durable_end >= written.end) {
    return {};
  }
  if (covered_by_failure()) {
    log.unacknowledged.push_back({written.offset, written.end});
    return sync_failed("an earlier write to the same file failed", nullptr);
  }
  log.syncing = true;
  const std::uint64_t target = log.written_end;
  lock.unlock();
  const Status synced = log.file->sync_data();
  lock.lock();
  log.syncing = false;
  if (synced) {
    log.durable_end = std::max(log.durable_end, target);
  } else {
    log.unacknowledged.push_back({written.offset, written.end});
  }
  log.synced.notify_all();
  if (!synced) {
    return sync_failed(synced.error().message, &synced.error());
  }
  return {};
}

/// After a failed sync or an unfinished roll-back: a new file with everything but the lines that
/// were refused takes the log's place. Lines of other writers behind them stay.
Status AppendLog::leave_out_unacknowledged() {
  std::vector<OpenLog::Range> ranges;
  {
    const std::lock_guard guard(open_->mutex);
    ranges = open_->unacknowledged;
  }
  std::ranges::sort(ranges, {}, &OpenLog::Range::offset);
  BMAD_TRY_ASSIGN(const FileInfo info, open_->file->info());
  BMAD_TRY(replace_file_with(files_, path_, [&](File& copy) -> Status {
    std::uint64_t from = 0;
    for (const OpenLog::Range& range : ranges) {
      BMAD_TRY(copy_range(*open_->file, copy, from, std::min(range.offset, info.size)));
      from = std::max(from, range.end);
    }
    return copy_range(*open_->file, copy, from, info.size);
  }));
  open_ = nullptr;
  return {};
}

Result<std::uint64_t> AppendLog::mend_torn_end(std::uint64_t size) {
  return mend_torn_tail(files_, *open_->file,
                        {.path = path_, .quarantine_path = quarantine_path_, .size = size},
                        clock_.now());
}

}  // namespace bmad_mem
