#include <doctest/doctest.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::test::letter_case_test {

TEST_CASE("letters of any script lose their case, and everything else stays") {
  CHECK(lower_case("Chip_MATH 42") == "chip_math 42");
  CHECK(lower_case("ÄÖÜ Ωμέγα ЖЗ ǅ") == "äöü ωμέγα жз ǆ");
  CHECK(lower_case("ẞ ß 漢字") == "ß ß 漢字");
  CHECK(lower_case("").empty());
}

TEST_CASE("bytes that are no UTF-8 stay as they are") {
  CHECK(lower_case("A\xFF\xC3") == "a\xFF\xC3");
}

}  // namespace bmad_mem::test::letter_case_test
