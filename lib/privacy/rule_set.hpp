// rule_set.hpp - the rules and allow lists that people bring: files in gitleaks' form, config.json.
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
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/privacy.hpp"
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

/// Where a text comes from, as far as that matters to allow lists.
struct TextOrigin {
  std::string_view path = {};  ///< Of the file it was read from; empty for none.
  bool honours_marks = false;  ///< A line with "gitleaks:allow" is left as it is.
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
  /// Takes out of `found`, from the index `from` on, what is disabled or allowed.
  void leave_allowed(std::string_view text, Detections& found, std::size_t from,
                     const TextOrigin& origin = {}) const;

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
  explicit RuleSet(RuleSources sources);
  explicit RuleSet(std::unique_ptr<Impl> impl);

  /// What the files say; reads them at the first call.
  [[nodiscard]] const Impl& impl() const;

  RuleSources sources_;
  mutable std::once_flag loaded_;
  mutable std::unique_ptr<const Impl> impl_;
};

/// As RuleSet::leave_allowed() for all of `found`; `rules` may be null.
void leave_allowed(const RuleSet* rules, std::string_view text, Detections& found,
                   const TextOrigin& origin);

}  // namespace bmad_mem
