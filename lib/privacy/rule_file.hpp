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
//
// The rules and allow lists that people bring: files in gitleaks' form, config.json.
//
//   privacy.rules_files ─┐
//   .gitleaks.toml ──────┼─► RuleSet ─┬─► find():          what their rules find
//   privacy.allow ───────┘            └─► leave_allowed(): without what they call innocent
//
// The rules that are compiled in apply always; a file that extends them (useDefault) may change or
// disable some. A file with a mistake is left out as a whole, said in problems(), and the rest goes
// on: nobody's memory stands still because of a rule.
//
// The files are read when a text is first looked at, or somebody asks what is wrong with them: who
// only reads a memory doesn't pay for them.
//
// Threads: safe. Patterns, too, are compiled when they are first needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allow_list.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/result.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem {

struct RuleSources {
  std::string project;               ///< Absolute. Relative files start there.
  std::vector<std::string> files;    ///< "~/rules.toml", "tools/rules.toml"
  std::vector<std::string> allowed;  ///< "rule=ID text=HASH path=GLOB": see allow_list.hpp.
  /// Text of a rules file from elsewhere, which reads no other file: it only adds. Empty for none.
  std::string policy = {};
  /// Whether the user trusts the project. In one that is not trusted the files may only add rules:
  /// they disable and allow nothing.
  bool trusted = true;
  /// Whether the user has never trusted it. Only then do files lie below the project.
  bool is_foreign = false;
  /// Asked in addition, by load(), once there is something that could be disabled or allowed.
  std::function<bool()> is_trusted = {};
};

class RuleSet {
 public:
  /// Null when there is neither a file nor anything allowed. Reads no file.
  /// Errors: E_SCHEMA_INVALID for an item of `allowed` that says nothing; `field` names it.
  static Result<std::shared_ptr<const RuleSet>> load(const RuleSources& sources);
  /// The rules of one file alone. Errors: those of parse_rule_file(), of reading it, and
  /// E_SCHEMA_INVALID for a pattern too large to compile.
  static Result<std::shared_ptr<const RuleSet>> load_one(const std::string& path);

  ~RuleSet();
  RuleSet(const RuleSet&) = delete;
  RuleSet& operator=(const RuleSet&) = delete;

  /// Appends what the rules of the files find.
  void find(std::string_view text, Detections& out) const;
  /// Takes out of `found`, from the index `from` on, what is disabled or allowed. `path` is that of
  /// the file it was read from; empty for none.
  void leave_allowed(std::string_view text, Detections& found, std::size_t from,
                     std::string_view path = {}) const;

  /// What was refused, or has no effect: one error each, with path and line.
  [[nodiscard]] const std::vector<Error>& problems() const;
  /// What of gitleaks' form means less here, such as rules by path: nothing to be mended.
  [[nodiscard]] const std::vector<Error>& notes() const;
  /// The rules of the files. Views live as long as the object.
  [[nodiscard]] std::vector<SecretRuleInfo> rules() const;
  /// Which file disabled or replaced a rule that is compiled in; empty when none did.
  [[nodiscard]] std::string_view disabled_by(std::string_view rule) const;
  /// See SecretScanner::exceptions().
  [[nodiscard]] std::vector<std::string> exceptions() const;
  /// What takes protection away, each allow list with its terms: a sentence each.
  [[nodiscard]] std::vector<std::string> switches() const;
  /// What each rule of the file finds in `text`, and in its own examples.
  [[nodiscard]] std::vector<RuleTrial> try_rules(std::string_view text) const;

 private:
  struct Impl;
  RuleSet(RuleSources sources, std::vector<AllowedText> allowed);
  explicit RuleSet(std::unique_ptr<Impl> impl);

  /// What the files say; reads them at the first call.
  [[nodiscard]] const Impl& impl() const;

  RuleSources sources_;
  std::vector<AllowedText> allowed_;  // Those of the sources.
  mutable std::once_flag loaded_;
  mutable std::unique_ptr<const Impl> impl_;
};

/// Takes out of `found` what is in a line with "gitleaks:allow".
void leave_marked(std::string_view text, Detections& found);

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

/// Whether there is a file to read, or something allowed.
bool has_rules(const RuleSources& sources);
/// `allowed` is what the sources allow. What is wrong with a file is a problem.
LoadedRules load_rules(const RuleSources& sources, const std::vector<AllowedText>& allowed);
/// One file and what it extends. Errors: what is wrong with it.
Result<LoadedRules> load_rules_file(const std::string& path);

}  // namespace bmad_mem
