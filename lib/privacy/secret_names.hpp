// secret_names.hpp - what a name says about its value.
//
//   DB_PASSWORD  dbPassword  db-password  ──► db password ──► a password
//   password_min_length      ──► "password", then "length": says something about one
//   commit_sha, max_tokens, publicKey, cache_key            ──► nothing
#pragma once

#include <cstdint>
#include <string_view>

namespace bmad_mem {

/// No name is longer, in bytes.
inline constexpr std::size_t kNameSizeMax = 128;

enum class SecretKind : std::uint8_t {
  kNone,
  kPassword,  ///< Chosen by people: may be short and weak.
  kPass,      ///< "pass", "pw": often a password.
  kApiKey,    ///< Drawn by a machine, as are the next.
  kToken,
  kSecret,
  kPrivateKey,  ///< Signs or encrypts.
  kCredential,
  kConnection,  ///< A string with credentials in it.
  kWeak,        ///< "auth", "salt", "seed", "session key": now and then a secret.
  kSeedPhrase,  ///< Words that a key is made from.
  kCode,        ///< "pin", "otp": digits.
};

/// What `name` promises; kNone for names longer than kNameSizeMax.
SecretKind secret_kind(std::string_view name);

/// Whether `name` has a word such as commit, sha, hash, digest, checksum: what it names is public.
bool names_digest(std::string_view name);

/// Id of the rule that a value of `kind` is redacted by.
std::string_view rule_of(SecretKind kind);

/// Letters of a name as a set: bit 0 is 'a' or 'A'.
using LetterSet = std::uint32_t;
constexpr LetterSet letter_bit(char c) {
  const auto letter = static_cast<unsigned char>(static_cast<unsigned char>(c) | 0x20U);
  return letter >= 'a' && letter <= 'z' ? 1U << (letter - 'a') : 0;
}

/// Whether a name with these letters can be of any kind but kNone. Rules most names out at once.
bool can_be_secret_name(LetterSet letters);

}  // namespace bmad_mem
