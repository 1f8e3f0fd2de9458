// pseudonyms.hpp - names that stand for people, hosts and places, and tell nothing about them.
//
//   "marit"          person-3f2a91c0          "db1.corp"     host-77e01b2a
//   "m@corp.example" user-5b0c…@example.invalid    "10.1.2.3"   ip-0a9f3c11
//
// A keyed hash: the same thing has the same pseudonym under one key, and who hasn't the key can't
// try out guesses. 32 bits: among 1,000 people two share a pseudonym once in 8,600 stores.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

namespace bmad_mem {

using PseudonymKey = std::array<unsigned char, 16>;

PseudonymKey random_pseudonym_key();

class Pseudonyms {
 public:
  explicit Pseudonyms(const PseudonymKey& key) : key_(key) {}

  /// "{kind}-{hash}", of 8 hexadecimal digits. Upper and lower case are the same thing. What is
  /// such a pseudonym already stays as it is.
  std::string name(std::string_view kind, std::string_view original);
  /// "user-{hash}@example.invalid", which no mail reaches.
  std::string email(std::string_view address);

  /// How many different things got a pseudonym, by kind.
  [[nodiscard]] std::map<std::string, std::size_t, std::less<>> counts() const;

 private:
  PseudonymKey key_;
  std::map<std::string, std::map<std::string, std::string>, std::less<>> given_;  // By kind.
};

/// Whether `text` is what name() makes of that kind.
bool is_pseudonym(std::string_view kind, std::string_view text);

}  // namespace bmad_mem
