// memory_impl.hpp - what a MemoryManager holds, and the way of each of its calls to the store.
#pragma once

#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
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

  Result<std::string> add_one(std::string_view session_id, EntryType type, std::string_view json) {
    BMAD_TRY(enter(Operation::kAdd));
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
