// ids.cpp - makes ids of entries and sessions from foreign texts.
#include "exchange/ids.hpp"

#include <sodium/crypto_hash_sha256.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
namespace {

/// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv) from another start than usual.
std::uint64_t hash_of(std::string_view text, std::uint64_t start) {
  static constexpr std::uint64_t kPrime = 0x100000001B3U;
  std::uint64_t hash = start;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  }
  // FNV leaves the high bits of short texts alike; murmur3's finalizer spreads them.
  hash = (hash ^ (hash >> 33U)) * 0xFF51AFD7ED558CCDU;
  hash = (hash ^ (hash >> 33U)) * 0xC4CEB9FE1A85EC53U;
  return hash ^ (hash >> 33U);
}

void append_base32(std::string& out, std::uint64_t bits) {
  static constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
  for (int i = 0; i < 13; ++i, bits >>= 5U) {
    out += kAlphabet[bits & 31U];
  }
  assert(bits == 0 && "13 characters have all 64 bits");
}

}  // namespace

std::string composed(std::string_view path) {
  utf8proc_uint8_t* made = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(path.data()),
                   static_cast<utf8proc_ssize_t>(path.size()), &made,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
  return size < 0
             ? std::string(path)  // It is no UTF-8.
             : std::string(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
}

bool is_usable_id(std::string_view id) {
  static constexpr std::size_t kSizeMax = 128;
  static constexpr auto kFits = [] {
    std::array<bool, 256> fits{};
    for (std::size_t c = 0; c < fits.size(); ++c) {
      const char each = static_cast<char>(c);
      fits[c] = is_alnum(each) || std::string_view("_.:@+=~-").contains(each);
    }
    return fits;
  }();
  return !id.empty() && id.size() <= kSizeMax && (is_alnum(id.front()) || id.front() == '_') &&
         std::ranges::all_of(id, [](char c) { return kFits[static_cast<unsigned char>(c)]; });
}

std::string content_id(std::string_view prefix, std::string_view content) {
  // Two hashes from different starts; the values are part of ids that are stored: never change
  // them.
  std::string out(prefix);
  append_base32(out, hash_of(content, 0xCBF29CE484222325U));
  append_base32(out, hash_of(content, 0x9E3779B97F4A7C15U));
  assert(out.size() == prefix.size() + 26);
  return out;
}

std::string session_id_from(std::string_view prefix, std::string_view name) {
  static constexpr std::size_t kSizeMax = 64;
  std::string out(prefix);
  for (const char c : name.substr(0, kSizeMax - std::min(prefix.size(), kSizeMax))) {
    const bool plain = is_alnum(c) || c == '.' || c == '_' || c == '-';
    out += plain ? to_lower(c) : '-';
  }
  assert(out.size() <= std::max(prefix.size(), kSizeMax));
  return out;
}

std::string sha256_hex(std::string_view text) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): sodium takes bytes as they are.
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  crypto_hash_sha256(hash.data(), bytes, text.size());
  return fmt::format("{:02x}", fmt::join(hash, ""));
}

}  // namespace bmad_mem::cli
