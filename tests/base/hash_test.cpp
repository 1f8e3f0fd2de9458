#include "base/hash.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace bmad_mem::test::hash_test {

TEST_CASE("the hash is XXH3 with 64 bits and seed 0, as it stands on disks") {
  // From `xxhsum -H3`; the sizes take each of the algorithm's branches.
  struct Row {
    std::string bytes;
    std::string_view hex;
  };
  const Row rows[] = {
      {"", "2d06800538d394c2"},
      {"a", "e6c632b61e964e1f"},
      {"abc", "78af5f94892f3950"},
      {std::string(9, 'x'), "7bd3d408882c63a9"},
      {std::string(17, 'x'), "89975e6b7d2f5a11"},
      {std::string(129, 'x'), "e4f9742108fe27dc"},
      {std::string(241, 'x'), "14da9e5c301a6a1d"},
      {std::string(1000, 'x'), "c0a4877b962cba82"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes.size());
    CHECK(hash_hex(xxh3(row.bytes)) == row.hex);
  }
}

TEST_CASE("the hash of lines goes on from a number, and depends on each line and their order") {
  LineHash all;
  all.add("a\n");
  const std::uint64_t after_one = all.value();
  all.add("b\n");
  LineHash later(after_one);
  later.add("b\n");
  CHECK(later.value() == all.value());
  LineHash turned;
  turned.add("b\n");
  turned.add("a\n");
  CHECK(turned.value() != all.value());
  CHECK(LineHash().value() == 0);
  CHECK(after_one != 0);
}

TEST_CASE("a hash is written with 16 digits") {
  CHECK(hash_hex(0) == "0000000000000000");
  CHECK(hash_hex(0xABCU) == "0000000000000abc");
  CHECK(hash_hex(~0ULL) == "ffffffffffffffff");
}

}  // namespace bmad_mem::test::hash_test
