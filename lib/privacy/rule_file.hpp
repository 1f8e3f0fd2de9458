// rule_file.hpp - a file of rules in the form of gitleaks' configuration, as it was written.
//
//   [extend]           path or useDefault, disabledRules
//   [[rules]]          id, description, regex, secretGroup, entropy, keywords, path, tags
//   [[rules.allowlists]]   [[allowlists]]   condition, paths, regexes, regexTarget, stopwords
//
// Members of our own: replace, kind and severity; examples and innocent, which `redact --test`
// runs. A file is taken as a whole or not at all; a member that nobody knows is a warning.
//
// The loader finds the files of a project, reads them and what they extend, and says what each adds
// and changes:
//
//   privacy.rules_files, .gitleaks.toml ──► what they extend ──► one list of rules
//
// Ids that only one file has are rules of their own. With useDefault a known id changes the rule
// that is compiled in: a new regex takes its place, anything else narrows what it finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allow_list.hpp"
#include "bmad_mem/result.hpp"
#include "rule_file.hpp"
#include "rule_set.hpp"

namespace bmad_mem {

struct RuleSpec {
  std::string id;
  std::string description;
  LazyPattern regex;
  std::string replace;
  int secret_group = 0;
  std::optional<double> entropy;
  std::vector<std::string> keywords;  ///< In lower case.
  Allows allows;
  std::vector<std::string> examples;  ///< Texts in which it must find something.
  std::vector<std::string> innocent;  ///< Texts in which it must not.
  bool has_path = false;
  bool is_helper = false;   ///< skipReport: only there for rules that require it.
  bool is_strange = false;  ///< Of a project that is not trusted: it finds values, never words.
  std::uint64_t line = 0;
  std::string origin = {};        ///< The name of its file.
  std::string keyword_text = {};  ///< All of them, for people.

  /// The name in the placeholder. Its findings differ from those of others by its place.
  [[nodiscard]] const std::string& shown_id() const { return replace.empty() ? id : replace; }
};

struct RuleFile {
  std::string name;  ///< For people.
  bool uses_default = false;
  std::string base;  ///< The path of the file that it extends; empty for none.
  std::vector<std::string> disabled;
  std::vector<RuleSpec> rules;
  Allows allows;
  std::vector<Error> warnings;  ///< What is not known, and what has no effect.
  std::vector<Error> notes;     ///< What gitleaks knows and texts have not, such as paths.
};

/// Most bytes of a file, and most rules of all files together: each command that starts reads them,
/// in about 50 us a rule, half of it for TOML and half for the syntax of its regex.
inline constexpr std::uint64_t kRuleFileSizeMax = 2U << 20U;
inline constexpr std::size_t kRulesMax = 2000;
/// Most rules without a keyword: each reads every text that is written.
inline constexpr std::size_t kRulesAlwaysMax = 100;
/// Most keywords of all rules: their index has numbers of 16 bits.
inline constexpr std::size_t kRuleKeywordsMax = 50'000;

/// `text` of a file as it may stand in a message: printable and short. The file may be a
/// stranger's, and agents read messages.
std::string shown_in_message(std::string_view text, std::size_t size_max = 64);

/// Errors: E_INVALID_FORMAT for what is no TOML; E_SCHEMA_INVALID for a value of the wrong type, a
/// regex that RE2 does not read, or an id that is missing or doubled; E_SIZE_LIMIT for too many
/// rules. All with path and line.
Result<RuleFile> parse_rule_file(std::string_view text, const std::string& name);

/// What a file says of a rule that finds by other means than its pattern.
struct RuleChange {
  std::optional<double> entropy;
  Allows allows;
};

struct LoadedRules {
  std::vector<RuleSpec> rules;
  std::map<std::string, std::string, std::less<>> disabled;  ///< Rules compiled in; which file did.
  std::map<std::string, RuleChange, std::less<>> changes;    ///< By the id of the rule.
  Allows allows;                                             ///< For all rules.
  std::vector<AllowedText> allowed;                          ///< privacy.allow.
  std::vector<Error> problems;
  std::vector<Error> notes;  ///< See RuleFile::notes.
};

/// Whether there is a file to read, or something allowed. Errors: E_SCHEMA_INVALID for an item of
/// `allowed`.
Result<bool> has_rules(const RuleSources& sources);
/// Errors: as has_rules(). What is wrong with a file is a problem.
Result<LoadedRules> load_rules(const RuleSources& sources);
/// One file and what it extends. Errors: what is wrong with it.
Result<LoadedRules> load_rules_file(const std::string& path);

}  // namespace bmad_mem
