// repair.hpp - what is wrong with what is stored, and mending it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<VerifyReport> verify_store(const Store& store, std::span<const std::string> sessions,
                                  const MemoryManager::Progress& on_progress);
Result<RepairReport> repair_store(
    Store& store, std::span<const std::string> sessions, const MemoryManager::Progress& on_progress,
    const std::function<bool(const std::string& session_id)>& is_elsewhere = {});
/// See MemoryManager::accept_changes().
Result<RepairReport> accept_changes(Store& store, std::span<const std::string> sessions);

/// Adds to `report` which encrypted entries of the sessions `wanted`, or of all, this machine knew
/// and misses, or has in an older version, though no deletion names them; see line_encryption.hpp.
void check_head(const Store& store, std::span<const std::string> wanted, VerifyReport& report);
/// Notes the encrypted entries that there are. What is missing is still to be compared, except what
/// a deletion names, and in the sessions `accepted`.
void update_head(const Store& store, std::span<const std::string> accepted = {});

/// See MemoryManager::look_for_hand_edits().
Status look_for_hand_edits(Store& store, HandLook look);
/// The same for one log that is about to grow: lines of an editor at its end would pass for ours.
void look_before_append(Store& store, const std::string& session_id, EntryType type);
/// See MemoryManager::hand_edits().
std::vector<HandEdit> hand_edits(const Store& store, bool with_texts);
/// See MemoryManager::settle_hand_edits().
Result<std::vector<HandEdit>> settle_hand_edits(Store& store, std::span<const HandEdit> edits,
                                                bool restore);

// Whether logs are as they were when they were recorded, and recording them as they
// are. Shared by verify, repair, close, archive and maintenance.
//
// Two kinds of difference are told apart. Damage: the file is the one that was recorded and was not
// changed since, yet its lines are others. Changes: somebody edited, copied or merged. What git has
// put there is neither.

struct LineHashCheck {
  std::vector<Finding> damage;
  std::vector<Finding> changes;
};

/// Compares the recorded logs of `session_id` with its record. A session without one has no
/// differences, and a log that can't be read is passed over. Takes no lock; may run git.
LineHashCheck check_line_hashes(const Store& store, const std::string& session_id);

/// What is wrong with `count` lines from `line` on that are not as they were written.
std::string line_reason(FindingKind kind, std::uint64_t line, std::uint64_t count);

/// One sentence for those who did something else; empty without differences.
std::string line_hash_notice(const LineHashCheck& check);

/// Whether the record of `session_id` covers its logs to their ends, by size, inode and time alone.
/// Also without a manifest: there is nothing to record.
bool is_recorded(const Store& store, const std::string& session_id);

/// Makes the logs of `session_id` durable and records them. With `accept`, as they are; without, a
/// log that differs from its record keeps it. The caller holds the session's lock.
Status hash_session(const Store& store, const std::string& session_id, bool accept);

}  // namespace bmad_mem
