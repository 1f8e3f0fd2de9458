// session_sources.hpp - where the entries of sessions are read: in their folders, in their
// archives, or in what was evicted from them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "search/packed_session.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct SessionSource {
  std::string session_id;
  Packed packed = nullptr;                        ///< Null for a folder.
  bool is_only_one = false;                       ///< No other was asked for.
  std::optional<SeenFolder> seen = std::nullopt;  ///< Of a folder, before it is read.

  [[nodiscard]] bool is_archived() const {
    return packed != nullptr && packed->kind() != PackedKind::kEvicted;
  }
  [[nodiscard]] bool is_evicted() const {
    return packed != nullptr && packed->kind() == PackedKind::kEvicted;
  }
  /// Unpacks what is packed. Errors: as PackedSession::files().
  [[nodiscard]] Result<std::shared_ptr<FileSystem>> files(const Store& store) const;
  /// To be asked after it was read. Errors: one that is_not_found() when it went meanwhile.
  [[nodiscard]] Status check_still_there(const Store& store) const;
  /// What `error` of reading it means: see Store::leave_out(). What is packed is noted where it is
  /// read, and the only one that was asked for is not left out.
  [[nodiscard]] Status leave_out(const Store& store, Error error) const;
};

/// Of the sessions `wanted`, or of all, those in folders and archives as `archived` says; what was
/// evicted is not among them. One that has gone when it is read is an error that is_not_found():
/// look with choose_steadily().
Result<std::vector<SessionSource>> session_sources(
    const Store& store, std::span<const std::string> wanted,
    ArchivedSessions archived = ArchivedSessions::kWith);

/// What was evicted from the sessions `wanted`, or from all. To be asked before sessions are read.
Result<std::vector<SessionSource>> evicted_sources(const Store& store,
                                                   std::span<const std::string> wanted);
/// Whether nothing was evicted or brought back since: it may have been read nowhere. Errors: one
/// that is_not_found() when something was.
Status check_evicted(const Store& store, std::span<const std::string> wanted,
                     std::span<const SessionSource> evicted);

}  // namespace bmad_mem
