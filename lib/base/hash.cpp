// hash.cpp - XXH3, SipHash and BLAKE2b, by xxHash and libsodium; hashes as text.
#include "base/hash.hpp"

#include <sodium.h>

#include <array>
#include <cassert>

#include <fmt/format.h>
#include <xxhash.h>

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

std::uint64_t xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

struct Xxh3Stream::Impl {
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state{XXH3_createState(),
                                                                 XXH3_freeState};
};

Xxh3Stream::Xxh3Stream() : impl_(std::make_unique<Impl>()) {
  XXH3_64bits_reset(impl_->state.get());
}
Xxh3Stream::~Xxh3Stream() = default;

void Xxh3Stream::add(std::string_view bytes) {
  XXH3_64bits_update(impl_->state.get(), bytes.data(), bytes.size());
}

std::uint64_t Xxh3Stream::value() const { return XXH3_64bits_digest(impl_->state.get()); }

void LineHash::add(std::string_view line) {
  assert(line.ends_with('\n'));
  const std::array<std::uint64_t, 2> both = {value_, xxh3(line)};
  value_ = XXH3_64bits(both.data(), sizeof both);
}

std::string hash_hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

void append_digits(std::uint64_t value, std::size_t digits, std::string& out) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr unsigned kBits = 6;
  assert(kBits * digits < 64 + kBits && "a shift by 64 bits is undefined");
  for (std::size_t i = digits; i-- > 0;) {
    out += kDigits[(value >> (kBits * i)) & 63U];
  }
}

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
