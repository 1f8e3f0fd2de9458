// file_system.hpp - the seam between the engine and the disk: every byte that reaches a store goes
// through here, so that tests can make any of it fail.
//
// A FileSystem is rooted: paths are relative to its root, with '/' between names ("sessions/x/
// manifest.json"), and nothing outside can be reached. Symbolic links, FIFOs, sockets and devices
// are refused, not followed; so is writing to a file that has a second name (a hard link).
//
// Errors carry errno in Error::os_error: E_STORAGE_FULL for a full disk or quota, E_STORAGE_IO for
// everything else. Interrupted calls (EINTR) are repeated inside.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/recent.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

enum class FileKind : std::uint8_t { kRegular, kDirectory, kOther };

struct FileInfo {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  FileKind kind = FileKind::kRegular;
  std::uint64_t links = 1;    ///< Names that the file has; without any it goes when it is closed.
  std::int64_t ctime_ns = 0;  ///< Of its last change of whatever kind: nobody can set it.

  [[nodiscard]] bool same_file(const FileInfo& other) const {
    return device == other.device && inode == other.inode;
  }
  /// Whether it is the same file, and nothing tells that it was written to since.
  [[nodiscard]] bool is_unchanged(const FileInfo& other) const {
    return same_file(other) && size == other.size && mtime_ns == other.mtime_ns;
  }
};

enum class OpenMode : std::uint8_t {
  kRead,    ///< Must exist.
  kAppend,  ///< Read, and write at the end; created (0600) when missing.
  kUpdate,  ///< Read and write anywhere; created (0600) when missing.
  kCreate,  ///< Write a new file (0600); what was there is cut to nothing.
};

/// An open regular file. Closed when destroyed. Threads: the calls are as safe as the system's.
class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  /// Reads up to out.size() bytes at `offset`; fewer only at the end of the file. Returns how many.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) = 0;
  /// One write: at the end for kAppend, else behind the last write. May write less than asked for
  /// (a full disk, a limit); returns how many bytes.
  virtual Result<std::size_t> write(std::string_view bytes) = 0;
  /// One write at `offset`. Returns how many bytes.
  virtual Result<std::size_t> write_at(std::uint64_t offset, std::string_view bytes) = 0;
  virtual Status truncate(std::uint64_t size) = 0;
  /// Gives the file this time of change. A file system may round it. Errors: where it can't be set.
  virtual Status set_mtime(std::int64_t mtime_ns);
  /// The bytes, and the size needed to find them, survive power loss (fdatasync).
  virtual Status sync_data() = 0;
  /// As sync_data, with all metadata (fsync).
  virtual Status sync_all() = 0;
  virtual Result<FileInfo> info() = 0;
  /// The system's descriptor, for kernel locks; -1 when there is none.
  [[nodiscard]] virtual int descriptor() const = 0;
};

/// A folder and everything below it.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
  /// For readers that check what they read: the file that was at `path` when it was first asked
  /// for, which may be another one by now. Some stay open for the next who asks.
  Result<std::shared_ptr<File>> open_cached(const std::string& path);
  void close_cached();
  /// Of the thing at `path` itself; a symbolic link is kOther. A link among the folders on the way
  /// may be followed: looking does no harm, and every other call refuses it.
  virtual Result<FileInfo> info(const std::string& path) = 0;
  /// Names in the folder `path` ("" is the root), sorted by byte, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  /// Creates one folder (0700). An existing one is an error with os_error EEXIST.
  virtual Status make_directory(const std::string& path) = 0;
  /// Puts `from` in the place of `to` in one step. Durable after sync_directory().
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;
  /// Removes an empty folder.
  virtual Status remove_directory(const std::string& path) = 0;
  /// Names created, renamed and removed in the folder `path` survive power loss.
  virtual Status sync_directory(const std::string& path) = 0;
  /// Goes on in the folder that is at the root's path now: a backup that was put back, or a git
  /// checkout, is another folder of that name. Errors: as the system's, when there is none.
  virtual Status follow_root() { return {}; }
  /// `path` as people should see it: with the root in front.
  [[nodiscard]] virtual std::string display_path(const std::string& path) const = 0;

 private:
  std::mutex cached_mutex_;
  Recent<std::string, std::shared_ptr<File>> cached_;
};

/// Passes all on to another file system: for one that does a few things otherwise.
class FileSystemAround : public FileSystem {
 public:
  explicit FileSystemAround(std::unique_ptr<FileSystem> inner) : inner_(std::move(inner)) {}

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    return inner_->open(path, mode);
  }
  Result<FileInfo> info(const std::string& path) override { return inner_->info(path); }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return inner_->list(path);
  }
  Status make_directory(const std::string& path) override { return inner_->make_directory(path); }
  Status rename(const std::string& from, const std::string& to) override {
    return inner_->rename(from, to);
  }
  Status remove(const std::string& path) override { return inner_->remove(path); }
  Status remove_directory(const std::string& path) override {
    return inner_->remove_directory(path);
  }
  Status sync_directory(const std::string& path) override { return inner_->sync_directory(path); }
  Status follow_root() override { return inner_->follow_root(); }
  [[nodiscard]] std::string display_path(const std::string& path) const override {
    return inner_->display_path(path);
  }

 protected:
  [[nodiscard]] FileSystem& inner() const { return *inner_; }

 private:
  std::unique_ptr<FileSystem> inner_;
};

/// Whether `error` says that the file or folder isn't there.
bool is_not_found(const Error& error);

/// What was found, or nothing where it isn't there. Errors: those of `found` but is_not_found().
template <typename T>
Result<std::optional<T>> if_there(Result<T> found) {
  if (found) {
    return std::optional<T>(*std::move(found));
  }
  return is_not_found(found.error()) ? Result<std::optional<T>>(std::nullopt)
                                     : Result<std::optional<T>>(std::move(found).error());
}
/// The same for what has no value.
inline Status if_there(Status done) {
  return done || is_not_found(done.error()) ? Status() : std::move(done);
}

/// Whether there is something at `path`. A disk that cannot tell is an error: taken for "no", it
/// would make a caller forget what it was about.
Result<bool> is_there(FileSystem& files, const std::string& path);

/// The names in folder `path`; none when nothing is there. Errors: as list(); E_STORAGE_CORRUPT
/// when something else is in the folder's place: its content must not pass for missing.
Result<std::vector<std::string>> list_if_there(FileSystem& files, const std::string& path);

/// Up to `size` bytes of `file` from `offset` on: fewer where it ends.
Result<std::string> read_range(File& file, std::uint64_t offset, std::uint64_t size);

/// The longest line that is read into memory: an entry has 1 MiB at most, and a damaged one that is
/// kept as text of JSON has some more.
inline constexpr std::uint64_t kTextLineMax = std::uint64_t{4} << 20U;

/// Reads the whole file `path`. Errors: as open(); E_SIZE_LIMIT above `size_max` bytes, and for a
/// .jsonl with a line above kTextLineMax, of which 4 MiB more are read at most.
Result<std::string> read_file(FileSystem& files, const std::string& path, std::uint64_t size_max);
/// The same; empty when there is none.
Result<std::string> read_if_there(FileSystem& files, const std::string& path,
                                  std::uint64_t size_max);

// Whether a path leads out of the project that a memory belongs to.
//
//   /home/ann/app                  the workspace
//   src/a.cpp   ./b  ../app/c      inside: relative paths count from it
//   ../other    /home/ann/apple    outside
//   file:///home/ann/app/d  ~/x    as the paths they stand for
//   https://example.com/e          names no file: not outside
//
// Pure text: nothing is looked up, so the answer is the same for a path that is gone or was never
// there, and on the machine of whoever reads the entry later.

struct Workspace {
  std::string folder;     ///< Absolute, as it was named.
  std::string resolved;   ///< The same without symbolic links; paths below either are inside.
  std::string home = {};  ///< What ~ stands for, absolute; empty: unknown, so ~ is outside.
  /// The same folder in other worktrees of git: paths below any are inside.
  std::vector<std::string> worktrees = {};
};

/// Whether `path` is that of a file outside `workspace`. `.`, `..` and doubled slashes are worked
/// out as text; names are compared whole and, below a drive, without regard to the case of ASCII.
/// - Windows paths have both slashes for separators; so have relative paths, which may be such.
/// - URLs with the scheme file are the paths they hold, percent-encoded; those of another host are
///   outside, and so are URLs of any other scheme but http and https.
/// - `~name` is the home of somebody, and outside.
/// - The empty path is none, and not outside.
bool is_outside_workspace(const Workspace& workspace, std::string_view path);

}  // namespace bmad_mem
