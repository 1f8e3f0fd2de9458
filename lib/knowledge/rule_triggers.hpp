// rule_triggers.hpp - which rules a prompt calls for: those that name what it is about.
//
//   "We use snake_case for columns."   columns, snake_case, and column's subject: table, migration
//   … "write a migration for the users"  migration: the same subject
//
// A rule needs no hit of a search: "add the dayjs package" and "always pnpm" have no word in
// common. Words are compared by their stems, in all languages at once; subjects are the lines of
// rules/subjects.txt. Words of any work ("file", "use") don't call for a rule by themselves.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

/// Most rules that are told at a prompt.
inline constexpr std::size_t kTriggeredMax = 5;

/// Of `rules`, which are in force, those that `prompt` calls for: at most kTriggeredMax, the best
/// match first, of equals in their order. Pure; about 1 us for each word of prompt and rules.
std::vector<const KnowledgeItem*> triggered_rules(std::span<const KnowledgeItem* const> rules,
                                                  std::string_view prompt);

}  // namespace bmad_mem
