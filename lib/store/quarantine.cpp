#include "store/quarantine.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/hash.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/utf8.hpp"
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
  return line + "}\n";
}

}  // namespace

Quarantine::Quarantine(FileSystem& files, std::string path)
    : files_(files), path_(std::move(path)) {}

Status Quarantine::keep(File& log, std::string_view file_name, const DamagedLine& line,
                        Timestamp now) {
  BMAD_TRY(open());
  unsynced_ = true;
  std::string bytes;
  for (std::uint64_t at = line.offset; at < line.offset + line.size; at += kPieceSize) {
    DamagedLine piece = line;
    piece.offset = at;
    piece.size = std::min(kPieceSize, line.offset + line.size - at);
    bytes.resize(piece.size);
    BMAD_TRY_ASSIGN(const std::size_t got, log.read_at(at, bytes));
    bytes.resize(got);
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

}  // namespace bmad_mem
