// keyed_hash.hpp - hashes that nobody can aim at who does not know the key.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bmad_mem {

using HashKey = std::array<unsigned char, 16>;

/// A key that nobody can guess.
HashKey random_hash_key();

/// SipHash-2-4, 64 bits (Aumasson and Bernstein, 2012).
std::uint64_t keyed_hash(const HashKey& key, std::string_view bytes);

/// BLAKE2b of `bytes`, 128 bits, as 32 lower-case hexadecimal digits: the same on every machine.
std::string content_digest(std::string_view bytes);

/// 32 lower-case hexadecimal digits.
std::string hash_key_hex(const HashKey& key);
/// False when `hex` is something else.
bool read_hash_key(std::string_view hex, HashKey& key);

}  // namespace bmad_mem
