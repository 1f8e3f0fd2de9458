// unpacked_files.cpp - the files of a packed session, from memory or from ranges of its archive.
#include "store/unpacked_files.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr ArchiveLimits kRangeLimits{.ratio = UnpackBudget::kLikelyRatio,
                                     .ratio_free_bytes = UnpackBudget::kExcessMax};

/// The archive, if it still is the file `origin`.
Result<std::unique_ptr<File>> open_same(FileSystem& files, const std::string& path,
                                        const FileInfo& origin) {
  BMAD_TRY_ASSIGN(std::unique_ptr<File> file, files.open(path, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const FileInfo now, file->info());
  if (!now.is_unchanged(origin)) {
    return not_in_package(files.display_path(path));
  }
  return file;
}

}  // namespace

Error archive_is_read_only(const std::string& path) {
  return path_error(ErrorCode::E_STORAGE_IO, path, "an archived session can't be written to",
                    EROFS);
}

Error not_in_package(const std::string& path) {
  return path_error(ErrorCode::E_STORAGE_IO, path, "there is no such file in the archive", ENOENT);
}

UnpackedFiles::UnpackedFiles(std::string display_path, std::uint64_t package, NamedBytes files)
    : display_path_(std::move(display_path)), package_(package), files_(std::move(files)) {}

Result<std::unique_ptr<File>> UnpackedFiles::open(const std::string& path, OpenMode mode) {
  BMAD_TRY_ASSIGN(const auto found, find_archive(files_, path, mode));
  const auto read = [self = shared_from_this(), bytes = std::string_view(found->second)](
                        std::uint64_t offset, std::span<char> out) -> Result<std::size_t> {
    return offset < bytes.size() ? bytes.copy(out.data(), out.size(), offset) : 0;
  };
  return std::make_unique<ArchiveMember>(path, info_of(*found), read);
}

Result<FileInfo> UnpackedFiles::info(const std::string& path) {
  BMAD_TRY_ASSIGN(const auto found, find_archive(files_, path));
  return info_of(*found);
}

std::string UnpackedFiles::display_path(const std::string& /*path*/) const { return display_path_; }

std::uint64_t UnpackedFiles::size() const {
  return sum_of(files_, [](const auto& file) { return file.second.size(); });
}

FileInfo UnpackedFiles::info_of(const NamedBytes::value_type& file) const {
  return {.inode = package_, .size = file.second.size()};
}

Result<std::shared_ptr<RangedFiles>> RangedFiles::open(const Store& store,
                                                       const std::string& session_id,
                                                       const FileInfo& origin,
                                                       std::uint64_t package, std::uint64_t owner,
                                                       bool is_new) {
  const std::string path = archive_path(session_id);
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> archive, open_same(*store.files, path, origin));
  BMAD_TRY_ASSIGN(std::optional<ArchiveMembers> members,
                  ArchiveMembers::find(*archive, kRangeLimits));
  if (!members) {
    return std::shared_ptr<RangedFiles>();
  }
  std::shared_ptr<RangedFiles> files(
      new RangedFiles(store, path, origin, package, owner, *std::move(members)));
  if (is_new) {
    BMAD_TRY(store.new_budget.take(files->members_.tar_size(), origin.size));
  }
  const Result<std::vector<PlacedFile>> places = list_archive(
      files->members_, session_id, [&](std::size_t member) { return files->text(member); });
  if (!places) {
    const Error& error = places.error();
    const bool is_passing = error.code == ErrorCode::E_STORAGE_IO || error.os_error == EAGAIN;
    return is_passing ? Result<std::shared_ptr<RangedFiles>>(error)
                      : std::shared_ptr<RangedFiles>();
  }
  for (const std::string& log : log_files()) {
    files->files_[session_file(session_id, log)];
  }
  for (const PlacedFile& place : *places) {
    assert(place.offset + place.size <= files->members_.tar_size());
    // Not session_file(): an artifact's name has a folder in it.
    files->files_[fmt::format("{}/{}", session_folder(session_id), place.name)] = place;
  }
  return files;
}

Result<std::unique_ptr<File>> RangedFiles::open(const std::string& path, OpenMode mode) {
  BMAD_TRY_ASSIGN(const auto found, find_archive(files_, path, mode));
  const auto read = [self = shared_from_this(), file = found->second](
                        std::uint64_t offset, std::span<char> out) -> Result<std::size_t> {
    const std::uint64_t rest = file.size - std::min(offset, file.size);
    out = out.first(std::min<std::uint64_t>(out.size(), rest));
    BMAD_TRY(self->read_tar(file.offset + offset, out));
    return out.size();
  };
  return std::make_unique<ArchiveMember>(path, info_of(found->second), read);
}

Result<FileInfo> RangedFiles::info(const std::string& path) {
  BMAD_TRY_ASSIGN(const auto found, find_archive(files_, path));
  return info_of(found->second);
}

std::string RangedFiles::display_path(const std::string& /*path*/) const {
  return store_.files->display_path(path_);
}

Status RangedFiles::read_tar(std::uint64_t offset, std::span<char> out) const {
  assert(out.empty() || offset + out.size() <= members_.tar_size());
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
  BMAD_TRY(store_.unpack_budget.take(members_.text_size(member), members_.packed_size(member)));
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
  assert(shared->size() == members_.text_size(member));
  store_.unpacked.add(owner_, member, shared, shared->size(), store_.archives_size_max);
  return std::shared_ptr<const std::string>(std::move(shared));
}

}  // namespace bmad_mem
