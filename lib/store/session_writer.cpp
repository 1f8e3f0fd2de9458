// session_writer.cpp - appends to one session: lock, log, quota, stamp, sync and line hashes.
#include "store/session_writer.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "store/append_log.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"

namespace bmad_mem {
namespace {

Error session_gone(const std::string& session_id, Error cause) {
  cause.code = ErrorCode::E_SESSION_NOT_FOUND;
  cause.path.clear();  // That of its lock file says nothing to a person.
  cause.message = no_session(session_id, {}).message;
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
  if (guard) {
    BMAD_TRY(check_version());
    are_hashes_read_ = read_line_hashes().has_value();  // Else who appends asks again.
    BMAD_TRY(leave_out_all_refused());
  }
  return guard;
}

Result<AppendLog::Written> SessionWriter::append(const FileLock::Guard& guard,
                                                 const std::string& log_file,
                                                 std::string_view lines, LineHashesLook look) {
  AppendLog& target = log(log_file);
  if (look == LineHashesLook::kNow || !are_hashes_read_) {
    BMAD_TRY(read_line_hashes());
  }
  BMAD_TRY_ASSIGN(const std::uint64_t size, target.prepare());
  BMAD_TRY(adopt_recorded_file(log_file, target));
  BMAD_TRY(check_quota(log_file, size, lines.size()));
  const std::optional<EntryType> type = entry_type_of_log_file(log_file);
  const std::uint64_t chain =
      type ? chain_of(guard.lock_file(), *type, target.file(), target.stamp()) : 0;
  Result<AppendLog::Written> written = target.write(lines);
  if (!written) {
    if (const std::vector<ByteRange> refused = target.refused(); !refused.empty()) {
      static_cast<void>(mark_refused(log_file, target.file(), target.info().inode, refused));
    }
    return written;
  }
  if (type) {
    target.set_stamp(stamp_log(guard.lock_file(), *type, target.file(), written->end, chain));
  }
  assert(written->offset == size && written->end == size + lines.size());
  size_estimate_ += lines.size();
  seen_sizes_[log_file] = size + lines.size();
  const auto recorded = line_hashes_.logs.find(log_file);
  const std::uint64_t recorded_bytes =
      recorded == line_hashes_.logs.end() ? 0 : recorded->second.bytes;
  // A record has the lines of all logs: where it is long, a short log waits, too.
  const std::uint64_t due = std::max(recorded_bytes / 8, hashes_file_.size / 32);
  written->are_hashes_due =
      !are_hashes_newer_ && written->end - std::min(written->end, recorded_bytes) >= due;
  return written;
}

Status SessionWriter::settle(const std::string& log_file, const AppendLog::Written& written) {
  Status synced = AppendLog::sync(written);
  if (synced && !written.are_hashes_due) {
    return {};
  }
  // The holder of the lock may record with the next line; a refused sync has to be told.
  Result<FileLock::Guard> guard =
      lock_.acquire({.operation = "line hashes",
                     .agent_id = options_.agent_id,
                     .timeout = synced ? std::chrono::milliseconds(0) : options_.lock_timeout});
  if (guard) {
    note_outcome(synced.has_value(), log_file, written);
  }
  return synced;
}

Status SessionWriter::settle(const FileLock::Guard& /*guard*/, const std::string& log_file,
                             const AppendLog::Written& written) {
  Status synced = AppendLog::sync(written);
  if (!synced || written.are_hashes_due) {
    note_outcome(synced.has_value(), log_file, written);
  }
  return synced;
}

void SessionWriter::refuse(const FileLock::Guard& /*guard*/, const std::string& log_file,
                           const AppendLog::Written& written) {
  note_outcome(false, log_file, written);
}

/// The lines are durable, or this process knows that they are not: what fails here fails nothing.
void SessionWriter::note_outcome(bool synced, const std::string& log_file,
                                 const AppendLog::Written& written) {
  if (!read_line_hashes()) {
    return;
  }
  if (synced) {
    static_cast<void>(add_line_hashes(log_file, written));
    return;
  }
  const ByteRange refused{.begin = written.offset, .end = written.end};
  static_cast<void>(mark_refused(log_file, AppendLog::file_of(written),
                                 AppendLog::identity_of(written).inode, std::span(&refused, 1)));
}

/// Costs one look while the manifest is the same. One that is missing or damaged stands in nobody's
/// way here.
Status SessionWriter::check_version() {
  const Result<FileInfo> file = files_.info(manifest_path(options_.session_id));
  manifest_file_ = file ? std::optional(*file) : std::nullopt;
  if (!file || file->is_unchanged(checked_manifest_)) {
    return {};
  }
  Result<Manifest> manifest = load_manifest(files_, options_.session_id);
  if (!manifest && manifest.error().code == ErrorCode::E_NEWER_VERSION) {
    return std::move(manifest).error();
  }
  checked_manifest_ = *file;
  return {};
}

/// Costs one look when nobody else has recorded. A damaged record counts as none.
Status SessionWriter::read_line_hashes() {
  const Result<FileInfo> file = files_.info(line_hashes_path(options_.session_id));
  if (!file || file->kind != FileKind::kRegular) {
    line_hashes_ = {};
    hashes_file_ = {};
    return file || is_not_found(file.error()) ? Status() : Status(file.error());
  }
  if (file->is_unchanged(hashes_file_)) {
    return {};
  }
  Result<LineHashes> line_hashes = load_line_hashes(files_, options_.session_id);
  if (!line_hashes && line_hashes.error().os_error != 0) {
    return line_hashes.error();
  }
  are_hashes_newer_ = !line_hashes && line_hashes.error().code == ErrorCode::E_NEWER_VERSION;
  line_hashes_ = line_hashes ? std::move(*line_hashes) : LineHashes();
  hashes_file_ = *file;
  return {};
}

Status SessionWriter::write_line_hashes() {
  if (are_hashes_newer_) {
    return {};
  }
  BMAD_TRY(save_line_hashes(files_, options_.session_id, line_hashes_));
  BMAD_TRY_ASSIGN(hashes_file_, files_.info(line_hashes_path(options_.session_id)));
  return {};
}

/// What a process could not make durable leaves the logs before anybody reads or rewrites them with
/// the lock: a copy of it would count as written.
Status SessionWriter::leave_out_all_refused() {
  for (auto& [log_file, target] : logs_) {
    BMAD_TRY(target.refused().empty() ? Result<std::uint64_t>(0) : target.prepare());
  }
  if (line_hashes_.refused.empty()) {
    return {};
  }
  for (const auto& [log_file, refused] : line_hashes_.refused) {
    const std::string path = session_file(options_.session_id, log_file);
    if (std::ranges::find(options_.log_files, log_file) != options_.log_files.end() &&
        files_.info(path)) {
      AppendLog& target = log(log_file);
      target.refuse(refused.inode, refused.ranges);
      BMAD_TRY(target.prepare());
      line_hashes_.logs.erase(log_file);  // May cover them; the next record reads the new file.
    }
  }
  line_hashes_.refused.clear();
  static_cast<void>(write_line_hashes());  // What stays there names a file that has gone.
  return {};
}

/// Before a line is written into another file than the recorded one.
Status SessionWriter::adopt_recorded_file(const std::string& log_file, const AppendLog& target) {
  const auto recorded = line_hashes_.logs.find(log_file);
  if (recorded == line_hashes_.logs.end()) {
    return {};
  }
  // An editor saves whole lines: what was recorded and is torn now is damage.
  const bool is_cut = target.was_torn() && recorded->second.bytes > target.info().size;
  recorded->second.is_damaged = recorded->second.is_damaged || is_cut;
  BMAD_TRY_ASSIGN(const bool changed,
                  adopt_file(target.file(), target.info(), recorded->second, AdoptLook::kFile));
  if (changed) {
    static_cast<void>(write_line_hashes());  // Else with the next lines that are recorded.
  }
  return {};
}

Status SessionWriter::mark_refused(const std::string& log_file, File& log, std::uint64_t inode,
                                   std::span<const ByteRange> ranges) {
  assert(!ranges.empty());
  RefusedBytes& refused = line_hashes_.refused[log_file];
  if (refused.inode != inode) {
    refused = {.inode = inode};
  }
  for (const ByteRange& range : ranges) {
    BMAD_TRY_ASSIGN(const RefusedRange hashed, refused_range(log, range));
    refused.ranges.push_back(hashed);
  }
  return write_line_hashes();
}

Status SessionWriter::add_line_hashes(const std::string& log_file,
                                      const AppendLog::Written& written) {
  const std::string path = session_file(options_.session_id, log_file);
  BMAD_TRY_ASSIGN(FileInfo file, files_.info(path));
  if (!file.same_file(AppendLog::identity_of(written)) || file.size < written.end) {
    return {};  // Rewritten by somebody who has recorded it.
  }
  LogHashes& line_hashes = line_hashes_.logs[log_file];
  if (!line_hashes.lines.empty() && line_hashes.bytes <= written.offset) {
    file.size = written.offset;  // What was there before.
    BMAD_TRY(adopt_file(AppendLog::file_of(written), file, line_hashes, AdoptLook::kLastLine));
  }
  BMAD_TRY(extend_hashes(AppendLog::file_of(written), written.end, line_hashes));
  return write_line_hashes();
}

Result<std::uint64_t> SessionWriter::mend(const FileLock::Guard& /*guard*/,
                                          const std::string& log_file) {
  AppendLog& target = log(log_file);
  BMAD_TRY(read_line_hashes());
  BMAD_TRY_ASSIGN(const std::uint64_t size, target.prepare());
  BMAD_TRY(adopt_recorded_file(log_file, target));
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
    BMAD_TRY_ASSIGN(size_estimate_,
                    session_footprint(files_, options_.session_id, options_.log_files));
    estimates_left_ = kAppendsBetweenLooks;
  }
  assert(estimates_left_ > 0);
  --estimates_left_;
  seen_sizes_.insert_or_assign(std::string(log_file), log_size);
  if (size_estimate_ + added <= options_.size_max) {
    return {};
  }
  return path_error(
      ErrorCode::E_SIZE_LIMIT, files_.display_path(session_folder(options_.session_id)),
      fmt::format(
          "{} more bytes would take the session from {:.2f} MB beyond its {:.0f} MB; start a new "
          "session, or raise storage.max_session_size_mb in config.json",
          added, static_cast<double>(size_estimate_) / (1U << 20U),
          static_cast<double>(options_.size_max) / (1U << 20U)));
}

Result<std::uint64_t> session_footprint(FileSystem& files, std::string_view session_id,
                                        const std::vector<std::string>& log_files) {
  std::uint64_t footprint = 0;
  const auto add = [&](std::string_view name) -> Status {
    BMAD_TRY_ASSIGN(const auto info, if_there(files.info(session_file(session_id, name))));
    footprint += info ? info->size : 0;
    return {};
  };
  for (const std::string& log_file : log_files) {
    BMAD_TRY(add(log_file));
  }
  for (const char* name : {kManifestName, kAuditName, kSummaryName, kQuarantineName}) {
    BMAD_TRY(add(name));
  }
  return footprint;
}

}  // namespace bmad_mem
