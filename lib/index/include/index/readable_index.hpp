// readable_index.hpp - the index of a session as a person reads it, and as any JSON reader takes
// it: the specification's lists of ids, laid out a key a line.
//
//   {
//     "version": 3,
//     "session_id": "sess-2026-10-02-4h7qkz",
//     "generated_at": "2026-10-31T09:00:00Z",
//     "language": "english",
//     "entries": 4,
//     "inverted_index": {                            terms of the analyzer: stems, without stop
//     words
//       "clock": ["msg-1", "dec-1"],
//       "seat": ["msg-1", "msg-2"]
//     },
//     "topic_index": {…}, "temporal_index": {…},     topics; hours, UTC
//     "tag_index": {…}, "agent_index": {…}           beyond the specification
//   }
//
// Of live entries alone: superseded versions, damaged and torn lines are left out. Keys ascend by
// their bytes, ids stand in the order of the logs. Equal logs give equal text but for generated_at.
#pragma once

#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "core/file_system.hpp"

namespace bmad_mem {

/// Reads the logs of session `session_id` as they are now, with no lock. `language` is a Snowball
/// name. Errors: as scan_log(), for a log that can't be read; E_SCHEMA_INVALID for a language
/// without a stemmer; E_INVALID_FORMAT for what is no session id.
Result<std::string> make_readable_index(FileSystem& files, const Clock& clock,
                                        std::string_view session_id, std::string_view language);

/// Puts it in the place of index.json, as a derived file: not synced. The caller holds the lock
/// that guards it. Errors: as make_readable_index(), and those of the file system, also for a
/// session without a folder; index.json is then as it was.
Status write_readable_index(FileSystem& files, const Clock& clock, std::string_view session_id,
                            std::string_view language);

}  // namespace bmad_mem
