// told_log.hpp - what an agent was told in a session, so that it is not told twice.
//
//   sessions/ID/.lock.told      8a1f00c2d94be07733b1c2a09f5e6d41\n
//                               |<- who read --->|<- entry ---->|
//                               8a1f00c2d94be0770000000000000000\n    all before is forgotten
//
// Hooks run at once, so lines are only appended, each write whole. Local to this machine; it may be
// deleted at any time.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/knowledge.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// An entry as the log knows it; never 0.
std::uint64_t told_hash(std::string_view session_id, EntryType type, std::string_view id);

/// What `reader` was told; of a log that can't be read nothing.
std::set<std::uint64_t> read_told(const Store& store, const ContextReader& reader);

/// Appends `entries`; without any, the mark that all is forgotten.
Status append_told(const Store& store, const ContextReader& reader,
                   std::span<const std::uint64_t> entries);

}  // namespace bmad_mem
