// quarantine.cpp - keeps bytes of a log that are no entry, and repairs a torn end.
#include <algorithm>
#include <cassert>
#include <string_view>

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "store/append_log.hpp"
#include "store/atomic_file.hpp"
#include "store/line_reader.hpp"

namespace bmad_mem {
namespace {

// Around the members that identify a kept piece.
constexpr std::string_view kFirstMember = "\"file\":";
constexpr std::string_view kReason = ",\"reason\":";

bool is_plain_text(std::string_view bytes) {
  return utf8_valid_size(bytes) == bytes.size() && bytes.find('\0') == std::string_view::npos;
}

/// What tells one kept piece from another; stands in the line as it is written here.
std::string identity(std::string_view file_name, const DamagedLine& line, std::string_view bytes) {
  JsonWriter writer;
  writer.begin_object()
      .member("file", file_name)
      .member("line", line.line)
      .member("offset", line.offset)
      .member("size", line.size)
      .member("xxh3", hash_hex(xxh3(bytes)));
  return writer.text().substr(1);  // Members only: the opening brace goes.
}

std::string record(const std::string& reason, std::string_view bytes,
                   const std::string& identity_members, Timestamp now) {
  std::string line = "{\"at\":" + json_quoted(format_rfc3339(now)) + "," + identity_members;
  line += kReason;
  line += json_quoted(reason);
  if (is_plain_text(bytes)) {
    line += ",\"text\":" + json_quoted(bytes);
  } else {
    line += ",\"bytes_base64\":\"" + base64_encoded(bytes, Base64::kPadded) + "\"";
  }
  assert(!line.contains('\n') && "a record is one line");
  return line + "}\n";
}

/// 1-based number of the line that starts at `offset`.
Result<std::uint64_t> line_number_at(File& log, std::uint64_t offset) {
  constexpr std::uint64_t kBlockSize = 256U << 10U;
  std::uint64_t number = 1;
  for (std::uint64_t at = 0; at < offset; at += kBlockSize) {
    BMAD_TRY_ASSIGN(const std::string block,
                    read_range(log, at, std::min(kBlockSize, offset - at)));
    number += static_cast<std::uint64_t>(std::ranges::count(block, '\n'));
  }
  return number;
}

Result<bool> is_complete_object(File& log, std::uint64_t offset, std::uint64_t size) {
  if (size > kLineSizeMax) {
    return false;
  }
  BMAD_TRY_ASSIGN(const std::string text, read_range(log, offset, size));
  const ParsedJson value(text);
  return value && value->is_object();
}

}  // namespace

Quarantine::Quarantine(FileSystem& files, std::string path)
    : files_(files), path_(std::move(path)) {}

Status Quarantine::keep(File& log, std::string_view file_name, const DamagedLine& line,
                        Timestamp now) {
  BMAD_TRY(open());
  unsynced_ = true;
  for (std::uint64_t at = line.offset; at < line.offset + line.size; at += kPieceSize) {
    DamagedLine piece = line;
    piece.offset = at;
    piece.size = std::min(kPieceSize, line.offset + line.size - at);
    BMAD_TRY_ASSIGN(const std::string bytes, read_range(log, at, piece.size));
    const std::string members = identity(file_name, piece, bytes);
    if (known_.insert(members).second) {
      BMAD_TRY(write_all(*file_, record(line.reason, bytes, members, now)));
    }
  }
  return {};
}

/// Also when keep() found everything there: it may be the work of a process that was killed before
/// its sync.
Status Quarantine::sync() {
  if (!unsynced_) {
    return {};
  }
  assert(file_ != nullptr && "keep() has opened it");
  BMAD_TRY(file_->sync_data());
  BMAD_TRY(files_.sync_directory(parent_folder(path_)));
  unsynced_ = false;
  return {};
}

Status Quarantine::open() {
  if (file_ != nullptr) {
    return {};
  }
  BMAD_TRY_ASSIGN(file_, files_.open(path_, OpenMode::kAppend));
  LineReader reader(*file_, kTextLineMax);
  Line line;
  while (true) {
    BMAD_TRY_ASSIGN(const bool has_more, reader.next(line));
    if (!has_more) {
      break;
    }
    const std::size_t begin = line.text.find(kFirstMember);
    known_.emplace(begin < line.text.size()
                       ? line.text.substr(begin, line.text.find(kReason) - begin)
                       : std::string_view());
  }
  // An unfinished line was never synced, so what it was to keep is still in its log. It must go: it
  // looks like a kept piece, but for its end.
  return reader.torn_size() == 0 ? Status() : file_->truncate(reader.whole_end());
}

Result<std::uint64_t> last_line_start(File& log, std::uint64_t size) {
  constexpr std::uint64_t kFirstSize = 2U << 10U;  // Most lines are shorter.
  constexpr std::uint64_t kBlockSize = 64U << 10U;
  std::uint64_t wanted = kFirstSize;
  for (std::uint64_t end = size; end > 0; wanted = kBlockSize) {
    const std::uint64_t begin = end - std::min(wanted, end);
    BMAD_TRY_ASSIGN(const std::string block, read_range(log, begin, end - begin));
    if (const std::size_t newline = block.rfind('\n'); newline != std::string::npos) {
      return begin + newline + 1;
    }
    end = begin;
  }
  return std::uint64_t{0};
}

Result<std::uint64_t> mend_torn_tail(FileSystem& files, File& log, const std::string& path,
                                     const std::string& quarantine_path, std::uint64_t size,
                                     Timestamp now) {
  assert(size > 0);
  BMAD_TRY_ASSIGN(const std::uint64_t start, last_line_start(log, size));
  assert(start <= size);
  const std::uint64_t torn_size = size - start;
  BMAD_TRY_ASSIGN(const bool complete, is_complete_object(log, start, torn_size));
  if (complete) {
    BMAD_TRY(write_all(log, "\n"));
    return size + 1;
  }
  BMAD_TRY_ASSIGN(const std::uint64_t number, line_number_at(log, start));
  Quarantine quarantine(files, quarantine_path);
  BMAD_TRY(quarantine.keep(log, path.substr(path.rfind('/') + 1),
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
