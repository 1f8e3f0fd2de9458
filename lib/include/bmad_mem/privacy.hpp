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

class Redactor;

/// Where something stands that should not be kept: bytes [begin, end) of a text.
struct SecretPlace {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string rule;        ///< "github-pat"
  std::string what;        ///< "GitHub personal access token"
  bool is_certain = true;  ///< False: it comes near the line, and is left where it is.
};

/// Finds secrets and personal data. Thread-safe: constant once it is made.
class SecretScanner {
 public:
  SecretScanner();
  explicit SecretScanner(std::shared_ptr<const Redactor> redactor);

  /// Ascending, without overlaps. Time is linear in the size of the text.
  [[nodiscard]] std::vector<SecretPlace> find(std::string_view text) const;
  /// The text with what is certain replaced. Doing it twice changes nothing more.
  [[nodiscard]] std::string redact(std::string_view text) const;

 private:
  std::shared_ptr<const Redactor> redactor_;
};

/// What is known of a kind of secret.
struct SecretRuleInfo {
  std::string_view id;
  std::string_view what;
  std::string_view tier;      ///< "token", "assigned", "structure", "context" or "personal".
  std::string_view keywords;  ///< Words that stand in or before every match; may be empty.
  std::string_view pattern;   ///< In the syntax of RE2; empty for what is found by other means.
};

/// All of them, tier by tier.
std::vector<SecretRuleInfo> secret_rule_list();

/// What applying the rules of today to a session did, or would do.
struct RedactReport {
  std::string session_id;
  RedactionCounts counts;        ///< What was taken out, by rule.
  std::uint64_t entries = 0;     ///< Lines of logs that changed.
  std::vector<FileCount> files;  ///< Which files, and how many lines of each.
};

/// What is kept of one type of entry.
struct KeptEntries {
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
  std::array<KeptEntries, kEntryTypeCount> kept;  ///< In the order of the types.
  RedactionCounts redacted;                       ///< Placeholders in the logs, by rule.
  std::vector<SensitiveEntry> sensitive;
  std::vector<Deletion> deleted;  ///< What can still be brought back, and until when.
  std::uint64_t archived_sessions = 0;
  std::uint64_t evicted_entries = 0;  ///< What compaction moved out.
  std::vector<Error> problems;        ///< What could not be read.
};

}  // namespace bmad_mem
