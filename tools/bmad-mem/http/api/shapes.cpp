// shapes.cpp - writes the JSON of entries, hits and sessions for the API.
#include "http/api/shapes.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "exchange/workspaces.hpp"
#include "mcp/lazy_memory.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

std::optional<RawJson> unread(const MemoryManager& memory) {
  const std::vector<Error> problems = memory.problems();
  return problems.empty() ? std::nullopt
                          : std::optional(raw_json(json_value(shaped(shape::problem, problems))));
}

std::optional<std::uint64_t> closed_lines(const MemoryManager& memory, const EntryFilter& filter) {
  const Result<std::uint64_t> closed = memory.closed_entries(filter);
  return closed ? if_some(*closed) : encrypted_lines(memory, filter.sessions);
}

std::optional<std::uint64_t> encrypted_lines(const MemoryManager& memory,
                                             const std::vector<std::string>& sessions) {
  return if_some(memory.encrypted_lines(sessions).value_or(0));
}

std::vector<std::string> references_of(const KnowledgeItem& item) {
  const ParsedJson entry(item.json);
  const auto ids = entry ? entry_references(*entry) : std::vector<std::string_view>();
  return {ids.begin(), ids.end()};
}

RawJson session_json(const MemoryManager& memory, const Session& session,
                     std::optional<std::uint64_t> entries) {
  return raw_json(
      session.problem
          ? json_object(shaped(shape::damaged_session, session))
          : json_object(shaped(shape::session_with_all, session,
                               session_state_name(memory.session_state(session)), entries)));
}

Result<EntryFilter> choose_entries(const ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(EntryFilter filter, read_entry_filter(call));
  filter.without_sensitive = !call.boolean("sensitive");
  if (filter.since && filter.until && *filter.until < *filter.since) {
    return invalid_query("until",
                         fmt::format("the range ends ({}) before it begins ({})",
                                     format_rfc3339(*filter.until), format_rfc3339(*filter.since)));
  }
  if (const std::string workspace = call.text("workspace"); !workspace.empty()) {
    BMAD_TRY_ASSIGN(filter.workspace, workspace_filter(context.memory, workspace));
  }
  return filter;
}

EntryFilter query_filter(EntryFilter filter) {
  if (filter.types.empty()) {
    filter.types.assign(kEntryTypes.begin(), kEntryTypes.end());
  }
  return filter;
}

Result<std::vector<Entry>> entries_of_path(const ApiContext& context, const EndpointCall& call) {
  const std::string id(call.in_path("id"));
  BMAD_TRY_ASSIGN(std::vector<Entry> entries,
                  context.memory.get({&id, 1}, call.texts("session_id"), call.time("as_of")));
  if (entries.empty()) {
    return context.memory.no_entry(id);
  }
  return entries;
}

Result<Entry> entry_to_change(const ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(std::vector<Entry> entries, entries_of_path(context, call));
  if (entries.size() > 1) {
    return invalid_query("session_id",
                         fmt::format("{} sessions have an entry {} ({}, {}{}); say which one",
                                     entries.size(), entries[0].id, entries[0].session_id,
                                     entries[1].session_id, entries.size() > 2 ? ", ..." : ""));
  }
  return std::move(entries.front());
}

Result<MemoryManager*> memory_to_write(ApiContext& context, const EndpointCall& call) {
  if (call.text("scope") != "user") {
    return &context.memory;
  }
  return users_to_write(context.users);
}

}  // namespace bmad_mem::cli
