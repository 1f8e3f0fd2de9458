// rule_triggers.hpp - which rules a prompt calls for: those that name what it is about.
//
//   "We use snake_case for columns."   columns, snake_case, and column's subject: table, migration
//   … "write a migration for the users"  migration: the same subject
//
// A rule needs no hit of a search: "add the dayjs package" and "always pnpm" have no word in
// common. Words are compared by their stems, in all languages at once; subjects are the lines of
// rules/subjects.txt. Words of any work ("file", "use") alone don't call for a rule.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {

/// Most rules that are told at a prompt.
inline constexpr std::size_t kTriggeredMax = 5;

/// Of `rules`, which are in force, those that `prompt` calls for: at most kTriggeredMax, the best
/// match first, of equals in their order. Pure; some 1 ms, and 30 us more for each rule.
std::vector<const KnowledgeItem*> triggered_rules(std::span<const KnowledgeItem* const> rules,
                                                  std::string_view prompt);

/// The same for rules that agree except for a value of a list `oneof` of the subjects, so that the
/// newer one replaces the older: "commit messages in English", later "in German". Empty for others.
std::string rule_key(std::string_view rule);

}  // namespace bmad_mem
