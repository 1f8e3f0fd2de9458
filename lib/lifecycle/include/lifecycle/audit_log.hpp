// audit_log.hpp - who did what to memory, and when: ids and counts, never content.
//
//   {"at":"2026-…Z","agent_id":"ann","action":"delete","count":2,"ids":["f1","f2"],"detail":"tags"}
//
// The log lies in the session's folder. For a session that is gone it lies under deleted/, so that
// what became of it can still be read; so it does for what maintenance does in a root that git
// tracks, and for archiving. One write a record; the caller holds the session's lock.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// Most ids that a record names; `count` counts them all.
inline constexpr std::size_t kAuditIdsMax = 1000;
inline constexpr std::uint64_t kAuditSizeMax = 64U << 20U;

/// While one that is on lives, what this thread records goes under deleted/, which git ignores: for
/// what happens without being asked for, at a time that differs by machine.
class LocalAudit {
 public:
  explicit LocalAudit(bool is_on);
  ~LocalAudit();
  LocalAudit(const LocalAudit&) = delete;
  LocalAudit& operator=(const LocalAudit&) = delete;

 private:
  bool before_;
};

/// Appends `record` to the audit log of its session. Durable on return.
Status append_audit(FileSystem& files, const AuditRecord& record);

/// The same with the time and the agent of `store`: `record` says what was done.
Status append_audit(const Store& store, AuditRecord record);

/// How many bytes append_audit() adds for `record`.
std::uint64_t audit_size(const AuditRecord& record);

/// The records in `text`, the content of an audit log of session `session_id`, as they stand.
/// Lines that are none are passed over; `verify` names them.
std::vector<AuditRecord> parse_audit(std::string_view text, const std::string& session_id);

/// The records of `session_id`, from its folder and from deleted/, by time. None: empty.
Result<std::vector<AuditRecord>> read_audit(FileSystem& files, const std::string& session_id);

}  // namespace bmad_mem
