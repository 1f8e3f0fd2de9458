// log_rewrite.cpp - puts a copy of a log without some of its lines in its place.
#include <algorithm>
#include <cassert>

#include "store/append_log.hpp"
#include "store/atomic_file.hpp"
#include "store/line_hashes.hpp"

namespace bmad_mem {
namespace {

/// Many small pieces are gathered, so that the new file takes one write a megabyte and not one a
/// line.
Status copy_without(File& source, std::span<const ByteRange> gaps, std::string_view instead,
                    std::uint64_t size, File& target) {
  constexpr std::uint64_t kCopySize = 1U << 20U;
  std::string read;
  std::string kept;
  std::size_t next_gap = 0;
  for (std::uint64_t begin = 0; begin < size; begin += kCopySize) {
    read.resize(static_cast<std::size_t>(std::min(kCopySize, size - begin)));
    BMAD_TRY_ASSIGN(const std::size_t got, source.read_at(begin, read));
    const std::uint64_t end = begin + got;
    std::uint64_t from = begin;
    kept.clear();
    while (next_gap < gaps.size() && gaps[next_gap].begin < end) {
      const ByteRange gap = gaps[next_gap];
      if (gap.begin > from) {
        kept.append(read, from - begin, gap.begin - from);
      }
      if (next_gap == 0 && gap.begin >= begin) {
        kept += instead;
      }
      from = std::max(from, std::min(gap.end, end));
      if (gap.end > end) {
        break;  // Goes on in the next chunk.
      }
      ++next_gap;
    }
    assert(begin <= from && from <= end);
    kept.append(read, from - begin, end - from);
    BMAD_TRY(write_all(target, kept));
    if (got < read.size()) {
      return {};
    }
  }
  return {};
}

/// Up to the rename: on error the log is as it was.
Status put_copy_without(FileSystem& files, const std::string& path, std::span<const ByteRange> gaps,
                        std::string_view instead = {}) {
  assert(std::ranges::is_sorted(gaps, {}, &ByteRange::begin));
  assert(instead.empty() || instead.ends_with('\n'));
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path, OpenMode::kRead));
  BMAD_TRY_ASSIGN(const FileInfo info, log->info());
  return rename_into_place(files, path, [&](File& target) {
    return copy_without(*log, gaps, instead, info.size, target);
  });
}

}  // namespace

Status rewrite_log_without(FileSystem& files, const std::string& path,
                           std::span<const ByteRange> gaps, std::string_view instead) {
  return rewrite_recorded(files, path, [&]() -> Status {
    BMAD_TRY(put_copy_without(files, path, gaps, instead));
    return files.sync_directory(parent_folder(path));
  });
}

namespace {

Status blank_in_place(FileSystem& files, const std::string& path, std::span<const ByteRange> gaps) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> log, files.open(path, OpenMode::kUpdate));
  for (const ByteRange& gap : gaps) {
    assert(gap.begin <= gap.end);
    std::string blanks(gap.end - gap.begin, ' ');
    if (!blanks.empty()) {
      blanks.back() = '\n';
    }
    for (std::size_t done = 0; done < blanks.size();) {
      BMAD_TRY_ASSIGN(const std::size_t written,
                      log->write_at(gap.begin + done, std::string_view(blanks).substr(done)));
      if (written == 0) {
        return path_error(ErrorCode::E_STORAGE_IO, files.display_path(path),
                          "the disk takes no more bytes in the place of lines that go; try again");
      }
      done += written;
    }
  }
  return log->sync_data();
}

}  // namespace

Status remove_lines(FileSystem& files, const std::string& path, std::span<const ByteRange> gaps) {
  return rewrite_recorded(files, path, [&]() -> Status {
    Status copied = put_copy_without(files, path, gaps);
    if (!copied && copied.error().code == ErrorCode::E_STORAGE_FULL) {
      return blank_in_place(files, path, gaps);
    }
    BMAD_TRY(copied);
    // The copy is in place by now, and `gaps` are the places of other lines in it: a folder that
    // can't be synced is an error, whatever the reason.
    return files.sync_directory(parent_folder(path));
  });
}

}  // namespace bmad_mem
