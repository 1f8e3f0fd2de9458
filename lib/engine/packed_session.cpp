#include "packed_session.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "lifecycle/kept_file.hpp"
#include "lifecycle/session_archive.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

Error read_only(const std::string& path) {
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = "an archived session can't be written to",
               .path = path,
               .os_error = EROFS};
}

Error not_there(const std::string& path) {
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = "there is no such file in the archive",
               .path = path,
               .os_error = ENOENT};
}

/// A file in memory that does not change.
class PackedFile final : public File {
 public:
  PackedFile(const std::string& path, const std::string& bytes, FileInfo info)
      : path_(path), bytes_(bytes), info_(info) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    if (offset >= bytes_.size()) {
      return std::size_t{0};
    }
    return bytes_.copy(out.data(), out.size(), offset);
  }
  Result<std::size_t> write(std::string_view /*bytes*/) override { return read_only(path_); }
  Result<std::size_t> write_at(std::uint64_t /*offset*/, std::string_view /*bytes*/) override {
    return read_only(path_);
  }
  Status truncate(std::uint64_t /*size*/) override { return read_only(path_); }
  Status sync_data() override { return {}; }
  Status sync_all() override { return {}; }
  Result<FileInfo> info() override { return info_; }
  [[nodiscard]] int descriptor() const override { return -1; }

 private:
  const std::string& path_;
  const std::string& bytes_;
  FileInfo info_;
};

/// The files of one session under the names that they have in its folder.
class PackedFiles final : public FileSystem {
 public:
  PackedFiles(std::string display_path, std::map<std::string, std::string> files)
      : display_path_(std::move(display_path)), files_(std::move(files)) {}

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    const auto found = files_.find(path);
    if (found == files_.end()) {
      return not_there(path);
    }
    if (mode != OpenMode::kRead) {
      return read_only(path);
    }
    return std::unique_ptr<File>(
        std::make_unique<PackedFile>(found->first, found->second, info_of(found)));
  }
  Result<FileInfo> info(const std::string& path) override {
    const auto found = files_.find(path);
    return found == files_.end() ? Result<FileInfo>(not_there(path)) : info_of(found);
  }
  Result<std::vector<std::string>> list(const std::string& path) override {
    return read_only(path);
  }
  Status make_directory(const std::string& path) override { return read_only(path); }
  Status rename(const std::string& from, const std::string& /*to*/) override {
    return read_only(from);
  }
  Status remove(const std::string& path) override { return read_only(path); }
  Status remove_directory(const std::string& path) override { return read_only(path); }
  Status sync_directory(const std::string& /*path*/) override { return {}; }
  [[nodiscard]] std::string display_path(const std::string& /*path*/) const override {
    return display_path_;
  }
  /// Of all files together.
  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (const auto& [name, bytes] : files_) {
      sum += bytes.size();
    }
    return sum;
  }

 private:
  using Files = std::map<std::string, std::string>;

  FileInfo info_of(Files::const_iterator file) const {
    return {.inode = static_cast<std::uint64_t>(std::distance(files_.begin(), file)) + 1,
            .size = file->second.size()};
  }

  std::string display_path_;
  Files files_;
};

/// What `kind` has of the session, by the names of its logs.
Result<std::map<std::string, std::string>> unpack(const Store& store, const std::string& session_id,
                                                  PackedKind kind) {
  std::map<std::string, std::string> files;
  if (kind == PackedKind::kKept) {
    BMAD_TRY_ASSIGN(const std::vector<KeptLine> lines, read_kept(*store.files, session_id));
    for (const KeptLine& line : lines) {
      files[session_file(session_id, entry_type_info(line.type).log_file)] += line.line + '\n';
    }
    return files;
  }
  BMAD_TRY_ASSIGN(std::vector<ArchivedFile> members,
                  read_session_archive(*store.files, session_id));
  for (ArchivedFile& member : members) {
    // Not session_file(): an artifact's name has a folder in it.
    files[fmt::format("{}/{}", session_folder(session_id), member.name)] = std::move(member.bytes);
  }
  return files;
}

}  // namespace

/// Keeps the files alive beside the index that reads them.
struct PackedSession {
  PackedSession(const Store& store, const std::string& session_id, std::string display_path,
                std::map<std::string, std::string> unpacked, FileInfo packed)
      : files(std::move(display_path), std::move(unpacked)),
        index(files, store.clock,
              {.session_id = session_id,
               .language = store.config.indexing.language,
               .use_checkpoint = false,
               .cache_size = store.config.index_cache_size_bytes()}),
        origin(packed) {}

  PackedFiles files;
  SessionIndex index;
  FileInfo origin;  ///< The file it was unpacked from.
};

namespace {

using Packed = std::shared_ptr<PackedSession>;

/// What is unpacked of the file at `path`, as long as the file is the one that `now` describes.
Packed unpacked_before(const Store& store, const std::string& path, const FileInfo& now) {
  const std::lock_guard guard(store.indexes_mutex);
  const auto slot = store.packed.find(path);
  if (slot == store.packed.end()) {
    return nullptr;
  }
  const FileInfo& then = slot->second.session->origin;
  if (!then.same_file(now) || then.size != now.size || then.mtime_ns != now.mtime_ns) {
    return nullptr;
  }
  slot->second.used = ++store.packed_uses;
  return slot->second.session;
}

/// Takes archives out of the cache, those first that were asked for longest ago, until the others
/// have no more bytes than they may; the latest stays. What was kept is small, and every search
/// asks for it. The caller holds indexes_mutex, and frees what is returned without it.
std::vector<Packed> take_out_archives(const Store& store) {
  std::uint64_t size = 0;
  std::vector<std::string> archives;
  for (const auto& [path, slot] : store.packed) {
    if (path.starts_with(kArchiveFolder)) {
      archives.push_back(path);
      size += slot.session->files.size();
    }
  }
  std::ranges::sort(archives, {}, [&](const std::string& path) { return store.packed[path].used; });
  std::vector<Packed> out;
  for (std::size_t i = 0; i + 1 < archives.size() && size > store.archives_size_max; ++i) {
    out.push_back(std::move(store.packed[archives[i]].session));
    store.packed.erase(archives[i]);
    size -= out.back()->files.size();
  }
  return out;
}

Result<Packed> packed_session(const Store& store, const std::string& session_id, PackedKind kind) {
  const std::string path =
      kind == PackedKind::kKept ? kept_path(session_id) : archive_path(session_id);
  BMAD_TRY_ASSIGN(const FileInfo now, store.files->info(path));
  if (Packed known = unpacked_before(store, path, now)) {
    return known;
  }
  // Without the mutex, since it takes a while. Two threads may do it at once; one is in vain.
  BMAD_TRY_ASSIGN(auto files, unpack(store, session_id, kind));
  BMAD_TRY(store.files->info(path));  // When it went meanwhile, nothing was kept as it seems.
  auto unpacked = std::make_shared<PackedSession>(
      store, session_id, store.files->display_path(path), std::move(files), now);
  std::vector<Packed> old;
  const std::lock_guard guard(store.indexes_mutex);
  PackedSlot& slot = store.packed[path];
  old.push_back(std::exchange(slot.session, unpacked));
  slot.used = ++store.packed_uses;
  std::ranges::move(take_out_archives(store), std::back_inserter(old));
  return unpacked;
}

}  // namespace

Result<std::shared_ptr<SessionIndex>> packed_index(const Store& store,
                                                   const std::string& session_id, PackedKind kind) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<PackedSession> packed,
                  packed_session(store, session_id, kind));
  return std::shared_ptr<SessionIndex>(packed, &packed->index);
}

Result<std::shared_ptr<FileSystem>> packed_files(const Store& store, const std::string& session_id,
                                                 PackedKind kind) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<PackedSession> packed,
                  packed_session(store, session_id, kind));
  return std::shared_ptr<FileSystem>(packed, &packed->files);
}

Result<std::vector<std::string>> packed_session_ids(const Store& store, PackedKind kind) {
  BMAD_TRY_ASSIGN(std::vector<std::string> ids, kind == PackedKind::kKept
                                                    ? kept_session_ids(*store.files)
                                                    : archived_session_ids(*store.files));
  // A crash may leave a session in both places: the folder counts.
  std::erase_if(ids, [&](const std::string& id) {
    return store.files->info(session_folder(id)).has_value();
  });
  return ids;
}

Result<PresentSessions> present_sessions(const Store& store, PackedKind kind) {
  // Folders before and after the others: a session on its way from one to the other is in one of
  // the lists at least.
  PresentSessions present;
  BMAD_TRY_ASSIGN(const std::vector<std::string> before, store.session_ids());
  BMAD_TRY_ASSIGN(present.packed, packed_session_ids(store, kind));
  BMAD_TRY_ASSIGN(const std::vector<std::string> after, store.session_ids());
  std::ranges::set_union(before, after, std::back_inserter(present.live));
  std::erase_if(present.packed, [&](const std::string& id) {
    return std::ranges::binary_search(present.live, id);
  });
  return present;
}

Status check_still_there(const Store& store, const std::string& session_id) {
  BMAD_TRY(store.files->info(session_folder(session_id)));
  return {};
}

}  // namespace bmad_mem
