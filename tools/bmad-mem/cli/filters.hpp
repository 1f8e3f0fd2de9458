// filters.hpp - the options by which commands choose, search and delete entries.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

// The options by which `list`, `query` and their like choose entries.

/// The names of the types, for help and completion: EntryTypeInfo::name as constants.
inline constexpr std::array<std::string_view, kEntryTypeCount> kTypeNames = {
    "conversation", "decision", "finding",     "preference",
    "fact",         "event",    "agent_state", "artifact"};

/// The names of the periods of a timeline, by TimelineUnit.
inline constexpr std::array<std::string_view, 4> kTimelineUnits = {"hour", "day", "week", "month"};

/// Which part of a list is shown: --limit entries behind the first --offset.
struct Page {
  std::size_t offset = 0;
  std::size_t limit = 20;  ///< 0: all.

  /// How many the list must have, so that the page is whole; 0: all.
  [[nodiscard]] std::size_t end() const { return limit == 0 ? 0 : offset + limit; }

  /// The page of `all`, a vector.
  template <typename All>
  [[nodiscard]] auto of(const All& all) const {
    const std::size_t begin = std::min(offset, all.size());
    const std::size_t left = all.size() - begin;
    return std::span(all).subspan(begin, limit == 0 ? left : std::min(limit, left));
  }
};

/// What --limit and --offset say; without --limit it is `limit`. Errors: E_INVALID_QUERY.
Result<Page> read_page(const Arguments& args, std::size_t limit = 20);

/// What `archived` says, here and in the other interfaces: "yes", "no" or "only"; anything else is
/// "yes".
ArchivedSessions archived_choice(std::string_view text);

/// What --as-of, --since or --until says, seen from `now`; nothing without it. A day of --since
/// begins, others end it. Errors: E_INVALID_QUERY.
Result<std::optional<Timestamp>> read_time(const Arguments& args, std::string_view name,
                                           Timestamp now);

/// What the options above say. `now` is what relative times count from, unless --as-of is given.
/// Errors: E_INVALID_QUERY for a time, a number or a type that isn't one, with the option as field.
Result<EntryFilter> read_filter(const Arguments& args, Timestamp now);

// The options by which `query` and `similar` rank and show, beside
// filters.hpp.

/// What the options above say, into `query`; what is not given stays as it is.
/// Errors: E_INVALID_QUERY with the option as field.
Status read_search_options(const Arguments& args, Query& query);

// What `delete`, `purge` and `forget` have in common.

/// --match, which must not be empty: an empty variable of a script would match everything.
Result<std::string> read_match(const Arguments& args);

/// Reports each of `ids`, which no entry has. The status of a command that was given them.
ExitStatus report_unknown(Tool& tool, const MemoryManager& memory,
                          std::span<const std::string> ids);

/// Deletes what `criteria` name, prints what went, and asks before when a person is there. Entries
/// that were named by id and are nowhere make it kFailed.
Result<ExitStatus> delete_and_tell(Tool& tool, MemoryManager& memory,
                                   const DeletionCriteria& criteria, const DeleteOptions& options);

}  // namespace bmad_mem::cli
