#include "store/ranged_files.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr ArchiveLimits kRangeLimits{.ratio = UnpackBudget::kLikelyRatio,
                                     .ratio_free_bytes = UnpackBudget::kExcessMax};

/// A file in an archive.
class RangedFile final : public PackedFile {
 public:
  RangedFile(std::string path, std::shared_ptr<const RangedFiles> archive, std::uint64_t offset,
             const FileInfo& info)
      : PackedFile(std::move(path), info), archive_(std::move(archive)), offset_(offset) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    const std::uint64_t rest = size() - std::min(offset, size());
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), rest));
    BMAD_TRY(archive_->read_tar(offset_ + offset, out.first(wanted)));
    return wanted;
  }

 private:
  std::shared_ptr<const RangedFiles> archive_;
  std::uint64_t offset_;  ///< In the tar.
};

/// The archive, if it still is the file `origin`.
Result<std::unique_ptr<File>> open_same(FileSystem& files, const std::string& path,
                                        const FileInfo& origin) {
  BMAD_TRY_ASSIGN(std::unique_ptr<File> file, files.open(path, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const FileInfo now, file->info());
  if (!now.same_file(origin) || now.size != origin.size || now.mtime_ns != origin.mtime_ns) {
    return not_in_package(files.display_path(path));
  }
  return file;
}

}  // namespace

Result<std::shared_ptr<RangedFiles>> RangedFiles::open(const Store& store,
                                                       const std::string& session_id,
                                                       const FileInfo& origin,
                                                       std::uint64_t package, std::uint64_t owner) {
  const std::string path = archive_path(session_id);
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> archive, open_same(*store.files, path, origin));
  BMAD_TRY_ASSIGN(std::optional<ArchiveMembers> members,
                  ArchiveMembers::find(*archive, kRangeLimits));
  if (!members) {
    return std::shared_ptr<RangedFiles>();
  }
  std::shared_ptr<RangedFiles> files(
      new RangedFiles(store, path, origin, package, owner, *std::move(members)));
  const auto text_of = [&](std::size_t member) -> Result<std::shared_ptr<const std::string>> {
    BMAD_TRY_ASSIGN(std::string text, files->members_.read(*archive, member));
    auto shared = std::make_shared<std::string>(std::move(text));
    store.unpacked.add(owner, member, shared, shared->size(), store.archives_size_max);
    return std::shared_ptr<const std::string>(std::move(shared));
  };
  const Result<std::vector<PlacedFile>> places = list_archive(files->members_, session_id, text_of);
  if (!places) {
    const bool is_of_disk = places.error().code == ErrorCode::E_STORAGE_IO;
    return is_of_disk ? Result<std::shared_ptr<RangedFiles>>(places.error())
                      : std::shared_ptr<RangedFiles>();
  }
  for (const std::string& log : log_files()) {
    files->files_[session_file(session_id, log)];
  }
  for (const PlacedFile& place : *places) {
    // Not session_file(): an artifact's name has a folder in it.
    files->files_[fmt::format("{}/{}", session_folder(session_id), place.name)] = {
        .offset = place.offset, .size = place.size};
  }
  return files;
}

Result<std::unique_ptr<File>> RangedFiles::open(const std::string& path, OpenMode mode) {
  const auto found = files_.find(path);
  if (found == files_.end()) {
    return not_in_package(path);
  }
  if (mode != OpenMode::kRead) {
    return packed_is_read_only(path);
  }
  return std::make_unique<RangedFile>(path, shared_from_this(), found->second.offset,
                                      info_of(found->second));
}

Result<FileInfo> RangedFiles::info(const std::string& path) {
  const auto found = files_.find(path);
  return found == files_.end() ? Result<FileInfo>(not_in_package(path)) : info_of(found->second);
}

std::string RangedFiles::display_path(const std::string& /*path*/) const {
  return store_.files->display_path(path_);
}

Status RangedFiles::read_tar(std::uint64_t offset, std::span<char> out) const {
  while (!out.empty()) {
    const std::size_t member = members_.holding(offset);
    BMAD_TRY_ASSIGN(const std::shared_ptr<const std::string> bytes, text(member));
    const std::size_t copied = bytes->copy(
        out.data(), out.size(), static_cast<std::size_t>(offset - members_.begin(member)));
    offset += copied;
    out = out.subspan(copied);
  }
  return {};
}

Result<std::string> RangedFiles::read_member(std::size_t member) const {
  // Opened each time: there may be more archives than a process may have files open.
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> archive, open_same(*store_.files, path_, origin_));
  const std::uint64_t packed = members_.packed_size(member);
  const std::uint64_t size = members_.text_size(member);
  if (store_.unpack_budget.allowed(packed, size) < size) {
    Error error{.code = ErrorCode::E_SIZE_LIMIT};
    UnpackBudget::defer(error);
    return error;
  }
  store_.unpack_budget.spend(packed, size);
  return members_.read(*archive, member);
}

Result<std::shared_ptr<const std::string>> RangedFiles::text(std::size_t member) const {
  if (auto known = store_.unpacked.find<std::string>(owner_, member)) {
    return std::shared_ptr<const std::string>(std::move(known));
  }
  Result<std::string> read = read_member(member);
  if (!read) {
    if (!is_not_found(read.error())) {
      read.error().path = display_path(path_);
      store_.note_damage(path_, origin_, read.error());
    }
    return std::move(read).error();
  }
  auto shared = std::make_shared<std::string>(*std::move(read));
  store_.unpacked.add(owner_, member, shared, shared->size(), store_.archives_size_max);
  return std::shared_ptr<const std::string>(std::move(shared));
}

}  // namespace bmad_mem
