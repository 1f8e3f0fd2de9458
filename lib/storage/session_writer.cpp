#include "storage/session_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

Error session_gone(const std::string& session_id, Error cause) {
  cause.code = ErrorCode::E_SESSION_NOT_FOUND;
  cause.message = fmt::format(
      "there is no session {} (any more); `bmad-mem session list` shows "
      "the ones there are",
      session_id);
  return cause;
}

}  // namespace

SessionWriter::SessionWriter(FileSystem& files, const Clock& clock, SessionWriterOptions options)
    : files_(files),
      clock_(clock),
      options_(std::move(options)),
      lock_(files, clock, lock_path(options_.session_id), lock_info_path(options_.session_id)) {}

Result<FileLock::Guard> SessionWriter::lock(std::string_view operation) {
  Result<FileLock::Guard> guard = lock_.acquire(
      {.operation = operation, .agent_id = options_.agent_id, .timeout = options_.lock_timeout});
  if (!guard && is_not_found(guard.error())) {
    return session_gone(options_.session_id, guard.error());
  }
  return guard;
}

Result<AppendLog::Written> SessionWriter::append(const FileLock::Guard& /*guard*/,
                                                 const std::string& log_file,
                                                 std::string_view lines) {
  AppendLog& target = log(log_file);
  BMAD_TRY_ASSIGN(const std::uint64_t size, target.prepare());
  BMAD_TRY(check_quota(log_file, size, lines.size()));
  Result<AppendLog::Written> written = target.write(lines);
  if (written) {
    size_estimate_ += lines.size();
    seen_sizes_[log_file] = size + lines.size();
  }
  return written;
}

Result<std::uint64_t> SessionWriter::mend(const FileLock::Guard& /*guard*/,
                                          const std::string& log_file) {
  AppendLog& target = log(log_file);
  BMAD_TRY_ASSIGN(const std::uint64_t size, target.prepare());
  BMAD_TRY(target.sync_all());
  return size;
}

Status SessionWriter::sync(const std::string& log_file) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file,
                  files_.open(session_file(options_.session_id, log_file), OpenMode::kRead));
  return file->sync_data();
}

AppendLog& SessionWriter::log(const std::string& log_file) {
  const auto found = logs_.find(log_file);
  if (found != logs_.end()) {
    return found->second;
  }
  AppendLog created(files_, clock_, session_file(options_.session_id, log_file),
                    quarantine_path(options_.session_id));
  return logs_.emplace(log_file, std::move(created)).first->second;
}

/// Looking at every file of the session costs some ten system calls, so between looks the size is
/// reckoned: this log's growth by anybody is seen at each append, other logs' growth only at a
/// look. Near the limit every append looks.
Status SessionWriter::check_quota(std::string_view log_file, std::uint64_t log_size,
                                  std::size_t added) {
  constexpr std::uint64_t kAppendsBetweenLooks = 256;
  const auto seen = seen_sizes_.find(log_file);
  if (seen != seen_sizes_.end() && log_size >= seen->second) {
    size_estimate_ += log_size - seen->second;
  } else {
    estimates_left_ = 0;
  }
  const bool near_limit = size_estimate_ + added > options_.size_max / 10 * 8;
  if (estimates_left_ == 0 || near_limit) {
    BMAD_TRY_ASSIGN(size_estimate_, tracked_size());
    estimates_left_ = kAppendsBetweenLooks;
  }
  --estimates_left_;
  seen_sizes_.insert_or_assign(std::string(log_file), log_size);
  if (size_estimate_ + added <= options_.size_max) {
    return {};
  }
  return Error{
      .code = ErrorCode::E_SIZE_LIMIT,
      .message = fmt::format(
          "{} more bytes would take the session from {:.2f} MB beyond its {:.0f} MB; start a new "
          "session, or raise storage.max_session_size_mb in config.json",
          added, static_cast<double>(size_estimate_) / (1U << 20U),
          static_cast<double>(options_.size_max) / (1U << 20U)),
      .path = files_.display_path(session_folder(options_.session_id))};
}

Result<std::uint64_t> SessionWriter::tracked_size() {
  BMAD_TRY_ASSIGN(const SessionFootprint footprint,
                  session_footprint(files_, options_.session_id, options_.log_files));
  return footprint.size;
}

Result<SessionFootprint> session_footprint(FileSystem& files, std::string_view session_id,
                                           const std::vector<std::string>& log_files) {
  SessionFootprint footprint;
  const auto add = [&](std::string_view name, bool is_log) -> Status {
    const Result<FileInfo> info = files.info(session_file(session_id, name));
    if (info) {
      footprint.size += info->size;
      if (is_log && info->size > 0) {
        footprint.last_write_ns = std::max(footprint.last_write_ns, info->mtime_ns);
      }
    } else if (!is_not_found(info.error())) {
      return info.error();
    }
    return {};
  };
  for (const std::string& log_file : log_files) {
    BMAD_TRY(add(log_file, true));
  }
  for (const char* name : {kManifestName, kAuditName, kSummaryName, kQuarantineName}) {
    BMAD_TRY(add(name, false));
  }
  return footprint;
}

}  // namespace bmad_mem
