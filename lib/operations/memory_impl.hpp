// memory_impl.hpp - what a MemoryManager holds, and the way of each of its calls to the store.
#pragma once

#include <algorithm>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/maintenance.hpp"
#include "operations/rooms.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct MemoryManager::Impl {
  explicit Impl(const Clock& clock) : store(clock, all_rooms()) {}

  /// The way to the store of every call: it says which operation of the table it is, and gets no
  /// further than the agent's workflow allows. Errors: E_ACCESS_DENIED.
  Result<Store*> enter(Operation operation, bool changes = true) {
    BMAD_TRY(permit(store, operation, changes));
    return &store;
  }

  Store store;
  std::mutex maintained_mutex;  // Guards what follows.
  std::vector<MaintenanceAction> maintained;

  /// For who may do what maintenance does.
  void maintain_by_the_way() {
    if (!permit(store, Operation::kMaintain)) {
      return;
    }
    std::vector<MaintenanceAction> done = bmad_mem::maintain_by_the_way(store);
    const std::lock_guard guard(maintained_mutex);
    std::ranges::move(done, std::back_inserter(maintained));
  }

  static Result<std::string> single_id(Result<BatchReport> report) {
    if (!report) {
      return std::move(report).error();
    }
    if (report->ids.empty()) {
      return Error{.code = ErrorCode::E_INVALID_FORMAT, .message = "the entry is empty"};
    }
    return std::move(report->ids.front());
  }

  /// One under a known key becomes a version of the preference there.
  Result<BatchReport> add_preferences(std::string_view session_id,
                                      std::span<const std::string_view> lines,
                                      const BatchOptions& options) {
    BMAD_TRY_ASSIGN(const std::vector<std::string> versions, preferences_as_versions(store, lines));
    const std::vector<std::string_view> views(versions.begin(), versions.end());
    BatchOptions as_versions = options;
    if (!std::ranges::equal(versions, lines)) {
      as_versions.known = KnownEntries::kAppendVersion;  // The id is of the known one.
    }
    return add_lines(store, std::string(session_id), EntryType::kPreference, views, as_versions);
  }

  Result<std::string> add_one(std::string_view session_id, EntryType type, std::string_view json) {
    BMAD_TRY(enter(Operation::kAdd));
    if (type == EntryType::kPreference) {
      return single_id(add_preferences(session_id, {&json, 1}, {}));
    }
    return single_id(add_lines(store, std::string(session_id), type, {&json, 1}, {}));
  }

  Result<std::vector<Entry>> list_type(std::string_view session_id, EntryType type,
                                       EntryFilter filter) const {
    filter.sessions = {std::string(session_id)};
    filter.types = {type};
    BMAD_TRY_ASSIGN(filter, readable(store, std::move(filter)));
    return list_entries(store, filter);
  }
};

}  // namespace bmad_mem
