// filters.hpp - the options by which `list`, `query` and their like choose entries.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"

namespace bmad_mem::cli {

/// The names of the types, for help and completion: EntryTypeInfo::name as constants.
inline constexpr std::array<std::string_view, kEntryTypeCount> kTypeNames = {
    "conversation", "decision", "finding",     "preference",
    "fact",         "event",    "agent_state", "artifact"};

/// What `archived` takes, here and in the other interfaces.
inline constexpr std::array<std::string_view, 3> kArchivedChoices = {"yes", "no", "only"};
/// One of them; anything else is "yes".
ArchivedSessions archived_choice(std::string_view text);

/// The time that --as-of names, if any. Errors: E_INVALID_QUERY.
Result<std::optional<Timestamp>> read_as_of(const Arguments& args, Timestamp now);

/// What the options above say. `now` is what relative times count from, unless --as-of is given.
/// Errors: E_INVALID_QUERY for a time, a number or a type that isn't one, with the option as field.
Result<EntryFilter> read_filter(const Arguments& args, Timestamp now);

}  // namespace bmad_mem::cli
