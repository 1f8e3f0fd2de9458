// entry_columns_test.cpp - the hashes of entries, and what their flags tell.
#include "search/entry_columns.hpp"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "model/entry.hpp"

namespace bmad_mem::test::entry_columns_test {
TEST_CASE("the hash of an id tells types apart, and the hash of a line its bytes") {
  CHECK(entry_id_hash(EntryType::kFact, "x") != entry_id_hash(EntryType::kDecision, "x"));
  CHECK(entry_id_hash(EntryType::kFact, "x") != entry_id_hash(EntryType::kFact, "y"));
  CHECK(entry_id_hash(EntryType::kFact, "x") == entry_id_hash(EntryType::kFact, "x"));
  CHECK(entry_line_hash("{}") != entry_line_hash("{} "));
  CHECK(entry_line_hash("{}") < 1U << 30U);
}

TEST_CASE("flags keep type, role and what makes an entry important") {
  for (const EntryType type : kEntryTypes) {
    for (const std::uint32_t more : {0U, std::uint32_t{kFlagSevere}, std::uint32_t{kFlagApproved},
                                     std::uint32_t{kFlagSevere | kFlagApproved}}) {
      const std::uint32_t flags =
          static_cast<std::uint32_t>(type) | more | kFlagTombstone | (2U << kFlagRoleShift);
      CHECK(flag_type(flags) == type);
      CHECK(flag_role(flags) == EntryRole::kAssistant);
      CHECK(flag_importance(flags) ==
            importance_of(type, (more & kFlagSevere) != 0, (more & kFlagApproved) != 0));
    }
  }
}

}  // namespace bmad_mem::test::entry_columns_test
