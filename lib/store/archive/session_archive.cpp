// session_archive.cpp - packs the files of a session into one archive, reads and restores it.
#include "store/session_archive.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <ranges>
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "store/atomic_file.hpp"
#include "store/gzip.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"
#include "store/unpacked_cache.hpp"
#include "tar.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kUnpackRemedy =
    "; if you trust it, unpack it with tar and look, and pack what is the session's";

/// What is said of an archive that is too large: not all that read one take as much.
std::string size_remedy(std::string_view session_id, const ArchiveLimits& limits) {
  return limits.bytes == ArchiveLimits().bytes
             ? std::string(kUnpackRemedy)
             : fmt::format("; if you trust it, `bmad-mem session restore {}` takes up to {} MiB",
                           session_id, ArchiveLimits().bytes >> 20U);
}

Error refused(const PlacedFile& member, std::string_view why) {
  // The name may hold anything; what is shown of it must not move the cursor.
  constexpr std::size_t kShownMax = 120;
  std::string shown = member.name.substr(0, kShownMax);
  std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return {.code = ErrorCode::E_STORAGE_CORRUPT,
          .message = fmt::format("member '{}' {}{}", shown, why, kUnpackRemedy)};
}

TarBytes bytes_of(std::string_view tar) {
  return [tar](std::uint64_t offset) -> Result<std::string_view> {
    assert(offset < tar.size());
    return tar.substr(static_cast<std::size_t>(offset));
  };
}

Result<std::vector<ArchivedFile>> unpack(std::string packed, std::string_view session_id,
                                         const ArchiveLimits& limits) {
  std::uint64_t size_max = tar_size_max(packed.size(), limits);
  UnpackBudget* const budget = says_too_large(packed, size_max) ? nullptr : limits.budget;
  if (budget != nullptr && budget->is_limited()) {
    size_max = std::min(size_max, said_text_size(packed));
  }
  Result<std::string> tar = unpack_within(budget, packed, size_max, gunzip);
  if (!tar) {
    if (tar.error().code == ErrorCode::E_SIZE_LIMIT && tar.error().os_error == 0) {
      tar.error().message += size_remedy(session_id, limits);
    }
    return std::move(tar).error();
  }
  packed = {};
  BMAD_TRY_ASSIGN(const std::vector<PlacedFile> places,
                  place_archive_files(session_id, tar->size(), bytes_of(*tar), limits));
  std::vector<ArchivedFile> files;
  files.reserve(places.size());
  for (const PlacedFile& place : places) {
    assert(place.offset + place.size <= tar->size());
    files.push_back({.name = place.name,
                     .bytes = tar->substr(static_cast<std::size_t>(place.offset),
                                          static_cast<std::size_t>(place.size)),
                     .mtime_s = place.mtime_s});
  }
  return files;
}

/// Removes from `members` those that the root's .gitignore names: they stay on this machine. The
/// manifest, without which nothing is a session's archive, leads them.
Result<std::vector<ArchivedFile>> take_local_members(FileSystem& files,
                                                     std::vector<ArchivedFile>& members) {
  constexpr std::uint64_t kSizeMax = 1U << 20U;
  BMAD_TRY_ASSIGN(const std::string text, read_if_there(files, kGitignoreFile, kSizeMax));
  const std::string lines = fmt::format("\n{}\n", text);
  const auto is_local = [&](const ArchivedFile& member) {
    return lines.contains(fmt::format("\n/{}/*/{}\n", kSessionsFolder, member.name));
  };
  std::vector<ArchivedFile> local;
  std::ranges::copy_if(members, std::back_inserter(local), is_local);
  std::erase_if(members, is_local);
  const auto manifest = std::ranges::find(members, kManifestName, &ArchivedFile::name);
  if (!local.empty() && manifest != members.end()) {
    local.insert(local.begin(), *manifest);
  }
  return local;
}

/// Reads the archive at `path`, which is that of `session_id` or on its way to be.
Result<std::vector<ArchivedFile>> read_archive(FileSystem& files, const std::string& path,
                                               std::string_view session_id,
                                               const ArchiveLimits& limits) {
  BMAD_TRY_ASSIGN(std::string packed, read_file(files, path, limits.bytes));
  Result<std::vector<ArchivedFile>> members = unpack(std::move(packed), session_id, limits);
  if (!members) {
    members.error().path = files.display_path(path);
  }
  return members;
}

/// Packs the tar in sized members. A large file has its own, so that what is around it, headers of
/// tar and small files, can be had without it.
Result<std::string> pack(std::string_view session_id, std::span<const ArchivedFile> members) {
  constexpr std::uint64_t kSmallMax = 16U << 10U;
  BMAD_TRY_ASSIGN(const std::string tar, make_tar(session_id, members));
  std::string packed;
  std::uint64_t at = 0;  // Up to here it is packed.
  const auto pack_until = [&](std::uint64_t end) -> Status {
    while (at < end) {
      const std::uint64_t size = std::min<std::uint64_t>(end - at, kArchiveTextMax);
      BMAD_TRY_ASSIGN(const std::string member, gzip_sized(std::string_view(tar).substr(at, size)));
      packed += member;
      at += size;
    }
    return {};
  };
  BMAD_TRY(list_tar(tar.size(), bytes_of(tar), [&](const PlacedFile& file) -> Status {
    const std::uint64_t end = file.offset + file.size;
    assert(at <= file.offset && end <= tar.size() && "files are in the order of the tar");
    BMAD_TRY(file.size > kSmallMax ? pack_until(file.offset) : Status());
    return end - at > kSmallMax ? pack_until(end) : Status();
  }));
  BMAD_TRY(pack_until(tar.size()));
  return packed;
}

/// While the archive still has its temporary name, so that a bad one never gets the other.
Status verify(FileSystem& files, const std::string& path, std::string_view session_id,
              std::span<const ArchivedFile> members, const ArchiveLimits& limits) {
  BMAD_TRY_ASSIGN(const std::vector<ArchivedFile> read,
                  read_archive(files, path, session_id, limits));
  if (!std::ranges::equal(read, members)) {
    return path_error(ErrorCode::E_STORAGE_CORRUPT, files.display_path(path),
                      "was written, but does not hold what was archived when it is read back; "
                      "nothing was changed: check the disk and the memory, and try again");
  }
  return {};
}

Status check_names(std::string_view session_id, std::span<const ArchivedFile> members) {
  for (const ArchivedFile& member : members) {
    if (!is_session_file(member.name)) {
      return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                   .message = fmt::format("'{}' is no file of a session, so {} is not restored",
                                          member.name, session_id)};
    }
  }
  return {};
}

Status check_is_free(FileSystem& files, std::string_view session_id) {
  const std::string folder = session_folder(session_id);
  const Result<FileInfo> info = files.info(folder);
  if (!info) {
    return is_not_found(info.error()) ? Status() : info.error();
  }
  return path_error(ErrorCode::E_CONCURRENT_MOD, files.display_path(folder),
                    fmt::format("there is a session {} already; delete it before its archive "
                                "is restored, or work with it as it is",
                                session_id));
}

Status write_new_file(FileSystem& files, const std::string& path, std::string_view bytes) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kCreate));
  BMAD_TRY(write_all(*file, bytes));
  return file->sync_all();
}

Status write_members(FileSystem& files, const std::string& folder,
                     std::span<const ArchivedFile> members) {
  BMAD_TRY(files.make_directory(folder));
  const std::string artifacts = fmt::format("{}/{}", folder, kArtifactsName);
  const bool has_artifacts = std::ranges::any_of(members, [](const ArchivedFile& member) {
    return member.name.find('/') != std::string::npos;
  });
  if (has_artifacts) {
    BMAD_TRY(files.make_directory(artifacts));
  }
  for (const ArchivedFile& member : members) {
    BMAD_TRY(write_new_file(files, fmt::format("{}/{}", folder, member.name), member.bytes));
  }
  if (has_artifacts) {
    BMAD_TRY(files.sync_directory(artifacts));
  }
  return files.sync_directory(folder);
}

}  // namespace

ArchiveLimits question_limits(const Store& store, bool is_new) {
  ArchiveLimits limits = kReadLimits;
  limits.budget =
      is_new && store.new_budget.is_limited() ? &store.new_budget : &store.unpack_budget;
  return limits;
}

std::uint64_t tar_size_max(std::uint64_t packed_size, const ArchiveLimits& limits) {
  return std::min(limits.bytes, std::max(limits.ratio_free_bytes, limits.ratio * packed_size));
}

Result<std::vector<PlacedFile>> place_archive_files(std::string_view session_id,
                                                    std::uint64_t tar_size, const TarBytes& bytes,
                                                    const ArchiveLimits& limits) {
  const std::string prefix = fmt::format("{}/", session_id);
  const std::string artifacts = fmt::format("{}{}/", prefix, kArtifactsName);
  std::uint64_t count = 0;
  std::unordered_set<std::string> names;
  std::vector<PlacedFile> files;
  BMAD_TRY(list_tar(tar_size, bytes, [&](PlacedFile member) -> Status {
    if (++count > limits.members) {
      return Error{.code = ErrorCode::E_SIZE_LIMIT,
                   .message = fmt::format("has more than {} members, the most that is read{}",
                                          limits.members, kUnpackRemedy)};
    }
    if (member.kind == kTarFolder && (member.name == prefix || member.name == artifacts)) {
      return {};  // tar itself writes one for each folder; it says nothing.
    }
    if (member.kind != kTarFile) {
      return refused(member, fmt::format("is {}", member.kind));
    }
    std::string inner = member.name.starts_with(prefix) ? member.name.substr(prefix.size()) : "";
    if (!is_session_file(inner)) {
      return refused(member, "has a name that no file of this session has");
    }
    if (!names.insert(inner).second) {
      return refused(member, "is there twice");
    }
    member.name = std::move(inner);
    member.mtime_s = std::max<std::int64_t>(0, member.mtime_s);
    files.push_back(std::move(member));
    return {};
  }));
  if (!names.contains(kManifestName)) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = fmt::format("has no member {}{}, so it is not a session archive",
                                        prefix, kManifestName)};
  }
  assert(files.size() == names.size());
  return files;
}

ArchiveSize size_of_archive(std::span<const ArchivedFile> members, std::uint64_t compressed_bytes) {
  ArchiveSize size{.files = members.size(), .compressed_bytes = compressed_bytes};
  std::string_view conversation;
  std::string_view summary;
  JsonParser parser;
  for (const ArchivedFile& member : members) {
    const bool is_conversation = member.name == entry_type_info(EntryType::kConversation).log_file;
    conversation = is_conversation ? member.bytes : conversation;
    summary = member.name == kSummaryName ? member.bytes : summary;
    size.original_bytes += member.bytes.size();
    size.hashes.push_back(
        {.name = member.name, .size = member.bytes.size(), .xxh3 = hash_hex(xxh3(member.bytes))});
    const bool is_log = std::ranges::find(log_files(), member.name) != log_files().end();
    const std::string_view bytes = is_log ? member.bytes : std::string_view();
    for (const auto& line : bytes | std::views::split('\n')) {
      const Result<JsonValue> entry = parser.parse(std::string_view(line));
      for (const char* key : {"timestamp", "updated_at"}) {
        size.newest =
            std::max(size.newest, entry ? try_parse_rfc3339((*entry)[key].string()) : std::nullopt);
      }
    }
  }
  size.title = derived_title(conversation, summary);
  return size;
}

Result<ArchiveSize> write_session_archive(FileSystem& files, std::string_view session_id,
                                          const ArchiveLimits& limits, bool for_git) {
  assert(is_session_id(session_id));
  BMAD_TRY_ASSIGN(const std::vector<ArchivedFile> members, read_session_files(files, session_id));
  return rewrite_session_archive(files, session_id, members, limits, for_git);
}

Result<ArchiveSize> rewrite_session_archive(FileSystem& files, std::string_view session_id,
                                            std::span<const ArchivedFile> all,
                                            const ArchiveLimits& limits, bool for_git) {
  assert(is_session_id(session_id));
  const std::string local_path = archive_local_path(session_id);
  BMAD_TRY_ASSIGN(const bool had_local, is_there(files, local_path));
  std::vector<ArchivedFile> members(all.begin(), all.end());
  std::vector<ArchivedFile> local;
  if (for_git || had_local) {
    BMAD_TRY_ASSIGN(local, take_local_members(files, members));
  }
  const std::optional<Timestamp> newest = size_of_archive(members, 0).newest;
  for (ArchivedFile& member : members) {
    if (member.mtime_s == 0 && newest) {
      member.mtime_s = std::chrono::floor<std::chrono::seconds>(*newest).time_since_epoch().count();
    }
  }
  BMAD_TRY_ASSIGN(const std::string packed, pack(session_id, members));
  const std::string path = archive_path(session_id);
  BMAD_TRY(ensure_folder(files, kArchiveFolder));
  if (!local.empty()) {  // Before the folder may go.
    BMAD_TRY_ASSIGN(const std::string packed_local, pack(session_id, local));
    BMAD_TRY(replace_file(files, local_path, packed_local));
  } else if (had_local) {
    BMAD_TRY(remove_durably(files, local_path));
  }
  for (const std::string& derived :
       {archive_index_path(session_id), archive_known_path(session_id)}) {
    BMAD_TRY(remove_durably(files, derived));  // It holds the old words.
  }
  BMAD_TRY(replace_file_with(files, path, [&](File& file) -> Status {
    BMAD_TRY(write_all(file, packed));
    BMAD_TRY(file.sync_all());
    return verify(files, temporary_path(path), session_id, members, limits);
  }));
  remember_archive(files, path, files.info(path), ArchiveNote::kOurs);
  return size_of_archive(members, packed.size());
}

Result<ArchiveSize> measure_session_archive(FileSystem& files, std::string_view session_id) {
  assert(is_session_id(session_id));
  BMAD_TRY_ASSIGN(const std::vector<ArchivedFile> members, read_session_files(files, session_id));
  BMAD_TRY_ASSIGN(const std::string packed, pack(session_id, members));
  return size_of_archive(members, packed.size());
}

Result<std::vector<ArchivedFile>> read_session_archive(FileSystem& files,
                                                       std::string_view session_id,
                                                       const ArchiveLimits& limits) {
  assert(is_session_id(session_id));
  const std::string path = archive_path(session_id);
  Result<std::vector<ArchivedFile>> members = read_archive(files, path, session_id, limits);
  if (!members && is_not_found(members.error())) {
    return path_error(ErrorCode::E_SESSION_NOT_FOUND, files.display_path(path),
                      fmt::format("session {} has no archive; `bmad-mem session list` shows "
                                  "what is archived",
                                  session_id),
                      members.error().os_error);
  }
  const std::string local_path = archive_local_path(session_id);
  BMAD_TRY_ASSIGN(const bool has_local, is_there(files, local_path));
  if (members && has_local) {
    BMAD_TRY_ASSIGN(std::vector<ArchivedFile> local,
                    read_archive(files, local_path, session_id, limits));
    std::erase_if(local, [](const auto& member) { return member.name == kManifestName; });
    std::ranges::move(local, std::back_inserter(*members));
  }
  return members;
}

Result<std::vector<std::string>> archived_session_ids(FileSystem& files) {
  return ids_of_files(files, kArchiveFolder, ".tar.gz");
}

// From the files of an archive to the folder of a session.

Status unpack_session_archive(FileSystem& files, std::string_view session_id,
                              std::span<const ArchivedFile> members) {
  assert(is_session_id(session_id));
  BMAD_TRY(check_names(session_id, members));
  BMAD_TRY(check_is_free(files, session_id));
  BMAD_TRY(ensure_folder(files, kSessionsFolder));
  const std::string unfinished = unfinished_session_folder(session_id);
  BMAD_TRY(remove_tree(files, unfinished));
  Status filled = write_members(files, unfinished, members);
  if (filled) {
    filled = files.rename(unfinished, session_folder(session_id));
  }
  if (!filled) {
    // The cause is worth more than the outcome of tidying up.
    static_cast<void>(remove_tree(files, unfinished));
    return filled;
  }
  return files.sync_directory(kSessionsFolder);
}

}  // namespace bmad_mem
