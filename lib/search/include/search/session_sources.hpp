// session_sources.hpp - where the entries of sessions are read: in their folders, in their
// archives, or in what was evicted from them; now or as they were at a time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/query.hpp"
#include "search/archive_reader.hpp"
#include "search/session_index.hpp"
#include "store/evicted_file.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct SessionSource {
  std::string session_id;
  ArchiveReaderPtr packed = nullptr;              ///< Null for a folder.
  bool is_only_one = false;                       ///< No other was asked for.
  std::optional<SeenFolder> seen = std::nullopt;  ///< Of a folder, before it is read.

  [[nodiscard]] bool is_archived() const {
    return packed != nullptr && !packed->place().is_evicted();
  }
  [[nodiscard]] bool is_evicted() const {
    return packed != nullptr && packed->place().is_evicted();
  }
  /// Unpacks what is packed. Errors: as ArchiveReader::files().
  [[nodiscard]] Result<std::shared_ptr<FileSystem>> files(const Store& store) const;
  /// To be asked after it was read. Errors: one that is_not_found() when it went meanwhile.
  [[nodiscard]] Status check_still_there(const Store& store) const;
  /// What `error` of reading it means: see Store::leave_out(). What is packed is noted where it is
  /// read, and the only one that was asked for is not left out.
  [[nodiscard]] Status leave_out(const Store& store, Error error) const;
};

/// Of the sessions `wanted`, each once, or of all, those in folders and archives as `archived`
/// says; without folders that were left out a moment ago, unless one is the only one.
/// `with_remains` as present_sessions() has it. Errors: as check_session(), for one that is
/// archived where none may be.
Result<PresentSessions> asked_sessions(const Store& store, std::span<const std::string> wanted,
                                       ArchivedSessions archived, bool with_remains = false);

/// The same as they are read; what was
/// evicted is not among them. One that has gone when it is read is an error that is_not_found():
/// look with choose_steadily().
Result<std::vector<SessionSource>> session_sources(
    const Store& store, std::span<const std::string> wanted,
    ArchivedSessions archived = ArchivedSessions::kWith);

/// What was evicted from the sessions `wanted`, or from all, the newest part of each first. To be
/// asked before sessions are read.
Result<std::vector<SessionSource>> evicted_sources(const Store& store,
                                                   std::span<const std::string> wanted);
/// Whether nothing was evicted or brought back since: it may have been read nowhere. Errors: one
/// that is_not_found() when something was.
Status check_evicted(const Store& store, std::span<const std::string> wanted,
                     std::span<const SessionSource> evicted);

// The logs of a session as they were at a time, under the names that they have in
// its folder; read only.
//
//   evicted since | log, with blanks where a line came later      as of 10:00
//   {v1 of f1}    | {f2}                     {v2 of f1, 10:30}      evicted at 11:00: v1
//   {v1 of f1}      {f2}                     ..................
//
// So whatever reads logs finds of each entry the versions of that time, the last of which counts. A
// version is as old as its updated_at, else its timestamp. What was evicted by then lies apart, as
// today. Made for one question, and thrown away.

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
