// hash.hpp - XXH3, the hash of everything that must be recognised again but not kept secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bmad_mem {

/// XXH3, 64 bits, seed 0. The same on every machine; stored on disk, so never changed.
std::uint64_t xxh3(std::string_view bytes);

/// XXH3 of bytes that come piece by piece: the same value as xxh3() of all of them.
class Xxh3Stream {
 public:
  Xxh3Stream();
  ~Xxh3Stream();

  void add(std::string_view bytes);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct Impl;  // Keeps xxhash.h out of this header.
  std::unique_ptr<Impl> impl_;
};

/// One number for lines that come one after another, to which the next ones can be added without
/// the earlier ones at hand: 64 bits are all that is kept. Not for disks that leave the machine.
class LineHash {
 public:
  /// Goes on where `value` was reached; 0 is no lines.
  explicit LineHash(std::uint64_t value = 0) : value_(value) {}

  /// `line` has its '\n'.
  void add(std::string_view line);
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_;
};

/// 16 lower-case hexadecimal digits.
std::string hash_hex(std::uint64_t hash);

/// Appends the part of `value` that `digits` base-64 digits can say: six bits each, most
/// significant first.
void append_digits(std::uint64_t value, std::size_t digits, std::string& out);

// Hashes that nobody can aim at who does not know the key.

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
