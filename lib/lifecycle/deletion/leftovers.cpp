// leftovers.cpp - removes what killed operations left, and logs that became empty.
#include <cassert>
#include <numeric>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "deletion_steps.hpp"
#include "lifecycle/deletion.hpp"
#include "store/atomic_file.hpp"
#include "store/evicted_file.hpp"
#include "store/gzip.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 30U;  // Only damage is larger.

Status cut_to(FileSystem& files, const std::string& path, std::uint64_t size) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kUpdate));
  BMAD_TRY(file->truncate(size));
  return file->sync_all();
}

/// Cuts the file at `path` to `whole_size(its bytes)`.
template <typename WholeSize>
Status cut_file(FileSystem& files, const std::string& path, const WholeSize& whole_size) {
  BMAD_TRY_ASSIGN(const auto bytes, if_there(read_file(files, path, kSizeMax)));
  if (!bytes) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::uint64_t size, whole_size(*bytes));
  assert(size <= bytes->size() && "a file is only made shorter");
  return size == bytes->size() ? Status() : cut_to(files, path, size);
}

}  // namespace

Result<std::vector<std::string>> find_leftovers(FileSystem& files, const std::string& session_id) {
  std::vector<std::string> found;
  for (const std::string& path :
       {temporary_path(archive_path(session_id)), temporary_path(archive_manifest_path(session_id)),
        temporary_path(archive_local_path(session_id)), temporary_path(evicted_path(session_id)),
        temporary_path(archive_index_path(session_id)),
        temporary_path(archive_known_path(session_id)),
        temporary_path(evicted_index_path(session_id)), temporary_path(retained_path(session_id)),
        unfinished_session_folder(session_id)}) {
    BMAD_TRY_ASSIGN(const auto info, if_there(files.info(path)));
    if (info && info->kind != FileKind::kOther) {
      found.push_back(path);
    }
  }
  BMAD_TRY_ASSIGN(const std::uint32_t parts, evicted_parts(files, session_id));
  for (std::uint32_t part = 2; part <= parts + 1; ++part) {
    if (files.info(temporary_path(evicted_path(session_id, part)))) {
      found.push_back(temporary_path(evicted_path(session_id, part)));
    }
  }
  const std::string folder = deleted_folder(session_id);
  BMAD_TRY_ASSIGN(const auto names, if_there(files.list(folder)));
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    if (name.ends_with(".tmp")) {
      found.push_back(fmt::format("{}/{}", folder, name));
    }
  }
  return found;
}

Status remove_leftovers(FileSystem& files, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> paths, find_leftovers(files, session_id));
  for (const std::string& path : paths) {
    BMAD_TRY_ASSIGN(const FileInfo info, files.info(path));
    if (info.kind == FileKind::kDirectory) {
      BMAD_TRY(remove_tree(files, path));
    } else {
      BMAD_TRY(files.remove(path));
      BMAD_TRY(files.sync_directory(parent_folder(path)));
    }
  }
  return {};
}

Status cut_torn_ends(FileSystem& files, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const std::uint32_t parts, evicted_parts(files, session_id));
  for (std::uint32_t part = 1; part <= parts; ++part) {
    BMAD_TRY(cut_file(files, evicted_path(session_id, part),
                      [](const std::string& packed) -> Result<std::uint64_t> {
                        BMAD_TRY_ASSIGN(const WholeMembers whole,
                                        gunzip_whole(packed, kEvictedSizeMax));
                        return whole.whole_size;
                      }));
  }
  return cut_file(files, deleted_entries_path(session_id),
                  [](const std::string& text) -> Result<std::uint64_t> {
                    return text.rfind('\n') + 1;  // npos + 1 is 0.
                  });
}

Status remove_deleted_folder(FileSystem& files, const std::string& session_id,
                             const std::string& deletion_id) {
  const std::string folder = deleted_session_folder(session_id, deletion_id);
  BMAD_TRY_ASSIGN(const bool has_folder, is_there(files, folder));
  if (!has_folder) {
    return {};
  }
  const std::string doomed = fmt::format("{}/.{}.tmp", deleted_folder(session_id), deletion_id);
  BMAD_TRY_ASSIGN(const std::string aside, put_aside(files, folder, doomed));
  return remove_tree(files, aside);
}

// Logs of which all goes, and how many entries went.

std::uint64_t Retired::total() const {
  return std::accumulate(entries.begin(), entries.end(), std::uint64_t{0});
}

Result<std::vector<LogLine>> whole_logs(FileSystem& files, const std::string& session_id,
                                        std::vector<LogLine> lines) {
  for (const EntryType type : kEntryTypes) {
    const std::uint64_t size =
        sum_of(lines, [&](const LogLine& line) { return line.type == type ? line.size : 0; });
    BMAD_TRY_ASSIGN(const auto log, if_there(files.info(log_path(session_id, type))));
    if (log && log->size != size) {
      std::erase_if(lines, [&](const LogLine& line) { return line.type == type; });
    }
  }
  return lines;
}

Status remove_empty_logs(Store& store, const std::string& session_id,
                         const std::bitset<kEntryTypeCount>& types) {
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "delete"));
  for (const EntryType type : kEntryTypes) {
    const std::string path = log_path(session_id, type);
    const Result<FileInfo> log = store.files->info(path);
    if (types[static_cast<std::size_t>(type)] && log && log->size == 0) {
      BMAD_TRY(remove_durably(*store.files, path));
    }
  }
  return {};
}

}  // namespace bmad_mem
