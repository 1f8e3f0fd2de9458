// merged_links.hpp - the typed links of an entry that both branches have changed.
//
//   base    A {solves: [x]}
//   ours    A {solves: [x, y]}            ->   A {solves: [y, z]}    what either added, without
//   theirs  A {solves: [z]}                                          what either took away
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bmad_mem {

/// The line `newest` with the links of both sides. Each is the last version of one entry, or empty;
/// `newest` is one of the two sides. Nothing when that has them already. The same whoever is
/// `ours`. Lines that are no entries have no links.
std::optional<std::string> with_merged_links(std::string_view base, std::string_view ours,
                                             std::string_view theirs, std::string_view newest);

}  // namespace bmad_mem
