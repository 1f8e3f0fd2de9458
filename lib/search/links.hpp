// links.hpp - which entries an id in an entry means, and which entries name one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "search/indexed_session.hpp"

namespace bmad_mem {

// `sessions` are refreshed and locked. Errors: as entries_with_id().

/// The entries that `id` means where `entry` names it: that of the same session, or else that of
/// one of the others.
Result<std::vector<Entry>> named_entries(std::span<IndexedSession* const> sessions,
                                         const Entry& entry, std::string_view id);

/// The entries that name `id`, as a reference or in a link.
Result<std::vector<Entry>> naming_entries(std::span<IndexedSession* const> sessions,
                                          std::string_view id);

/// An entry that a typed link leads to.
struct Neighbour {
  Relation relation = Relation::kSolves;  ///< Counted from the entry that was asked for.
  Entry entry;
};

/// The typed links of `entry`, both ways, in the order of their relations. An entry comes once for
/// each relation.
Result<std::vector<Neighbour>> typed_neighbours(std::span<IndexedSession* const> sessions,
                                                const Entry& entry);

}  // namespace bmad_mem
