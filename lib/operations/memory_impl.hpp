// memory_impl.hpp - what a MemoryManager holds, and the way of each of its calls to the store.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "knowledge/knowledge_store.hpp"
#include "lifecycle/maintenance.hpp"
#include "operations/rooms.hpp"
#include "search/cached_indexes.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

struct MemoryManager::Impl {
  explicit Impl(const Clock& clock) : store(clock, all_rooms()) {}

  /// The way to the store of every call: it says which operation of the table it is, and gets no
  /// further than the agent's workflow allows. Errors: E_ACCESS_DENIED.
  Result<Store*> enter(std::string_view operation, bool changes = true) {
    BMAD_TRY(permit(store, operation, changes));
    return &store;
  }

  /// The same, and then `function` of the store and `arguments`.
  template <typename Function, typename... Arguments>
  auto call(std::string_view operation, const Function& function, Arguments&&... arguments)
      -> std::invoke_result_t<Function, Store&, Arguments...> {
    BMAD_TRY_ASSIGN(Store* const entered, enter(operation));
    return function(*entered, std::forward<Arguments>(arguments)...);
  }

  Store store;
  std::mutex maintained_mutex;  // Guards what follows.
  std::vector<MaintenanceAction> maintained;

  /// For who may do what maintenance does.
  void maintain_by_the_way() {
    if (!permit(store, "maintain")) {
      return;
    }
    std::vector<MaintenanceAction> done = bmad_mem::maintain_by_the_way(store);
    const std::lock_guard guard(maintained_mutex);
    std::ranges::move(done, std::back_inserter(maintained));
  }

  static Result<std::string> single_id(Result<BatchReport> added) {
    BMAD_TRY_ASSIGN(BatchReport report, std::move(added));
    if (report.ids.empty()) {
      return Error{.code = ErrorCode::E_INVALID_FORMAT, .message = "the entry is empty"};
    }
    assert(report.ids.size() == 1 && "one line is one entry");
    return std::move(report.ids.front());
  }

  static bool is_among_ids(const std::vector<Entry>& found, const std::string& id) {
    return std::ranges::find(found, id, &Entry::id) != found.end();
  }

  /// As find_entries(); what is not here is looked for in the user's own memory, and in the
  /// checkout of a worktree.
  Result<std::vector<Entry>> find_in_both(std::span<const std::string> ids,
                                          std::span<const std::string> sessions, bool all_versions,
                                          std::optional<Timestamp> as_of) const {
    const Store& first = store_of(store, sessions);
    BMAD_TRY_ASSIGN(std::vector<Entry> found,
                    find_entries(first, ids, sessions, all_versions, as_of));
    std::ranges::for_each(found, [&](Entry& entry) { entry.of_user = &first != &store; });
    std::vector<std::string> missing;
    std::ranges::copy_if(ids, std::back_inserter(missing),
                         [&](const std::string& id) { return !is_among_ids(found, id); });
    const Store* const user = sessions.empty() && !missing.empty() ? store.user_store() : nullptr;
    if (user != nullptr) {
      BMAD_TRY_ASSIGN(std::vector<Entry> more,
                      find_entries(*user, missing, {}, all_versions, as_of));
      std::ranges::for_each(more, [](Entry& entry) { entry.of_user = true; });
      std::ranges::move(more, std::back_inserter(found));
    }
    if (const std::vector<std::string> others = store.checkout_sessions();
        sessions.empty() && !others.empty()) {
      std::erase_if(missing, [&](const std::string& id) { return is_among_ids(found, id); });
      if (!missing.empty()) {
        BMAD_TRY_ASSIGN(std::vector<Entry> more,
                        find_entries(*store.checkout(), missing, others, all_versions, as_of));
        std::ranges::move(more, std::back_inserter(found));
      }
    }
    return found;
  }

  /// Where all of `ids` are changed: the user's own memory when none of them is here and all are
  /// there, else this one.
  Result<Store*> store_with(std::span<const std::string> ids,
                            std::span<const std::string> sessions) {
    if (store.user_root.empty() || store.user_store() == nullptr) {
      return &store;
    }
    BMAD_TRY_ASSIGN(const std::vector<Entry> found, find_in_both(ids, sessions, false, {}));
    const bool are_there =
        std::ranges::all_of(found, &Entry::of_user) &&
        std::ranges::all_of(ids, [&](const std::string& id) { return is_among_ids(found, id); });
    assert(!are_there || store.user != nullptr);
    return are_there ? store.user.get() : &store;
  }

  /// One under a known key becomes a version of the preference there.
  Result<BatchReport> add_preferences(std::string_view session_id,
                                      std::span<const std::string_view> lines,
                                      const BatchOptions& options) {
    BMAD_TRY_ASSIGN(const std::vector<std::string> versions, preferences_as_versions(store, lines));
    assert(versions.size() == lines.size());
    const std::vector<std::string_view> views(versions.begin(), versions.end());
    BatchOptions as_versions = options;
    if (!std::ranges::equal(versions, lines)) {
      as_versions.known = KnownEntries::kAppendVersion;  // The id is of the known one.
    }
    return add_lines(store, std::string(session_id), EntryType::kPreference, views, as_versions);
  }

  Result<std::vector<Entry>> list_type(std::string_view session_id, EntryType type,
                                       EntryFilter filter) const {
    filter.sessions = {std::string(session_id)};
    filter.types = {type};
    BMAD_TRY_ASSIGN(filter, readable(store, std::move(filter)));
    return list_entries(store, filter);
  }
};

// Pages of a list: more of it is asked for, and the pages before are left out.

/// A limit that reaches to the end of the page; 0: no limit.
inline std::size_t page_end(std::size_t limit, std::size_t offset) {
  const std::size_t room = std::numeric_limits<std::size_t>::max() - offset;
  return limit == 0 ? 0 : offset + std::min(limit, room);
}

/// `filter` for all up to the end of its page.
inline EntryFilter up_to_page(EntryFilter filter) {
  filter.limit = page_end(filter.limit, filter.offset);
  filter.offset = 0;
  return filter;
}

/// `list` without its first `offset`.
template <typename T>
std::vector<T> behind(std::vector<T> list, std::size_t offset) {
  list.erase(list.begin(),
             list.begin() + static_cast<std::ptrdiff_t>(std::min(offset, list.size())));
  return list;
}

/// `list`, oldest first, without its last `offset`.
template <typename T>
std::vector<T> without_newest(std::vector<T> list, std::size_t offset) {
  list.resize(list.size() - std::min(offset, list.size()));
  return list;
}

template <typename T>
Result<std::vector<T>> page_of(Result<std::vector<T>> list, std::size_t offset) {
  return list && offset > 0 ? behind(*std::move(list), offset) : std::move(list);
}

}  // namespace bmad_mem
