// session_files.hpp - which files of a session's folder are its memory.
#pragma once

#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {

/// Whether `name`, as in ArchivedFile, is that of a file that holds a session's memory:
/// manifest.json, a log, summary.md, access.jsonl, audit.jsonl, quarantine.jsonl or
/// artifacts/{entry-id}.md.
bool is_session_file(std::string_view name);

/// Reads them all, in the order above, artifacts sorted. What is derived or local (index.json,
/// .lock*, *.tmp) is left out.
/// Errors: E_SESSION_NOT_FOUND without a folder; E_SESSION_CORRUPT without a manifest;
/// E_STORAGE_CORRUPT when anything else lies there, naming it; as the file system's.
Result<std::vector<ArchivedFile>> read_session_files(FileSystem& files,
                                                     std::string_view session_id);

}  // namespace bmad_mem
