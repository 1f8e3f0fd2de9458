// slot_filter.hpp - filters that are posting lists: which entries of a session may be found.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "plan.hpp"
#include "search/indexed_session.hpp"

namespace bmad_mem {

/// By slot, whether an entry passes; empty when all do.
using AllowedSlots = std::vector<std::uint8_t>;

class SlotFilter {
 public:
  /// `session` is locked and outlives the filter. For near() it is load()ed.
  explicit SlotFilter(IndexedSession& session) : session_(session) {}

  /// Only entries under one of `keys`, all when there are none; with `excluded`, only the others.
  /// Errors: E_STORAGE_CORRUPT.
  Status any_of(PostingKind kind, std::string_view prefix, std::span<const std::string> keys,
                bool excluded = false);
  /// Only entries by the agents, with the tags and the fields that `filter` asks for, as passes()
  /// of search/field_filter.hpp has it.
  Status having(const EntryFilter& filter);
  /// Only entries that hold of each list of terms at least one; with `excluded`, only the others.
  Status holding(const std::vector<std::vector<std::string>>& terms, bool excluded);

  /// Only entries that hold of each list of terms at least one, and those beside them.
  Status near(const std::vector<std::vector<std::string>>& terms);

  AllowedSlots take() { return std::move(allowed_); }

 private:
  Result<AllowedSlots> with_all(const std::vector<std::vector<std::string>>& terms);
  Status of_workspace(const WorkspaceFilter& workspace);
  Status mark(PostingKind kind, std::string_view key, AllowedSlots& marked);
  void narrow(const AllowedSlots& marked, bool excluded);

  IndexedSession& session_;
  AllowedSlots allowed_;
};

/// The entries of `session` that pass the filters of `plan` that are posting lists, and hold the
/// terms that it requires. Errors: E_STORAGE_CORRUPT.
Result<AllowedSlots> allowed_slots(IndexedSession& session, const Plan& plan);

/// Lists of postings of one session, of which an entry must be in one.
using AnyOf = std::vector<std::span<const SlotPosting>>;

/// The slots that are in each of `lists`, ascending. The shortest goes first, so a rare word costs
/// what it holds, however common the others are.
std::vector<std::uint32_t> slots_in_all(std::vector<AnyOf> lists);

/// Whether type, time, pin and sensitivity of an entry are those that `filter` asks for.
bool passes_plain_filters(const EntryFilter& filter, std::uint32_t flags, Timestamp time);

}  // namespace bmad_mem
