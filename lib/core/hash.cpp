#include "core/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace bmad_mem {

std::uint64_t xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string hash_hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace bmad_mem
