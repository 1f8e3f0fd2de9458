#include "privacy/pseudonyms.hpp"

#include <sodium.h>

#include <algorithm>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kHashBytes = 4;

std::string hash_of(const PseudonymKey& key, std::string_view kind, std::string_view text) {
  static_assert(std::tuple_size_v<PseudonymKey> == crypto_shorthash_KEYBYTES);
  const std::string message = fmt::format("{}\n{}", kind, text);
  std::array<unsigned char, crypto_shorthash_BYTES> hash{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the library takes bytes.
  crypto_shorthash(hash.data(), reinterpret_cast<const unsigned char*>(message.data()),
                   message.size(), key.data());
  std::string digits;
  for (std::size_t i = 0; i < kHashBytes; ++i) {
    digits += fmt::format("{:02x}", hash[i]);
  }
  return digits;
}

}  // namespace

PseudonymKey random_pseudonym_key() {
  PseudonymKey key;
  randombytes_buf(key.data(), key.size());
  return key;
}

bool is_pseudonym(std::string_view kind, std::string_view text) {
  if (!text.starts_with(kind) || text.size() != kind.size() + 1 + 2 * kHashBytes ||
      text[kind.size()] != '-') {
    return false;
  }
  return std::ranges::all_of(text.substr(kind.size() + 1),
                             [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

std::string Pseudonyms::name(std::string_view kind, std::string_view original) {
  if (is_pseudonym(kind, original)) {
    return std::string(original);
  }
  std::string& given = given_[std::string(kind)][lower_ascii(original)];
  if (given.empty()) {
    given = fmt::format("{}-{}", kind, hash_of(key_, kind, lower_ascii(original)));
  }
  return given;
}

std::string Pseudonyms::email(std::string_view address) {
  static constexpr std::string_view kDomain = "@example.invalid";
  if (address.ends_with(kDomain) &&
      is_pseudonym("user", address.substr(0, address.size() - kDomain.size()))) {
    return std::string(address);
  }
  std::string& given = given_["email"][lower_ascii(address)];
  if (given.empty()) {
    given = fmt::format("user-{}{}", hash_of(key_, "email", lower_ascii(address)), kDomain);
  }
  return given;
}

std::map<std::string, std::size_t, std::less<>> Pseudonyms::counts() const {
  std::map<std::string, std::size_t, std::less<>> counts;
  for (const auto& [kind, names] : given_) {
    counts[kind] = names.size();
  }
  return counts;
}

}  // namespace bmad_mem
