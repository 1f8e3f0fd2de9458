// checkpoint_damage_slow_test.cpp - every byte of an index.json with several blocks. The quick
// tests are in checkpoint_damage_test.cpp.
#include <doctest/doctest.h>

#include "index/checkpoint_format.hpp"
#include "index/damaged_checkpoint.hpp"

namespace bmad_mem::test::checkpoint_damage_slow_test {

TEST_CASE("every truncation of a checkpoint with several blocks leads to the right answer") {
  Damaged damaged(31, 400);
  CHECK(damaged.good.size() > 2 * kBlockSize);
  CHECK(damaged.good.size() < 24'000);
  CHECK(damaged.problem_of_truncations() == "");
}

TEST_CASE("every changed byte of a checkpoint with several blocks leads to the right answer") {
  Damaged damaged(31, 400);
  CHECK(damaged.problem_of_changes(41) == "");
  CHECK(damaged.errors > damaged.good.size() / 4);
}

}  // namespace bmad_mem::test::checkpoint_damage_slow_test
