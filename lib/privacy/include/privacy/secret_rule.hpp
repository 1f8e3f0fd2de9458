// secret_rule.hpp - one row of the table of secrets that are known by their shape.
//
//   token      proves itself wherever it stands: a prefix nobody else uses, a length, an alphabet
//   assigned   looks like anything, and is known by the name it is given: datadog_api_key = "…"
//   structure  is known by what surrounds it, as in a line of .pgpass
//
// A new provider is a rule in one of the files rules/*.toml, which embed_rules.cmake makes the
// table of, and its examples in tests/privacy/rule_examples.txt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace bmad_mem {

/// The last two have no pattern.
enum class RuleKind : std::uint8_t { kToken, kAssigned, kStructure, kContext, kPersonal };

/// What is asked of a secret besides.
enum class RuleJudge : std::uint8_t {
  kNone,
  kPassword,  ///< That it doesn't stand for a password, as in an example.
  kDrawn,     ///< That a machine chose what follows its last '$' or '}', unless it begins with '$'.
  kMixed,     ///< That it is mixed as passwords are: no word, and no name in code.
};

struct SecretRule {
  std::string_view id;  ///< "github-pat": lower case, digits and '-'. Never changes: it is stored.
  std::string_view what;  ///< "GitHub personal access token"
  RuleKind kind = RuleKind::kToken;

  /// Words, separated by blanks, one of which stands in every match.
  /// Token: at least 3 bytes each, the case matters; the match begins there (see `lead`).
  /// Assigned: lower case letters and digits only; found in names in any case, and across '_', '-',
  /// '.' and blanks: "datadog" in DATA_DOG_KEY. A '+' asks for both parts: "twitter+secret".
  /// Of several rules that a name and its value fit, the one with the longest keyword wins.
  std::string_view keywords;

  /// In the syntax of RE2. Token: matched from `lead` bytes before the keyword at most; when it has
  /// a group, the group is the secret. Assigned: must match the whole value.
  std::string_view pattern;

  /// Bytes that a match may have before the keyword; 0: it begins with the keyword.
  std::size_t lead = 0;

  /// Least Shannon entropy of the secret, in bits a byte; what has less is a placeholder.
  double entropy_min = 0;

  /// Of "lower upper digit": kinds of characters that the secret must have.
  std::string_view needs = {};

  /// Words, separated by blanks, none of which stands in the secret; the case matters.
  std::string_view stopwords = {};

  RuleJudge judge = RuleJudge::kNone;

  std::string_view origin = {};  ///< The file it stands in: "cloud.toml".
};

/// Every row with a pattern, in the order of the files. `redact --rules` prints it.
std::span<const SecretRule> secret_rules();
/// Those that code finds.
std::span<const SecretRule> rules_without_pattern();

/// A hash over the files, of 16 hexadecimal digits: another one for another table.
std::string_view secret_rules_version();

}  // namespace bmad_mem
