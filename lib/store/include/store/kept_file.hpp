// kept_file.hpp - what version 0.1 kept of an archived session: shared/kept/{session-id}.jsonl.
//
//   {"type":"fact","entry":{…the line, byte for byte…}}
//
// Its facts, preferences and pins, a copy of what is in the archive: it is read where that is
// damaged, nothing writes one, and it goes when the session is archived again or restored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/entry_type.hpp"

namespace bmad_mem {

struct KeptLine {
  EntryType type = EntryType::kFact;
  std::string line;  ///< As in the log, without its '\n'.

  bool operator==(const KeptLine&) const = default;
};

/// As read_kept(), but without the lines that can't be read.
Result<std::vector<KeptLine>> read_good_kept(FileSystem& files, std::string_view session_id);

/// All lines in order; none without a file. Errors: E_STORAGE_CORRUPT with path, line and field for
/// a line that can't be read; E_SIZE_LIMIT above 256 MiB; as the file system's.
Result<std::vector<KeptLine>> read_kept(FileSystem& files, std::string_view session_id);

/// Removes the file, if there is one. Durable on success.
Status remove_kept(FileSystem& files, std::string_view session_id);

/// The sessions that something was kept of, sorted.
Result<std::vector<std::string>> kept_session_ids(FileSystem& files);

}  // namespace bmad_mem
