// log_rewrite.hpp - a log without some of its lines, put in the place of the old one.
//
//   old:  [line 1\n][line 2\n][line 3\n][line 4\n]        gaps: line 2, line 4
//   new:  [line 1\n][line 3\n]
//
// The new file is durable before it takes the old one's name (see atomic_file.hpp), so a crash
// leaves one or the other. Readers that have the old one open read on in it; writers notice the new
// inode. What must not be lost with the gaps is durable elsewhere before.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file_system.hpp"

namespace bmad_mem {

/// The bytes from `begin` up to `end`.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Replaces log `path` by a copy without `gaps`, which are ascending and don't overlap; those that
/// touch are fine. Durable on success. The caller holds the session's lock.
Status rewrite_log_without(FileSystem& files, const std::string& path,
                           std::span<const ByteRange> gaps);

/// The same where there is no room for a copy: overwrites `gaps`, whole lines, with blanks, in
/// place. Blank lines are no entries. Only for bytes that are not wanted any more, because a crash
/// in the middle leaves a damaged line. Durable on success.
Status blank_lines(FileSystem& files, const std::string& path, std::span<const ByteRange> gaps);

/// rewrite_log_without(), or blank_lines() when there is no room for the copy. On error the log
/// holds every other line: a disk that is full only once the copy is in place blanks nothing.
Status remove_lines(FileSystem& files, const std::string& path, std::span<const ByteRange> gaps);

}  // namespace bmad_mem
