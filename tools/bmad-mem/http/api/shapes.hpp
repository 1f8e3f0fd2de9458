// shapes.hpp - answers of the API, and what several of them have. schemas.json describes them to
// users: a member of a shape is a property there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "cli/results.hpp"
#include "http/endpoint.hpp"
#include "http/http_message.hpp"

namespace bmad_mem::cli {

/// Members of answers: what could not be read and was left out, if anything.
std::optional<RawJson> unread(const MemoryManager& memory);
/// How many encrypted lines that `filter` names have no key here; none for nothing. Without a
/// usable source of the key, all of them.
std::optional<std::uint64_t> closed_lines(const MemoryManager& memory, const EntryFilter& filter);
/// How many lines of these sessions only a key opens, for an answer that opens none; none for
/// nothing.
std::optional<std::uint64_t> encrypted_lines(const MemoryManager& memory,
                                             const std::vector<std::string>& sessions = {});
/// The ids that the entry of the item refers to.
std::vector<std::string> references_of(const KnowledgeItem& item);

/// The session as an object; with the number of its entries where that is known.
RawJson session_json(const MemoryManager& memory, const Session& session,
                     std::optional<std::uint64_t> entries = {});

/// The object of these members, see put_all(), as an answer.
HttpResponse object_response(const auto&... members) {
  return json_response(json_object(members...));
}

/// As object_response(), between the time that it was read as of and what could not be read.
HttpResponse read_response(const ApiContext& context, const EndpointCall& call,
                           const auto&... members) {
  return object_response("as_of", call.time("as_of"), members..., "incomplete",
                         unread(context.memory));
}

// The entries that a request means, by its parameters or by its path.

/// What read_entry_filter() reads, ?workspace and ?sensitive say. Errors: E_INVALID_QUERY for a
/// range that ends before it begins; those of listing sessions.
Result<EntryFilter> choose_entries(const ApiContext& context, const EndpointCall& call);

/// The filter as one for a query, which must ask for something: all types, where it asks for none.
EntryFilter query_filter(EntryFilter filter);

/// The entries with the {id} of the path, in ?session_id or anywhere, in their latest versions or
/// in those of ?as_of; at least one. Errors: E_ENTRY_NOT_FOUND when there is none.
Result<std::vector<Entry>> entries_of_path(const ApiContext& context, const EndpointCall& call);

/// The one of them to change. Errors: as above; E_INVALID_QUERY when several sessions have one.
Result<Entry> entry_to_change(const ApiContext& context, const EndpointCall& call);

/// The memory to write to, that of the project or of the user, as `scope` of the call says.
Result<MemoryManager*> memory_to_write(ApiContext& context, const EndpointCall& call);

}  // namespace bmad_mem::cli
