// filters.hpp - the options by which `list`, `query` and their like choose entries.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "command.hpp"
#include "options.hpp"

namespace bmad_mem::cli {

/// The names of the types, for help and completion: EntryTypeInfo::name as constants.
inline constexpr std::array<std::string_view, kEntryTypeCount> kTypeNames = {
    "conversation", "decision", "finding",     "preference",
    "fact",         "event",    "agent_state", "artifact"};

inline constexpr Option kTypeFilter = {.name = "type",
                                       .value = "TYPE",
                                       .help = "only entries of this type",
                                       .repeatable = true,
                                       .completion = Completion::kChoice,
                                       .choices = kTypeNames};
inline constexpr Option kTagFilter = {.name = "tag",
                                      .value = "TAG",
                                      .help = "only entries with any of these tags",
                                      .repeatable = true};
inline constexpr Option kAgentFilter = {.name = "agent",
                                        .value = "NAME",
                                        .help = "only what this agent said, decided or found",
                                        .repeatable = true};
inline constexpr Option kSessionFilter = {.name = "session",
                                          .value = "ID",
                                          .help = "only this session",
                                          .repeatable = true,
                                          .fallback = "all",
                                          .completion = Completion::kSession};
inline constexpr Option kSinceFilter = {
    .name = "since",
    .value = "TIME",
    .help = "not before: 2026-01-11, an RFC 3339 time, 24h, 7d, 2w, yesterday (UTC)"};
inline constexpr Option kUntilFilter = {
    .name = "until", .value = "TIME", .help = "not after; a day counts to its end"};
inline constexpr Option kAsOfFilter = {
    .name = "as-of",
    .value = "TIME",
    .help =
        "the memory as it was then; times are counted from there: 2026-01-11, an RFC 3339 "
        "time, 24h, 7d"};
inline constexpr Option kPinnedFilter = {.name = "pinned", .help = "only pinned entries"};
inline constexpr Option kWhereFilter = {
    .name = "where",
    .value = "FIELD=VALUE",
    .help = "only entries with this value in a field, as status=open; with != none that have it",
    .repeatable = true};
inline constexpr Option kNoSensitiveFilter = {
    .name = "no-sensitive", .help = "leave out entries that are marked as sensitive"};
/// What `archived` takes, here and in the other interfaces.
inline constexpr std::array<std::string_view, 3> kArchivedChoices = {"yes", "no", "only"};
/// One of them; anything else is "yes".
ArchivedSessions archived_choice(std::string_view text);
inline constexpr Option kArchivedFilter = {
    .name = "archived",
    .help = "archived sessions and evicted entries, too; no: none of them; only: nothing else",
    .fallback = "yes",
    .choices = kArchivedChoices};
/// --limit, of what `help` says.
constexpr Option limit_option(std::string_view help) {
  return {.name = "limit", .letter = 'n', .value = "N", .help = help, .fallback = "20"};
}
inline constexpr Option kLimitFilter = limit_option("at most so many entries; 0: all");

/// The time that --as-of names, if any. Errors: E_INVALID_QUERY.
Result<std::optional<Timestamp>> read_as_of(const Arguments& args, Timestamp now);

/// What the options above say. `now` is what relative times count from, unless --as-of is given.
/// Errors: E_INVALID_QUERY for a time, a number or a type that isn't one, with the option as field.
Result<EntryFilter> read_filter(const Arguments& args, Timestamp now);

}  // namespace bmad_mem::cli
