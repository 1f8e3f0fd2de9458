#include "base/keyed_hash.hpp"

#include <sodium.h>

namespace bmad_mem {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());  // NOLINT(*-reinterpret-cast)
}

std::string hex_text(const unsigned char* bytes, std::size_t size) {
  std::string out(2 * size + 1, '\0');
  sodium_bin2hex(out.data(), out.size(), bytes, size);
  out.pop_back();
  return out;
}

}  // namespace

HashKey random_hash_key() {
  HashKey key{};
  randombytes_buf(key.data(), key.size());
  return key;
}

std::uint64_t keyed_hash(const HashKey& key, std::string_view bytes) {
  static_assert(sizeof(HashKey) == crypto_shorthash_KEYBYTES);
  std::array<unsigned char, crypto_shorthash_BYTES> out{};
  crypto_shorthash(out.data(), bytes_of(bytes), bytes.size(), key.data());
  std::uint64_t hash = 0;
  for (std::size_t i = out.size(); i-- > 0;) {
    hash = hash << 8U | out[i];
  }
  return hash;
}

std::string content_digest(std::string_view bytes) {
  std::array<unsigned char, crypto_generichash_BYTES_MIN> out{};
  crypto_generichash(out.data(), out.size(), bytes_of(bytes), bytes.size(), nullptr, 0);
  return hex_text(out.data(), out.size());
}

std::string hash_key_hex(const HashKey& key) { return hex_text(key.data(), key.size()); }

bool read_hash_key(std::string_view text, HashKey& key) {
  std::size_t size = 0;
  return text.size() == 2 * key.size() &&
         sodium_hex2bin(key.data(), key.size(), text.data(), text.size(), nullptr, &size,
                        nullptr) == 0 &&
         size == key.size();
}

}  // namespace bmad_mem
