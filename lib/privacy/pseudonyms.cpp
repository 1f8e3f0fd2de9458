#include <algorithm>

#include <fmt/format.h>

#include "bmad_mem/letter_case.hpp"
#include "bmad_mem/text.hpp"
#include "privacy/anonymizer.hpp"
#include "replacement.hpp"

namespace bmad_mem {
namespace {

/// Upper and lower case are the same thing.
std::string hash_of(const RedactionKey& key, std::string_view kind, std::string_view text) {
  return keyed_hash(fmt::format("{}\n{}", kind, lower_case(text)), key).substr(0, kPseudonymDigits);
}

}  // namespace

bool is_pseudonym(std::string_view kind, std::string_view text) {
  if (!text.starts_with(kind) || text.size() != kind.size() + 1 + kPseudonymDigits ||
      text[kind.size()] != '-') {
    return false;
  }
  return std::ranges::all_of(text.substr(kind.size() + 1),
                             [](char c) { return is_hex_digit(c) && !is_upper(c); });
}

std::string Pseudonyms::name(std::string_view kind, std::string_view original) {
  if (is_pseudonym(kind, original)) {
    return std::string(original);
  }
  std::string& given = given_[std::string(kind)][lower_case(original)];
  if (given.empty()) {
    given = fmt::format("{}-{}", kind, hash_of(key_, kind, original));
  }
  return given;
}

std::string Pseudonyms::email(std::string_view address) {
  static constexpr std::string_view kDomain = "@example.invalid";
  if (address.ends_with(kDomain) &&
      is_pseudonym("user", address.substr(0, address.size() - kDomain.size()))) {
    return std::string(address);
  }
  std::string& given = given_["email"][lower_case(address)];
  if (given.empty()) {
    given = fmt::format("user-{}{}", hash_of(key_, "email", address), kDomain);
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
