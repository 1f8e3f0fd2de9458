// unpacked_files.hpp - files in memory, under the names that they have in the folder of a session.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.hpp"
#include "store/layout.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {

using NamedBytes = std::map<std::string, std::string>;

/// `lines`, each with its type, as logs of a session. Every log is there, if only as an empty one.
template <typename Line>
NamedBytes logs_of(const std::string& session_id, std::span<Line> lines) {
  NamedBytes logs;
  for (const std::string& log : log_files()) {
    logs[session_file(session_id, log)];
  }
  for (const auto& line : lines) {
    logs[log_path(session_id, line.type)] += line.line + '\n';
  }
  return logs;
}

/// What archives answer to whoever wants to change them.
Error archive_is_read_only(const std::string& path);
/// One that is_not_found().
Error not_in_package(const std::string& path);

/// The one of `files` at `path`, a map, which is opened for `mode`.
template <typename Files>
auto find_archive(Files& files, const std::string& path, OpenMode mode = OpenMode::kRead)
    -> Result<decltype(files.begin())> {
  const auto found = files.find(path);
  if (found == files.end()) {
    return not_in_package(path);
  }
  if (mode != OpenMode::kRead) {
    return archive_is_read_only(path);
  }
  return found;
}

/// An open file in a packed one; read only.
class ArchiveMember final : public File {
 public:
  /// As read_at().
  using Read = std::function<Result<std::size_t>(std::uint64_t offset, std::span<char> out)>;

  /// `read` keeps alive what it reads.
  ArchiveMember(std::string path, const FileInfo& info, Read read)
      : path_(std::move(path)), info_(info), read_(std::move(read)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    return read_(offset, out);
  }
  Result<std::size_t> write(std::string_view /*bytes*/) override {
    return archive_is_read_only(path_);
  }
  Result<std::size_t> write_at(std::uint64_t /*offset*/, std::string_view /*bytes*/) override {
    return archive_is_read_only(path_);
  }
  Status truncate(std::uint64_t /*size*/) override { return archive_is_read_only(path_); }
  Status sync_data() override { return {}; }
  Status sync_all() override { return {}; }
  Result<FileInfo> info() override { return info_; }
  [[nodiscard]] int descriptor() const override { return -1; }

 private:
  std::string path_;
  FileInfo info_;
  Read read_;
};

/// ArchiveReaderPtr files, of which open() and info() make what they are.
class ReadOnlyFiles : public FileSystem {
 public:
  Result<std::vector<std::string>> list(const std::string& path) override {
    return archive_is_read_only(path);
  }
  Status make_directory(const std::string& path) override { return archive_is_read_only(path); }
  Status rename(const std::string& from, const std::string& /*to*/) override {
    return archive_is_read_only(from);
  }
  Status remove(const std::string& path) override { return archive_is_read_only(path); }
  Status remove_directory(const std::string& path) override { return archive_is_read_only(path); }
  Status sync_directory(const std::string& /*path*/) override { return {}; }
};

/// Read only, and never changed. Open files outlive it.
class UnpackedFiles final : public ReadOnlyFiles,
                            public std::enable_shared_from_this<UnpackedFiles> {
 public:
  /// All files have the inode `package`. `display_path` is that of the file they were packed in.
  UnpackedFiles(std::string display_path, std::uint64_t package, NamedBytes files);

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
  [[nodiscard]] std::string display_path(const std::string& path) const override;
  /// Bytes of all files together.
  [[nodiscard]] std::uint64_t size() const;

 private:
  [[nodiscard]] FileInfo info_of(const NamedBytes::value_type& file) const;

  std::string display_path_;
  std::uint64_t package_;
  NamedBytes files_;
};

// The files of an archive, read by the members of it that hold what is wanted.

/// Under the names that they have in the folder of the session. What it unpacks stays in
/// Store::unpacked for a while; what can't be read is noted (see Store::note_damage()). Open files
/// outlive it. Threads: safe.
class RangedFiles final : public ReadOnlyFiles, public std::enable_shared_from_this<RangedFiles> {
 public:
  /// The archive of `session_id`, which is the file `origin`; all its files have the inode
  /// `package`. Null when it has to be unpacked as a whole: then that tells what is wrong with it,
  /// too. `is_new` as Store::new_budget has it. Errors: one that is_not_found() when it is another
  /// file by now; those of the budgets; as the file system's.
  static Result<std::shared_ptr<RangedFiles>> open(const Store& store,
                                                   const std::string& session_id,
                                                   const FileInfo& origin, std::uint64_t package,
                                                   std::uint64_t owner, bool is_new = false);

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<FileInfo> info(const std::string& path) override;
  [[nodiscard]] std::string display_path(const std::string& path) const override;

 private:
  RangedFiles(const Store& store, std::string path, const FileInfo& origin, std::uint64_t package,
              std::uint64_t owner, ArchiveMembers members)
      : store_(store),
        path_(std::move(path)),
        origin_(origin),
        package_(package),
        owner_(owner),
        members_(std::move(members)) {}

  /// As File::read_at(), in the tar, of which what is asked for must be.
  Status read_tar(std::uint64_t offset, std::span<char> out) const;
  [[nodiscard]] Result<std::string> read_member(std::size_t member) const;
  [[nodiscard]] Result<std::shared_ptr<const std::string>> text(std::size_t member) const;
  [[nodiscard]] FileInfo info_of(const PlacedFile& file) const {
    return {.inode = package_, .size = file.size};
  }

  const Store& store_;
  std::string path_;
  FileInfo origin_;
  std::uint64_t package_;
  std::uint64_t owner_;
  ArchiveMembers members_;
  std::map<std::string, PlacedFile> files_;
};

}  // namespace bmad_mem
