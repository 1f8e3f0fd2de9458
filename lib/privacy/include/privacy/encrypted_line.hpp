// encrypted_line.hpp - a line of a log of which id and times alone can be read without a key.
//
//   {"id":"fact-1","timestamp":"…","content":"…","tags":[…]}
//        │ encrypt_line()                                  ▲ open_line()
//   {"id":"fact-1","timestamp":"…","sealed":"1.yTDm0bWjhAo.QmFzZTY0…"}
//                                            │ │           └ nonce, ciphertext, tag in base64url
//                                            │ └ the id of the key
//                                            └ version of this form
//
// XChaCha20-Poly1305 of libsodium with 24 random bytes as the nonce of each line. What is encrypted
// is the line as it was, byte for byte. Session, type, id and times are authenticated with it: a
// line that was put into another session, log or entry does not open, nor one with another time.
// `expires_at`, `written_at` and `pinned` stay in clear as well, and are authenticated: neither
// retention nor the choice of the newest version needs a key.
//
// A key is 32 bytes, and its id is a hash of them: it says nothing of the key, and which one opens
// a line. Losing a key is final.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Longest line that can be encrypted, in bytes without its '\n': as an encrypted one it has at
/// most kEntrySizeMax.
inline constexpr std::size_t kEncryptableSizeMax = (std::size_t{1} << 20U) * 3 / 4 - 4096;

/// How a passphrase becomes a key: Argon2id. Kept beside what is encrypted; it is no secret.
struct PassphraseRecipe {
  static constexpr std::uint64_t kPassesMax = 10;
  static constexpr std::uint64_t kMemoryMin = std::uint64_t{8} << 20U;
  static constexpr std::uint64_t kMemoryMax = std::uint64_t{1} << 30U;

  HashKey salt{};
  std::uint64_t passes = 3;
  std::uint64_t memory = std::uint64_t{256} << 20U;  ///< In bytes.
};
/// One with a salt of its own.
PassphraseRecipe new_passphrase_recipe();

/// Wiped when it goes.
class EncryptionKey {
 public:
  static constexpr std::size_t kSize = 32;

  static EncryptionKey make();
  /// "bmad-mem-key-1 " and 32 bytes in base64url, or 64 hexadecimal digits, with or without blanks
  /// around. Errors:
  /// E_INVALID_FORMAT, which repeats nothing of the text.
  static Result<EncryptionKey> parse(std::string_view text);
  /// Takes about half a second with the usual recipe, and its memory. Errors: E_INVALID_FORMAT for
  /// a recipe beyond its limits, as a stranger's may be, or no passphrase; E_RESOURCE_LIMIT without
  /// the memory.
  static Result<EncryptionKey> from_passphrase(std::string_view passphrase,
                                               const PassphraseRecipe& recipe);

  EncryptionKey(const EncryptionKey&) = default;
  EncryptionKey(EncryptionKey&&) = default;
  EncryptionKey& operator=(const EncryptionKey&) = default;
  EncryptionKey& operator=(EncryptionKey&&) = default;
  ~EncryptionKey();

  /// As parse() takes it, without a line break.
  [[nodiscard]] std::string to_text() const;
  /// 11 letters that need no quoting anywhere.
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::array<unsigned char, kSize>& bytes() const { return bytes_; }
  /// Whether it has too few different bytes to be drawn: zeros, or a pattern.
  [[nodiscard]] bool is_weak() const;

 private:
  EncryptionKey() = default;
  void set_id();

  std::array<unsigned char, kSize> bytes_{};
  std::string id_;
};

/// The first encrypts; all open.
class EncryptionKeys {
 public:
  static constexpr std::size_t kKeysMax = 64;

  EncryptionKeys() = default;
  explicit EncryptionKeys(EncryptionKey current) { keys_.push_back(std::move(current)); }
  /// A key a line; empty lines and those that begin with '#' are none. Errors: E_INVALID_FORMAT
  /// with the line, also for no key, more than kKeysMax, or one twice.
  static Result<EncryptionKeys> parse(std::string_view text);
  /// The same of a file of the user's own. Errors besides: as read_private_file().
  static Result<EncryptionKeys> read(const std::string& path);

  [[nodiscard]] bool empty() const { return keys_.empty(); }
  /// Must not be empty.
  [[nodiscard]] const EncryptionKey& current() const {
    assert(!keys_.empty());
    return keys_.front();
  }
  /// Null when there is none with that id.
  [[nodiscard]] const EncryptionKey* find(std::string_view id) const;
  /// Makes `key` the current one; the others still open.
  void rotate(EncryptionKey key) { keys_.insert(keys_.begin(), std::move(key)); }

 private:
  std::vector<EncryptionKey> keys_;
};

/// Where a line is.
struct LinePlace {
  std::string_view session_id;
  EntryType type = EntryType::kConversation;
};

/// The id of the key that opens it; empty for what is no encrypted line.
[[nodiscard]] std::string_view encryption_key_id(JsonValue entry);

/// `line`, a whole entry whose value is `entry`, encrypted. Two calls give two lines. Errors:
/// E_SIZE_LIMIT above kEncryptableSizeMax.
Result<std::string> encrypt_line(const EncryptionKey& key, const LinePlace& place, JsonValue entry,
                                 std::string_view line);

/// The line that was encrypted as `entry`. Errors: E_ACCESS_DENIED without its key, with field
/// "sealed"; E_STORAGE_CORRUPT when it was changed or was encrypted for another place;
/// E_NEWER_VERSION for a form of later versions.
Result<std::string> open_line(const EncryptionKeys& keys, const LinePlace& place, JsonValue entry);

}  // namespace bmad_mem
