// append_log.cpp - appends whole lines to one log, makes them durable, leaves refused ones out.
#include "store/append_log.hpp"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "store/atomic_file.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {

/// One open log file, shared by the AppendLog and by those who still wait for their sync.
struct OpenLog {
  std::unique_ptr<File> file;
  FileInfo identity;
  std::uint64_t size = 0;  // As prepare() saw it; guarded by the session's lock.

  std::mutex mutex;  // Guards what follows; not held during a sync.
  std::condition_variable synced;
  std::uint64_t written_end = 0;
  std::uint64_t durable_end = 0;
  bool syncing = false;
  std::vector<ByteRange> refused;  // Not empty: suspect.
};

namespace {

std::vector<ByteRange> refused_in(OpenLog& log) {
  const std::lock_guard guard(log.mutex);
  return log.refused;
}

void note_refused(OpenLog& log, ByteRange range) {
  const std::lock_guard guard(log.mutex);
  log.refused.push_back(range);
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

Result<RefusedRange> refused_range(File& log, ByteRange bytes) {
  assert(bytes.begin <= bytes.end);
  BMAD_TRY_ASSIGN(const std::string text, read_range(log, bytes.begin, bytes.end - bytes.begin));
  if (text.size() != bytes.end - bytes.begin) {
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "is shorter than it was"};
  }
  return RefusedRange{.bytes = bytes, .xxh3 = xxh3(text)};
}

void AppendLog::refuse(std::uint64_t inode, std::vector<RefusedRange> ranges) {
  refused_inode_ = inode;
  refused_elsewhere_ = std::move(ranges);
}

Result<std::uint64_t> AppendLog::prepare() {
  was_torn_ = false;
  BMAD_TRY(open_at_path());
  BMAD_TRY(take_over_refused());
  if (!refused_in(*open_).empty()) {
    BMAD_TRY(leave_out_refused());  // Closes the file; a new one is at the path.
    BMAD_TRY(open_at_path());
  }
  if (open_->size > 0 && stamp_ && stamp_->describes(at_path_)) {
    return open_->size;  // It ends as this process left it.
  }
  if (open_->size > 0) {
    BMAD_TRY_ASSIGN(const std::string last, read_range(*open_->file, open_->size - 1, 1));
    if (!last.empty() && last != "\n") {
      BMAD_TRY(check_log_size(files_, path_, open_->size));
      BMAD_TRY_ASSIGN(open_->size, mend_torn_tail(files_, *open_->file, path_, quarantine_path_,
                                                  open_->size, clock_.now()));
      was_torn_ = true;
    }
  } else {
    // Whoever writes the first byte makes the name durable before: a log that holds something is
    // in its folder for good.
    BMAD_TRY(files_.sync_directory(parent_folder(path_)));
  }
  return open_->size;
}

/// The open file is the one at the path from here on.
Status AppendLog::open_at_path() {
  BMAD_TRY_ASSIGN(const auto at_path, if_there(files_.info(path_)));
  if (open_ != nullptr && at_path && at_path->same_file(open_->identity)) {
    open_->size = at_path->size;
    at_path_ = *at_path;
    return {};
  }
  if (at_path && at_path->kind != FileKind::kRegular) {
    return path_error(ErrorCode::E_STORAGE_CORRUPT, files_.display_path(path_),
                      "is not a regular file; move away what is there");
  }
  auto log = std::make_shared<OpenLog>();
  BMAD_TRY_ASSIGN(log->file, files_.open(path_, OpenMode::kAppend));
  BMAD_TRY_ASSIGN(log->identity, log->file->info());
  log->size = log->identity.size;
  at_path_ = log->identity;
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
      const Result<FileInfo> now = open_->file->info();
      note_refused(*open_,
                   {.begin = offset, .end = now ? std::clamp(now->size, offset, end) : end});
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
    assert(open_->durable_end <= open_->written_end);
  }
  return Written{.offset = offset, .end = end, .log = open_};
}

bool AppendLog::is_removed(const Written& written) {
  assert(written.log != nullptr);
  const Result<FileInfo> info = written.log->file->info();
  return info && info->links == 0;
}

Status AppendLog::sync_all() { return open_->file->sync_all(); }

Status AppendLog::sync(const Written& written) {
  assert(written.log != nullptr && written.offset <= written.end);
  OpenLog& log = *written.log;
  std::unique_lock lock(log.mutex);
  // One thread syncs for all that have written by then. This is not only cheaper: the kernel
  // reports a failed write-back once per descriptor, so it must reach all whom it concerns.
  log.synced.wait(lock, [&] { return !log.syncing || log.durable_end >= written.end; });
  const auto covered_by_failure = [&] { return !log.refused.empty(); };
  if (log.durable_end >= written.end) {
    return {};
  }
  if (covered_by_failure()) {
    log.refused.push_back({.begin = written.offset, .end = written.end});
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
    log.refused.push_back({.begin = written.offset, .end = written.end});
  }
  log.synced.notify_all();
  if (!synced) {
    return sync_failed(synced.error().message, &synced.error());
  }
  return {};
}

File& AppendLog::file_of(const Written& written) { return *written.log->file; }

const FileInfo& AppendLog::identity_of(const Written& written) { return written.log->identity; }

File& AppendLog::file() const { return *open_->file; }

FileInfo AppendLog::info() const {
  assert(open_ != nullptr && "prepare() opens it");
  FileInfo info = at_path_;
  info.size = open_->size;  // A torn end is mended.
  return info;
}

std::vector<ByteRange> AppendLog::refused() const {
  return open_ == nullptr ? std::vector<ByteRange>() : refused_in(*open_);
}

/// Between then and now git may have put another file there, with the same inode number. So only
/// whole lines with the very same bytes count, and what is left out is kept in the quarantine.
Status AppendLog::take_over_refused() {
  const std::vector<RefusedRange> ranges = std::exchange(refused_elsewhere_, {});
  if (ranges.empty() || refused_inode_ != open_->identity.inode) {
    return {};
  }
  const auto is_line_end = [&](std::uint64_t offset) -> Result<bool> {
    BMAD_TRY_ASSIGN(const std::string last,
                    offset > 0 ? read_range(*open_->file, offset - 1, 1) : "\n");
    return last == "\n";
  };
  for (const auto& [bytes, hash] : ranges) {
    if (bytes.begin >= bytes.end || bytes.end > open_->size) {
      continue;
    }
    BMAD_TRY_ASSIGN(const bool begins, is_line_end(bytes.begin));
    BMAD_TRY_ASSIGN(const bool ends, is_line_end(bytes.end));
    BMAD_TRY_ASSIGN(const RefusedRange now, refused_range(*open_->file, bytes));
    if (begins && (ends || bytes.end == open_->size) && now.xxh3 == hash) {
      note_refused(*open_, bytes);
    }
  }
  return {};
}

/// After a failed sync or an unfinished roll-back: a new file with everything but the lines that
/// were refused takes the log's place. Lines of other writers behind them stay.
Status AppendLog::leave_out_refused() {
  std::vector<ByteRange> ranges = refused_in(*open_);
  std::ranges::sort(ranges, {}, &ByteRange::begin);
  Quarantine quarantine(files_, quarantine_path_);
  std::vector<ByteRange> gaps;
  for (ByteRange range : ranges) {
    range.begin = std::max(range.begin, gaps.empty() ? 0 : gaps.back().end);
    range.end = std::min(range.end, open_->size);
    if (range.begin >= range.end) {
      continue;
    }
    BMAD_TRY(quarantine.keep(*open_->file, path_.substr(path_.rfind('/') + 1),
                             {.offset = range.begin,
                              .size = range.end - range.begin,
                              .reason = "the disk refused to make these lines durable, and their "
                                        "write was reported as failed"},
                             clock_.now()));
    assert(gaps.empty() || gaps.back().end <= range.begin);
    gaps.push_back(range);
  }
  BMAD_TRY(quarantine.sync());
  BMAD_TRY(rewrite_log_without(files_, path_, gaps));
  open_ = nullptr;
  return {};
}

}  // namespace bmad_mem
