// encrypted_line.cpp - encrypts and decrypts one line of a log, and reads and makes keys.
#include "privacy/encrypted_line.hpp"

#include <sodium.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kKeyMark = "bmad-mem-key-1 ";
constexpr std::string_view kFormMark = "1.";
constexpr std::size_t kKeyIdBytes = 8;
constexpr std::size_t kKeyIdSize = 11;  // In base64url, without padding.
constexpr std::size_t kNonceSize = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t kTagSize = crypto_aead_xchacha20poly1305_ietf_ABYTES;
constexpr std::uint64_t kKeyFileSizeMax = std::uint64_t{64} << 10U;

/// The members that stay readable, where the entry has them; the last two say until when it is
/// kept, and when a pin or a link was written.
constexpr std::array<std::string_view, 5> kClear = {"id", "timestamp", "updated_at", kExpiresField,
                                                    kWrittenField};
/// Of the first of these the values alone are authenticated, of the others the names, too.
constexpr std::size_t kUnnamed = 3;
constexpr std::string_view kPinnedField = "pinned";

// NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): libsodium's bytes are unsigned.
const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(char* data) { return reinterpret_cast<unsigned char*>(data); }
// NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)

void start_sodium() {
  if (sodium_init() < 0) {
    std::abort();  // Without random numbers nothing is secret.
  }
}

std::string base64url(std::span<const unsigned char> bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return base64_encoded({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, Base64::kUrl);
}

/// What is authenticated beside the line: each part with its size, so that no two places are alike.
std::string authenticated(const LinePlace& place, JsonValue entry) {
  std::string out = "bmad-mem sealed line 1";
  const auto add = [&](std::string_view part) {
    const fmt::format_int size(part.size());
    out += '\n';
    out.append(size.data(), size.size());
    out += ' ';
    out += part;
  };
  add(place.session_id);
  add(entry_type_name(place.type));
  for (std::size_t i = 0; i < kClear.size(); ++i) {
    const JsonValue value = entry[kClear[i]];
    if (i >= kUnnamed && value.is_string()) {
      add(kClear[i]);
    }
    if (i < kUnnamed || value.is_string()) {
      add(value.string());
    }
  }
  if (entry[kPinnedField].boolean()) {
    add(kPinnedField);
  }
  return out;
}

Error bad_key(std::string message) {
  return {.code = ErrorCode::E_INVALID_FORMAT, .message = std::move(message), .field = "key"};
}

/// What an encrypted line is made of.
struct EncryptedParts {
  std::string_view key_id;
  std::string_view body;
};

std::optional<EncryptedParts> parts_of(std::string_view encrypted) {
  constexpr std::size_t kHeadSize = kFormMark.size() + kKeyIdSize + 1;
  if (!encrypted.starts_with(kFormMark) || encrypted.size() < kHeadSize ||
      encrypted[kHeadSize - 1] != '.') {
    return std::nullopt;
  }
  return EncryptedParts{.key_id = encrypted.substr(kFormMark.size(), kKeyIdSize),
                        .body = encrypted.substr(kHeadSize)};
}

Error does_not_open() {
  return field_error(
      ErrorCode::E_STORAGE_CORRUPT, kEncryptedField,
      "the encrypted line does not open: it was changed, or was encrypted for another "
      "session, log or entry; bring it back from git or from a backup");
}

}  // namespace

// Keys.

PassphraseRecipe new_passphrase_recipe() {
  start_sodium();
  PassphraseRecipe recipe;
  static_assert(recipe.salt.size() == crypto_pwhash_SALTBYTES);
  randombytes_buf(recipe.salt.data(), recipe.salt.size());
  return recipe;
}

EncryptionKey::~EncryptionKey() { sodium_memzero(bytes_.data(), bytes_.size()); }

void EncryptionKey::set_id() {
  std::array<unsigned char, crypto_generichash_BYTES> hash{};
  constexpr std::string_view kWhat = "bmad-mem key id";
  crypto_generichash(hash.data(), hash.size(), bytes_of(kWhat), kWhat.size(), bytes_.data(),
                     bytes_.size());
  id_ = base64url(std::span(hash).first(kKeyIdBytes));
  assert(id_.size() == kKeyIdSize && "parts_of() counts on it");
}

EncryptionKey EncryptionKey::make() {
  start_sodium();
  static_assert(kSize == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);
  EncryptionKey key;
  randombytes_buf(key.bytes_.data(), key.bytes_.size());
  key.set_id();
  return key;
}

bool EncryptionKey::is_weak() const {
  constexpr std::size_t kDistinctMin = 8;  // Of 32 drawn ones, 30 differ.
  return std::set<unsigned char>(bytes_.begin(), bytes_.end()).size() < kDistinctMin;
}

Result<EncryptionKey> EncryptionKey::parse(std::string_view text) {
  start_sodium();
  text = trimmed(text);
  const bool is_marked = text.starts_with(kKeyMark);
  text = is_marked ? trimmed(text.substr(kKeyMark.size())) : text;
  EncryptionKey key;
  std::size_t size = 0;
  // Unlike base64url_decoded(), in the same time for all keys.
  const int done =
      is_marked ? sodium_base642bin(key.bytes_.data(), kSize, text.data(), text.size(), nullptr,
                                    &size, nullptr, sodium_base64_VARIANT_URLSAFE_NO_PADDING)
                : sodium_hex2bin(key.bytes_.data(), kSize, text.data(), text.size(), nullptr, &size,
                                 nullptr);
  if (done != 0 || size != kSize ||
      (is_marked ? base64url(key.bytes_) != text : text.size() != 2 * kSize)) {
    return bad_key(
        is_marked
            ? fmt::format("the key is not {} bytes in base64url, which has 43 letters: it has {}",
                          kSize, text.size())
            : fmt::format("it is no key: one has {} hexadecimal digits, or begins with "
                          "'{}'; this has {} letters",
                          2 * kSize, trimmed(kKeyMark), text.size()));
  }
  key.set_id();
  return key;
}

Result<EncryptionKey> EncryptionKey::from_passphrase(std::string_view passphrase,
                                                     const PassphraseRecipe& recipe) {
  start_sodium();
  if (passphrase.empty()) {
    return bad_key("the passphrase is empty");
  }
  if (recipe.passes == 0 || recipe.passes > PassphraseRecipe::kPassesMax ||
      recipe.memory < PassphraseRecipe::kMemoryMin ||
      recipe.memory > PassphraseRecipe::kMemoryMax) {
    return bad_key(
        fmt::format("the recipe of the passphrase wants {} passes over {} bytes; it may "
                    "want 1 to {} over {} to {}",
                    recipe.passes, recipe.memory, PassphraseRecipe::kPassesMax,
                    PassphraseRecipe::kMemoryMin, PassphraseRecipe::kMemoryMax));
  }
  EncryptionKey key;
  if (crypto_pwhash(key.bytes_.data(), key.bytes_.size(), passphrase.data(), passphrase.size(),
                    recipe.salt.data(), recipe.passes, recipe.memory,
                    crypto_pwhash_ALG_ARGON2ID13) != 0) {
    return Error{.code = ErrorCode::E_RESOURCE_LIMIT,
                 .message = fmt::format("there are no {} bytes of memory to make a key of the "
                                        "passphrase",
                                        recipe.memory)};
  }
  key.set_id();
  return key;
}

std::string EncryptionKey::to_text() const { return std::string(kKeyMark) + base64url(bytes_); }

Result<EncryptionKeys> EncryptionKeys::parse(std::string_view text) {
  EncryptionKeys keys;
  std::uint64_t number = 0;
  const auto at_line = [&](Error error) {
    error.line = number;
    return error;
  };
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    ++number;
    if (trimmed(line).empty() || line.starts_with('#')) {
      continue;
    }
    Result<EncryptionKey> key = EncryptionKey::parse(line);
    if (!key) {
      return at_line(std::move(key).error());
    }
    if (keys.keys_.size() == kKeysMax || keys.find(key->id()) != nullptr) {
      return at_line(bad_key(keys.find(key->id()) != nullptr
                                 ? fmt::format("the key {} stands twice", key->id())
                                 : fmt::format("there are more than {} keys", kKeysMax)));
    }
    keys.keys_.push_back(*std::move(key));
  }
  if (keys.empty()) {
    return bad_key("there is no key in it");
  }
  return keys;
}

Result<EncryptionKeys> EncryptionKeys::read(const std::string& path) {
  BMAD_TRY_ASSIGN(std::string text, read_private_file(path, kKeyFileSizeMax));
  Result<EncryptionKeys> keys = parse(text);
  sodium_memzero(text.data(), text.size());
  if (!keys) {
    keys.error().path = path;
  }
  return keys;
}

const EncryptionKey* EncryptionKeys::find(std::string_view id) const {
  return find_by(keys_, id, &EncryptionKey::id);
}

// Lines.

std::string_view encryption_key_id(JsonValue entry) {
  const std::optional<EncryptedParts> parts = parts_of(entry[kEncryptedField].string());
  return parts ? parts->key_id : std::string_view();
}

Result<std::string> encrypt_line(const EncryptionKey& key, const LinePlace& place, JsonValue entry,
                                 std::string_view line) {
  start_sodium();
  if (line.size() > kEncryptableSizeMax) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("the entry has {} bytes; one that is encrypted may have {}",
                                        line.size(), kEncryptableSizeMax)};
  }
  const std::string beside = authenticated(place, entry);
  std::string body(kNonceSize + line.size() + kTagSize, '\0');
  randombytes_buf(body.data(), kNonceSize);
  crypto_aead_xchacha20poly1305_ietf_encrypt(
      bytes_of(body.data()) + kNonceSize, nullptr, bytes_of(line), line.size(), bytes_of(beside),
      beside.size(), nullptr, bytes_of(body.data()), key.bytes().data());
  JsonWriter json;
  json.begin_object();
  for (const std::string_view name : kClear) {
    if (entry[name].is_string()) {
      json.member(name, entry[name].string());
    }
  }
  if (entry[kPinnedField].boolean()) {
    json.member(kPinnedField, true);
  }
  json.member(kEncryptedField,
              fmt::format("{}{}.{}", kFormMark, key.id(), base64_encoded(body, Base64::kUrl)));
  json.end_object();
  std::string encrypted = json.take();
  assert(!encrypted.contains('\n') && "an encrypted line is one line of a log");
  return encrypted;
}

Result<std::string> open_line(const EncryptionKeys& keys, const LinePlace& place, JsonValue entry) {
  start_sodium();
  const std::string_view encrypted = entry[kEncryptedField].string();
  const std::optional<EncryptedParts> parts = parts_of(encrypted);
  if (!parts) {
    const bool is_later = encrypted.find('.') == 1 && encrypted[0] >= '2' && encrypted[0] <= '9';
    return is_later ? Error{.code = ErrorCode::E_NEWER_VERSION,
                            .message = "a newer bmad-mem encrypted the line; use that one",
                            .field = std::string(kEncryptedField)}
                    : does_not_open();
  }
  const EncryptionKey* const key = keys.find(parts->key_id);
  if (key == nullptr) {
    return field_error(
        ErrorCode::E_ACCESS_DENIED, kEncryptedField,
        fmt::format("the entry is encrypted with the key {}, which is not here", parts->key_id));
  }
  assert(key->id() == parts->key_id);
  const std::optional<std::string> body = base64url_decoded(parts->body);
  if (!body || body->size() < kNonceSize + kTagSize) {
    return does_not_open();
  }
  const std::string beside = authenticated(place, entry);
  std::string line;
  bool is_open = false;
  const std::size_t size = body->size() - kNonceSize - kTagSize;
  line.resize_and_overwrite(size, [&](char* to, std::size_t) {
    is_open =
        crypto_aead_xchacha20poly1305_ietf_decrypt(
            bytes_of(to), nullptr, nullptr, bytes_of(*body) + kNonceSize, body->size() - kNonceSize,
            bytes_of(beside), beside.size(), bytes_of(*body), key->bytes().data()) == 0;
    return is_open ? size : 0;
  });
  return is_open ? Result<std::string>(std::move(line)) : does_not_open();
}

}  // namespace bmad_mem
