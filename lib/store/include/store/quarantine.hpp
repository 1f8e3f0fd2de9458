// quarantine.hpp - where bytes go that are in a log but are no entry: kept verbatim, never dropped.
//
//   {"at":"…","file":"conversation.jsonl","line":12,"offset":4711,"size":45,"xxh3":"…",
//    "reason":"…","text":"{\"id\":\"msg"}            or "bytes_base64" where it is not UTF-8 text
//
// Pieces of more than kPieceSize bytes are kept in several lines of rising offset. Keeping the same
// bytes of the same place again adds nothing, so a repair that was interrupted can run again.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "store/entry_scanner.hpp"

namespace bmad_mem {

/// The quarantine of one session. The caller holds the session's lock.
class Quarantine {
 public:
  static constexpr std::uint64_t kPieceSize = 256U << 10U;

  /// `path` is the quarantine.jsonl. `files` must outlive the object.
  Quarantine(FileSystem& files, std::string path);

  /// Copies `line` of `log`, "conversation.jsonl", to the quarantine; durable after sync(). Errors:
  /// as the file system's; the log is untouched.
  Status keep(File& log, std::string_view file_name, const DamagedLine& line, Timestamp now);

  /// What was kept survives power loss. Call it before the bytes leave the log.
  Status sync();

 private:
  Status open();

  FileSystem& files_;
  std::string path_;
  std::unique_ptr<File> file_;
  bool unsynced_ = false;
  std::set<std::string> known_;  // What the quarantine holds, without the texts.
};

}  // namespace bmad_mem
