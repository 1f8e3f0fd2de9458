#include "http/api/entry_filters.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "exchange/workspaces.hpp"
#include "mcp/lazy_memory.hpp"

namespace bmad_mem::cli {

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
