#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "replacement.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kRulePlace = "{rule}";
/// Digits of the hash in a placeholder: 2^16 secrets of a session before two are taken for one.
constexpr std::size_t kHashDigits = 8;

/// Whether `text` can stand where the rule and its hash stand: "github-pat:1f3870be".
bool is_rule_text(std::string_view text) {
  constexpr std::size_t kRuleSizeMax = 80;
  return !text.empty() && text.size() <= kRuleSizeMax && std::ranges::none_of(text, [](char c) {
    return c == '[' || c == ']' || static_cast<unsigned char>(c) <= ' ';
  });
}

}  // namespace

RedactionKey random_redaction_key() {
  RedactionKey key;
  static_assert(key.size() == crypto_shorthash_KEYBYTES);
  randombytes_buf(key.data(), key.size());
  return key;
}

std::string keyed_hash(std::string_view message, const RedactionKey& key) {
  std::array<unsigned char, crypto_shorthash_BYTES> hash;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the library takes bytes.
  crypto_shorthash(hash.data(), reinterpret_cast<const unsigned char*>(message.data()),
                   message.size(), key.data());
  std::string digits;
  for (const unsigned char byte : hash) {
    digits += fmt::format("{:02x}", byte);
  }
  return digits;
}

std::string keyed_hash(std::string_view secret, const RedactionScope& scope) {
  return keyed_hash(fmt::format("{}{}{}", scope.session_id, '\0', secret), scope.key);
}

Result<Placeholder> Placeholder::make(const std::string& pattern, bool linkable) {
  const std::size_t at = pattern.find(kRulePlace);
  Placeholder placeholder;
  placeholder.linkable_ = linkable;
  placeholder.names_rule_ = at != std::string::npos;
  placeholder.before_ = pattern.substr(0, at);
  if (placeholder.names_rule_) {
    placeholder.after_ = pattern.substr(at + kRulePlace.size());
  }
  if (placeholder.before_.empty() || (placeholder.names_rule_ && placeholder.after_.empty())) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message =
                     "must have a character before and after {rule}, so that a text that "
                     "was redacted before is known by it",
                 .field = "memory_config.privacy.redaction.replacement"};
  }
  return placeholder;
}

std::string Placeholder::text(std::string_view rule, std::string_view secret,
                              const RedactionScope& scope) const {
  if (!names_rule_) {
    return before_;
  }
  std::string text = before_;
  text += rule;
  if (linkable_) {
    text += ':' + keyed_hash(secret, scope).substr(0, kHashDigits);
  }
  return text + after_;
}

Detections Placeholder::find(std::string_view text) const {
  Detections all;
  for (std::size_t at = 0; (at = text.find(before_, at)) != std::string_view::npos;) {
    const std::size_t rule = at + before_.size();
    std::size_t end = rule;
    if (names_rule_) {
      constexpr std::size_t kLook = 100;
      const std::size_t after =
          text.substr(0, std::min(text.size(), rule + kLook)).find(after_, rule);
      if (after == std::string_view::npos || !is_rule_text(text.substr(rule, after - rule))) {
        ++at;
        continue;
      }
      end = after + after_.size();
    }
    all.push_back({.begin = at, .end = end});
    at = end;
  }
  return all;
}

std::string_view Placeholder::rule_in(std::string_view placeholder) const {
  if (!names_rule_) {
    return placeholder;
  }
  placeholder.remove_prefix(before_.size());
  placeholder.remove_suffix(after_.size());
  return placeholder.substr(0, placeholder.find(':'));
}

}  // namespace bmad_mem
