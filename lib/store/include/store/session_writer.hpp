// session_writer.hpp - writing to one session: lock, logs, quarantine and quota together.
//
//   lock -> refused lines out -> descriptor current? -> mend a torn end -> quota -> one write ->
//   stamp -> unlock
//        -> fdatasync -> now and then: lock, line hashes, unlock
//
// A writer that nobody uses holds no descriptor but those of the logs it wrote to. Threads: safe.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "store/append_log.hpp"
#include "store/file_lock.hpp"
#include "store/line_hashes.hpp"

namespace bmad_mem {

struct SessionWriterOptions {
  std::string session_id;
  /// Names of the logs that count towards the quota, such as "facts.jsonl".
  std::vector<std::string> log_files;
  std::uint64_t size_max = 10U << 20U;  ///< Of all tracked files, in bytes.
  std::chrono::milliseconds lock_timeout{5000};
  std::string agent_id;
};

/// When an append looks at the record: at the lock is enough for who has rewritten no log since.
enum class LineHashesLook : std::uint8_t { kNow, kAtLock };

class SessionWriter {
 public:
  /// `files` and `clock` must outlive the writer. Touches nothing yet.
  SessionWriter(FileSystem& files, const Clock& clock, SessionWriterOptions options);

  /// The session's lock, for `operation` ("close", "repair"). Lines whose sync failed, in whatever
  /// process, have left the logs by then. Errors: E_LOCK_TIMEOUT; E_SESSION_NOT_FOUND when the
  /// folder has gone; E_NEWER_VERSION when a newer version wrote the session; as the file system's,
  /// when refused lines can't be left out.
  Result<FileLock::Guard> lock(std::string_view operation);

  /// Appends `lines` (whole lines, each with its '\n') to log `log_file`. All or none.
  /// The caller holds the lock and then calls settle(), without the lock.
  /// Errors: E_SIZE_LIMIT: the session would exceed its quota; as AppendLog otherwise.
  Result<AppendLog::Written> append(const FileLock::Guard& guard, const std::string& log_file,
                                    std::string_view lines,
                                    LineHashesLook look = LineHashesLook::kNow);

  /// Waits until what append() wrote to `log_file` survives power loss. The record follows
  /// after at least an eighth of what it covers, so that a line costs its hash some eight times.
  /// When the sync fails, the record tells every process. The caller does not hold the lock.
  /// Errors: as AppendLog::sync().
  Status settle(const std::string& log_file, const AppendLog::Written& written);
  /// The same by the one who holds the lock.
  Status settle(const FileLock::Guard& guard, const std::string& log_file,
                const AppendLog::Written& written);

  /// What append() wrote is not to count: the next lock() leaves it out.
  void refuse(const FileLock::Guard& guard, const std::string& log_file,
              const AppendLog::Written& written);

  /// Mends a torn end of log `log_file`, which must exist. Durable. Returns the log's size.
  Result<std::uint64_t> mend(const FileLock::Guard& guard, const std::string& log_file);

  /// Makes log `log_file`, which must exist, durable as it is, whoever wrote it. Needs no lock.
  Status sync(const std::string& log_file);

  /// The manifest as lock() found it; nothing without one.
  [[nodiscard]] const std::optional<FileInfo>& manifest_file(
      const FileLock::Guard& /*guard*/) const {
    return manifest_file_;
  }

  /// What append() reckoned last of all tracked files, in bytes: other logs' growth by other
  /// processes may be missing. The caller holds the lock.
  [[nodiscard]] std::uint64_t size_estimate(const FileLock::Guard& /*guard*/) const {
    return size_estimate_;
  }

 private:
  AppendLog& log(const std::string& log_file);
  Status check_version();
  Status read_line_hashes();
  Status write_line_hashes();
  Status leave_out_all_refused();
  Status adopt_recorded_file(const std::string& log_file, const AppendLog& target);
  Status mark_refused(const std::string& log_file, File& log, std::uint64_t inode,
                      std::span<const ByteRange> ranges);
  Status add_line_hashes(const std::string& log_file, const AppendLog::Written& written);
  void note_outcome(bool synced, const std::string& log_file, const AppendLog::Written& written);
  Status check_quota(std::string_view log_file, std::uint64_t log_size, std::size_t added);

  FileSystem& files_;
  const Clock& clock_;
  SessionWriterOptions options_;
  FileLock lock_;
  // What follows is guarded by lock_.
  std::map<std::string, AppendLog, std::less<>> logs_;
  std::map<std::string, std::uint64_t, std::less<>> seen_sizes_;
  std::uint64_t size_estimate_ = 0;
  std::uint64_t estimates_left_ = 0;
  std::optional<FileInfo> manifest_file_;
  FileInfo checked_manifest_;  // Whose version this program knows.
  LineHashes line_hashes_;
  bool are_hashes_read_ = false;   // By lock().
  bool are_hashes_newer_ = false;  // A newer version wrote it: it stays as it is.
  FileInfo hashes_file_;  // What line_hashes_ was read from or written to; no size: there is none.
};

/// The bytes of session `session_id`: of `log_files`, manifest, audit, summary and quarantine. What
/// is not there counts nothing.
Result<std::uint64_t> session_footprint(FileSystem& files, std::string_view session_id,
                                        const std::vector<std::string>& log_files);

}  // namespace bmad_mem
