// rule_loader.hpp - finds the rules files of a project, reads them and what they extend, and says
// what each adds and changes.
//
//   privacy.rules_files, .gitleaks.toml ──► what they extend ──► one list of rules
//
// Ids that only one file has are rules of their own. With useDefault a known id changes the rule
// that is compiled in: a new regex takes its place, anything else narrows what it finds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "allow_list.hpp"
#include "rule_file.hpp"
#include "rule_set.hpp"

namespace bmad_mem {

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
