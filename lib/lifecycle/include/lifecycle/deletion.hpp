// deletion.hpp - entries and sessions deleted, brought back, and gone for good.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/lifecycle.hpp"
#include "lifecycle/trusted_clock.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<DeletionReport> delete_entries(Store& store, const DeletionCriteria& criteria,
                                      const DeleteOptions& options);
Result<DeletionReport> delete_session(Store& store, const std::string& session_id,
                                      const DeleteOptions& options);
/// Deletes the entries of a session that are past their retention at `now`. Returns how many;
/// nothing, and at the cost of its manifest, when the session is too young to have any.
Result<std::optional<std::uint64_t>> delete_expired(Store& store, const std::string& session_id,
                                                    Timestamp now, bool dry_run);
Result<UndeleteReport> undelete(Store& store, const UndeleteCriteria& criteria);
Result<std::vector<Deletion>> list_deletions(const Store& store);

/// Which deletions can't be brought back any more.
struct PurgeTime {
  Timestamp now{};                 ///< As far as it is trusted; Timestamp::max(): all of them.
  const Graces* graces = nullptr;  ///< Without it, each ends when it says so itself.

  [[nodiscard]] bool ends(const Deletion& deletion) const;
};
/// Removes for good what was deleted and can't be brought back any more.
Result<DeletionReport> purge_deleted(Store& store, const PurgeTime& time);

/// Live, archived and deleted ones, sorted.
Result<std::vector<std::string>> all_session_ids(const Store& store);

}  // namespace bmad_mem
