#include "torn_tail.hpp"

#include <algorithm>
#include <string_view>

#include "bmad_mem/json_parser.hpp"
#include "store/append_log.hpp"
#include "store/atomic_file.hpp"
#include "store/quarantine.hpp"

namespace bmad_mem {
namespace {

/// 1-based number of the line that starts at `offset`.
Result<std::uint64_t> line_number_at(File& log, std::uint64_t offset) {
  constexpr std::uint64_t kBlockSize = 256U << 10U;
  std::string block;
  std::uint64_t number = 1;
  for (std::uint64_t at = 0; at < offset;) {
    block.resize(static_cast<std::size_t>(std::min(kBlockSize, offset - at)));
    BMAD_TRY_ASSIGN(const std::size_t got, log.read_at(at, block));
    if (got == 0) {
      break;
    }
    number += static_cast<std::uint64_t>(
        std::count(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(got), '\n'));
    at += got;
  }
  return number;
}

Result<bool> is_complete_object(File& log, std::uint64_t offset, std::uint64_t size) {
  if (size > kLineSizeMax) {
    return false;
  }
  std::string text(static_cast<std::size_t>(size), '\0');
  BMAD_TRY_ASSIGN(const std::size_t got, log.read_at(offset, text));
  const ParsedJson value(std::string_view(text).substr(0, got));
  return value && value->is_object();
}

}  // namespace

Result<std::uint64_t> last_line_start(File& log, std::uint64_t size) {
  constexpr std::uint64_t kFirstSize = 2U << 10U;  // Most lines are shorter.
  constexpr std::uint64_t kBlockSize = 64U << 10U;
  std::string block;
  std::uint64_t wanted = kFirstSize;
  for (std::uint64_t end = size; end > 0; wanted = kBlockSize) {
    const std::uint64_t begin = end - std::min(wanted, end);
    block.resize(static_cast<std::size_t>(end - begin));
    BMAD_TRY_ASSIGN(const std::size_t got, log.read_at(begin, block));
    const std::size_t newline = std::string_view(block).substr(0, got).rfind('\n');
    if (newline != std::string_view::npos) {
      return begin + newline + 1;
    }
    end = begin;
  }
  return std::uint64_t{0};
}

Result<std::uint64_t> mend_torn_tail(FileSystem& files, File& log, const TornLog& torn,
                                     Timestamp now) {
  BMAD_TRY_ASSIGN(const std::uint64_t start, last_line_start(log, torn.size));
  const std::uint64_t torn_size = torn.size - start;
  BMAD_TRY_ASSIGN(const bool complete, is_complete_object(log, start, torn_size));
  if (complete) {
    BMAD_TRY(write_all(log, "\n"));
    return torn.size + 1;
  }
  BMAD_TRY_ASSIGN(const std::uint64_t number, line_number_at(log, start));
  Quarantine quarantine(files, torn.quarantine_path);
  BMAD_TRY(quarantine.keep(log, torn.path.substr(torn.path.rfind('/') + 1),
                           {.offset = start,
                            .size = torn_size,
                            .line = number,
                            .reason = "unfinished line at the end of the log: a write that was "
                                      "never acknowledged"},
                           now));
  BMAD_TRY(quarantine.sync());
  BMAD_TRY(log.truncate(start));
  return start;
}

}  // namespace bmad_mem
