// past_files.hpp - the logs of a session as they were at a time, under the names that they have in
// its folder; read only.
//
//   evicted since | log, with blanks where a line came later      as of 10:00
//   {v1 of f1}    | {f2}                     {v2 of f1, 10:30}      evicted at 11:00: v1
//   {v1 of f1}      {f2}                     ..................
//
// So whatever reads logs finds of each entry the versions of that time, the last of which counts. A
// version is as old as its updated_at, else its timestamp. What was evicted by then lies apart, as
// today. Made for one question, and thrown away.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "search/session_index.hpp"
#include "search/session_sources.hpp"
#include "store/evicted_file.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// `source` as it was at `as_of`. What was evicted and is damaged is noted and left out.
/// Errors: as the file system's; its logs' come when they are opened, as SessionSource::files().
Result<std::shared_ptr<FileSystem>> past_files(const Store& store, const SessionSource& source,
                                               Timestamp as_of);

/// An index of them, without a segment. Errors: as past_files().
Result<std::shared_ptr<SessionIndex>> past_index(const Store& store, const SessionSource& source,
                                                 Timestamp as_of);

/// What was in the session at `as_of` and was evicted since, in the order of its logs; nothing that
/// was deleted. Errors: as past_files().
Result<std::vector<EvictedLine>> evicted_since(const Store& store, const std::string& session_id,
                                               Timestamp as_of);

}  // namespace bmad_mem
