// shapes.hpp - entries, hits, sessions and knowledge as the API writes them. schemas.json says the
// same to its users: a member here is a property there.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/reports.hpp"
#include "http/http_message.hpp"

namespace bmad_mem::cli {

// Each writes one value: behind a key, or into an array.

void write_entry(JsonWriter& json, const Entry& entry);
/// The same, and whether it is a statement that is not current.
void write_entry_found(JsonWriter& json, const Hit& hit);
/// The member "incomplete", if there is something that could not be read and was left out.
void add_incomplete(JsonWriter& json, const MemoryManager& memory);
/// The same, and under the name that it had in version 0.1: "problems".
void add_unreadable(JsonWriter& json, const MemoryManager& memory);
/// The member "closed_lines": how many sealed lines that `filter` names have no key here; none for
/// nothing. Without a usable source of the key, all of them.
void add_closed_lines(JsonWriter& json, const MemoryManager& memory, const EntryFilter& filter);
/// The member "sealed_lines": how many lines of these sessions only a key opens, for an answer that
/// opens none; none for nothing.
void add_sealed_lines(JsonWriter& json, const MemoryManager& memory,
                      const std::vector<std::string>& sessions = {});
void write_hit(JsonWriter& json, const Hit& hit);
void write_knowledge_item(JsonWriter& json, const KnowledgeItem& item);
/// {"code":…,"message":…} and what else is known.
void write_error(JsonWriter& json, const Error& error);
void write_deletion(JsonWriter& json, const Deletion& deletion);
void write_action(JsonWriter& json, const MaintenanceAction& action);
/// {"conversation":2,…}: every type, in the order of the enum.
void write_type_counts(JsonWriter& json, const std::array<std::uint64_t, kEntryTypeCount>& counts);

/// The session as an object; with the number of its entries where that is known.
void write_session(JsonWriter& json, const MemoryManager& memory, const Session& session,
                   std::optional<std::uint64_t> entries = {});

/// The object that `json` has open, as an answer.
inline HttpResponse object_response(JsonWriter& json) {
  json.end_object();
  return json_response(json.take());
}

/// A member next_due, left out when nothing goes by schedule.
void add_next_due(JsonWriter& json, Timestamp next_due);

}  // namespace bmad_mem::cli
