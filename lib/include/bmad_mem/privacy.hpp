// privacy.hpp - finding secrets in any text, and seeing what a memory keeps.
//
//   SecretScanner scanner;                       // the settings that hold without a config.json
//   for (const SecretPlace& place : scanner.find(text)) …
//   std::string clean = scanner.redact(text);    // "key: [REDACTED:github-pat]"
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/reports.hpp"

namespace bmad_mem {

class JudgedValues;
class Redactor;
struct SecretRuleInfo;
struct RuleTrial;

/// Where something stands that should not be kept: bytes [begin, end) of a text.
struct SecretPlace {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string rule;        ///< "github-pat"
  std::string what;        ///< "GitHub personal access token"
  bool is_certain = true;  ///< False: it comes near the line, and is left where it is.
  /// Why the same text is left where nothing names it: "a common word"; empty: it goes everywhere.
  std::string_view only_named = {};
};

/// One that was taken out, or would be.
struct TakenSecret {
  std::string path;
  std::uint64_t line = 0;  ///< 0: the file has none, or is one of several.
  std::string rule;
  std::string masked;  ///< How it begins, if it is long: "gh...".
  std::uint64_t bytes = 0;
  std::string_view only_named = {};  ///< See SecretPlace.
};

/// Finds secrets and personal data. Thread-safe: constant once it is made.
class SecretScanner {
 public:
  SecretScanner();
  /// `judged`: values that are taken out wherever they stand; may be null.
  explicit SecretScanner(std::shared_ptr<const Redactor> redactor,
                         std::shared_ptr<const JudgedValues> judged = nullptr);

  /// Ascending, without overlaps. Time is linear in the size of the text.
  [[nodiscard]] std::vector<SecretPlace> find(std::string_view text) const;
  /// The same in the file `path`, which allow lists may name; a line with "gitleaks:allow" is left
  /// as it is.
  [[nodiscard]] std::vector<SecretPlace> find_in_file(std::string_view text,
                                                      std::string_view path) const;
  /// The text with what is certain replaced. Doing it twice changes nothing more.
  [[nodiscard]] std::string redact(std::string_view text) const;

  /// All rules: those that are compiled in, then those of files. Views live as long as the scanner.
  [[nodiscard]] std::vector<SecretRuleInfo> rules() const;
  /// What of the built-in rules doesn't apply, and why: a sentence for each file that disables
  /// some, and for allow lists. Empty where all of them apply.
  [[nodiscard]] std::vector<std::string> exceptions() const;
  /// What is wrong with the files of rules; what is refused has no effect, and the rest goes on.
  [[nodiscard]] const std::vector<Error>& problems() const;

 private:
  std::shared_ptr<const Redactor> redactor_;
  std::shared_ptr<const JudgedValues> judged_;
};

/// What is known of a kind of secret.
struct SecretRuleInfo {
  std::string_view id;
  std::string_view what;
  std::string_view tier;      ///< "token", "assigned", "structure", "context", "personal", "file".
  std::string_view keywords;  ///< Words that stand in or before every match; may be empty.
  std::string_view pattern;   ///< In the syntax of RE2; empty for what is found by other means.
  std::string_view origin = {};       ///< Its file; empty for what is no row of a file.
  std::string_view disabled_by = {};  ///< The file that switched it off or replaced it.
};

/// All that are compiled in, tier by tier.
std::vector<SecretRuleInfo> secret_rule_list();
/// A hash over the table of these: another one for another table.
std::string_view secret_rules_version();

/// What a rule of a file did in a text.
struct RuleTrial {
  std::string rule;
  std::uint64_t line = 0;  ///< Of the file.
  std::vector<SecretPlace> places;
  std::uint64_t allowed = 0;          ///< What its allow lists left.
  std::uint64_t examples = 0;         ///< How many texts of its own were tried,
  std::vector<std::string> failures;  ///< and which of them went wrong.
};

struct RulesTrial {
  std::vector<RuleTrial> rules;
  std::vector<Error> warnings;  ///< What is not known, and what has no effect.
};

/// Tries the rules of the file `path` alone, in gitleaks' form, on their examples and on `text`.
/// Errors: what makes the file one that is refused, with line.
Result<RulesTrial> try_rules_file(const std::string& path, std::string_view text);

/// The item of memory_config.privacy.allow for exactly this text: "text=HASH". The hash has no key,
/// since the list is shared by git.
std::string allow_item(std::string_view text);

/// What applying the rules of today to a session did, or would do.
struct RedactReport {
  std::string session_id;          ///< Empty: the files beside the sessions, such as memories/.
  RedactionCounts counts;          ///< What was taken out, by rule.
  std::uint64_t entries = 0;       ///< Lines of logs that changed.
  std::vector<FileCount> files;    ///< Which files, and how many lines of each.
  std::vector<Leftover> left;      ///< What stays, and what a person can do about it.
  std::vector<TakenSecret> taken;  ///< The first of them, see kTakenMax.
  static constexpr std::size_t kTakenMax = 1000;
};

/// What is kept of one type of entry.
struct RetainedEntries {
  EntryType type = EntryType::kConversation;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  std::uint64_t sensitive = 0;
  std::optional<Timestamp> oldest;
  std::int64_t retention_days = 0;  ///< 0: for ever.
  std::uint64_t archived = 0;       ///< Entries in archives.
  std::uint64_t evicted = 0;        ///< Those that compaction moved out; not versions of others.
  /// Past their retention or their expires_at, archived and evicted ones too: maintenance deletes
  /// them next.
  std::uint64_t expired = 0;
};

/// An entry that is kept from models.
struct SensitiveEntry {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::string id;
};

struct PrivacyReport {
  bool redacts = true;  ///< Whether what is written is redacted.
  std::uint64_t sessions = 0;
  std::array<RetainedEntries, kEntryTypeCount> kept;  ///< In the order of the types.
  RedactionCounts redacted;                           ///< Placeholders in the logs, by rule.
  std::vector<SensitiveEntry> sensitive;
  std::vector<Deletion> deleted;  ///< What can still be brought back, and until when.
  std::uint64_t archived_sessions = 0;
  std::uint64_t evicted_entries = 0;  ///< What compaction moved out.
  std::vector<Error> problems;        ///< What could not be read.
};

}  // namespace bmad_mem
