// hash.hpp - XXH3, the hash of everything that must be recognised again but not kept secret.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bmad_mem {

/// XXH3, 64 bits, seed 0. The same on every machine; stored on disk, so never changed.
std::uint64_t xxh3(std::string_view bytes);

/// 16 lower-case hexadecimal digits.
std::string hash_hex(std::uint64_t hash);

}  // namespace bmad_mem
