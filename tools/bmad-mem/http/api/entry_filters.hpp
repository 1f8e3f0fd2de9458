// entry_filters.hpp - the parameters by which endpoints choose entries.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "http/endpoint.hpp"

namespace bmad_mem::cli {

inline constexpr QueryParameter kTypeParameter = {
    .name = "type",
    .kind = ParameterKind::kType,
    .help =
        "Only entries of this type, singular or plural; facts are facts and preferences, "
        "records all others.",
    .repeatable = true};
inline constexpr QueryParameter kSessionsParameter = {
    .name = "session_id", .help = "Only this session.", .repeatable = true};
inline constexpr QueryParameter kAgentParameter = {
    .name = "agent",
    .help = "Only what this agent or person said, decided or found.",
    .repeatable = true};
inline constexpr QueryParameter kTagParameter = {
    .name = "tag", .help = "Only entries with any of these tags.", .repeatable = true};
inline constexpr QueryParameter kTopicParameter = {
    .name = "topic", .help = "Only entries of any of these topics.", .repeatable = true};
inline constexpr QueryParameter kFieldParameter = {
    .name = "field",
    .help =
        "Only entries with this value in a field, as status:open; with - in front none that have "
        "it. Of one field any value. Fields: {filter fields}.",
    .repeatable = true};
inline constexpr QueryParameter kWorkspaceParameter = {
    .name = "workspace", .help = "Only sessions of this folder, by its path or its last part."};
inline constexpr QueryParameter kSinceParameter = {
    .name = "since",
    .kind = ParameterKind::kTime,
    .help = "Not before: RFC 3339, 2026-01-11, 24h, 7d, 2w, yesterday (UTC)."};
inline constexpr QueryParameter kUntilParameter = {
    .name = "until", .kind = ParameterKind::kTime, .help = "Not after; a day counts to its end."};
inline constexpr QueryParameter kAsOfParameter = {
    .name = "as_of",
    .kind = ParameterKind::kTime,
    .help =
        "The memory as it was then, the versions of that time; since and until are counted "
        "from there. A day counts to its end."};
inline constexpr QueryParameter kPinnedParameter = {.name = "pinned",
                                                    .kind = ParameterKind::kFlag,
                                                    .help = "Only pinned entries.",
                                                    .fallback = "false"};
inline constexpr QueryParameter kSensitiveParameter = {
    .name = "sensitive",
    .kind = ParameterKind::kFlag,
    .help = "Entries that are marked as sensitive as well.",
    .fallback = "true"};
inline constexpr std::array<std::string_view, 7> kArchivedParameterChoices = {
    "yes", "no", "only", "true", "false", "1", "0"};
inline constexpr QueryParameter kArchivedParameter = {
    .name = "archived",
    .kind = ParameterKind::kChoice,
    .help =
        "Archived sessions and evicted entries: yes, no or only. true and 1 mean yes, false "
        "and 0 mean no.",
    .fallback = "yes",
    .choices = kArchivedParameterChoices};

/// What these parameters say; the endpoint has all of them but perhaps topic.
struct ChosenEntries {
  EntryFilter filter;  ///< Its limit is for the caller to set.
  bool none = false;   ///< Nothing can pass: no session belongs to the workspace.
};

/// Errors: E_INVALID_QUERY for a range that ends before it begins; those of listing sessions.
Result<ChosenEntries> choose_entries(const ApiContext& context, const EndpointCall& call);

/// The member as_of of an answer, when ?as_of asked for a time.
void add_as_of(JsonWriter& json, const EndpointCall& call);

/// The filter as one for a query, which must ask for something: all types, where it asks for none.
EntryFilter query_filter(EntryFilter filter);

}  // namespace bmad_mem::cli
