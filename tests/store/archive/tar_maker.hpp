// tar_maker.hpp - tar files as no good program would write them, byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bmad_mem::test {

/// One member of a ustar file. Everything is written as it is given.
struct RawMember {
  std::string name;
  std::string bytes;
  char type = '0';  ///< '1' hard link, '2' symbolic link, '3' device, '5' folder, '6' FIFO.
  std::string link_target;
  std::uint64_t claimed_size = UINT64_MAX;  ///< Instead of the size of `bytes`.
};

/// Header and bytes of a member, both padded to blocks of 512.
std::string raw_member(const RawMember& member);

/// The two empty blocks at the end.
std::string tar_end();

}  // namespace bmad_mem::test
