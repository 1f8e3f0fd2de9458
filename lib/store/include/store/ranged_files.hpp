// ranged_files.hpp - the files of an archive, read by the members of it that hold what is wanted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "store/archive_members.hpp"
#include "store/store.hpp"
#include "store/unpacked_files.hpp"

namespace bmad_mem {

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

  /// As File::read_at(), in the tar, of which what is asked for must be.
  Status read_tar(std::uint64_t offset, std::span<char> out) const;

 private:
  struct Range {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };

  RangedFiles(const Store& store, std::string path, const FileInfo& origin, std::uint64_t package,
              std::uint64_t owner, ArchiveMembers members)
      : store_(store),
        path_(std::move(path)),
        origin_(origin),
        package_(package),
        owner_(owner),
        members_(std::move(members)) {}

  [[nodiscard]] Result<std::string> read_member(std::size_t member) const;
  [[nodiscard]] Result<std::shared_ptr<const std::string>> text(std::size_t member) const;
  [[nodiscard]] FileInfo info_of(const Range& range) const {
    return {.inode = package_, .size = range.size};
  }

  const Store& store_;
  std::string path_;
  FileInfo origin_;
  std::uint64_t package_;
  std::uint64_t owner_;
  ArchiveMembers members_;
  std::map<std::string, Range> files_;
};

}  // namespace bmad_mem
