// secret_rules.cpp - the table of secrets, put together from its files.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "privacy/secret_rule.hpp"
#include "rules/rules.hpp"

namespace bmad_mem {

std::span<const SecretRule> secret_rules() {
  static const std::vector<SecretRule> kAll = [] {
    std::vector<SecretRule> rules;
    constexpr std::size_t kAbout = 700;
    rules.reserve(kAbout);
    for (const std::span<const SecretRule> part :
         {ai_rules(), cloud_rules(), code_rules(), message_rules(), money_rules(),
          operation_rules(), service_rules()}) {
      rules.insert(rules.end(), part.begin(), part.end());
    }
    return rules;
  }();
  return kAll;
}

bool is_mixed(std::string_view secret) {
  const auto has = [&](char first, char last) {
    return std::ranges::any_of(secret, [&](char c) { return c >= first && c <= last; });
  };
  return has('a', 'z') && has('A', 'Z') && has('0', '9');
}

double shannon_entropy(std::string_view text) {
  std::array<std::size_t, 256> counts{};
  for (const char c : text) {
    ++counts[static_cast<unsigned char>(c)];
  }
  double entropy = 0;
  for (const std::size_t count : counts) {
    if (count > 0) {
      const double share = static_cast<double>(count) / static_cast<double>(text.size());
      entropy -= share * std::log2(share);
    }
  }
  return entropy;
}

}  // namespace bmad_mem
