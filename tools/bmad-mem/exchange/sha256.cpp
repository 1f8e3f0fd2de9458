#include "exchange/sha256.hpp"

#include <sodium/crypto_hash_sha256.h>

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bmad_mem::cli {

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): sodium takes bytes as they are.
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  crypto_hash_sha256(hash.data(), bytes, text.size());
  return fmt::format("{:02x}", fmt::join(hash, ""));
}

}  // namespace bmad_mem::cli
