#include "http/api/lookup.hpp"

#include <utility>

#include <fmt/core.h>

#include "bmad_mem/utf8.hpp"

namespace bmad_mem::cli {

std::vector<std::string> named_session(const EndpointCall& call) {
  return call.texts("session_id");
}

Error no_such_entry(std::string_view id) {
  return {.code = ErrorCode::E_SESSION_NOT_FOUND,
          .message =
              fmt::format("there is no entry {}; it may have been deleted", utf8_prefix(id, 200)),
          .field = "id"};
}

Result<std::vector<Entry>> entries_of_path(const ApiContext& context, const EndpointCall& call) {
  const std::string id(call.in_path("id"));
  BMAD_TRY_ASSIGN(std::vector<Entry> entries,
                  context.memory.get({&id, 1}, named_session(call), call.time("as_of")));
  if (entries.empty()) {
    return no_such_entry(id);
  }
  return entries;
}

Result<Entry> entry_to_change(const ApiContext& context, const EndpointCall& call) {
  BMAD_TRY_ASSIGN(std::vector<Entry> entries, entries_of_path(context, call));
  if (entries.size() > 1) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("{} sessions have an entry {} ({}, {}{}); say which one",
                                        entries.size(), entries[0].id, entries[0].session_id,
                                        entries[1].session_id, entries.size() > 2 ? ", ..." : ""),
                 .field = "session_id"};
  }
  return std::move(entries.front());
}

}  // namespace bmad_mem::cli
