// redactor.hpp - takes secrets and personal data out of texts and entries.
//
//   text ─┬─► tokens, structures, assignments, personal data, patterns ─► detections ─► merged
//         └─► encoded runs, disguised lines: as they are read ─► the same     │
//                                                                           ▼
//   "key: ghp_…, mail a@b.org"  ───────────►  "key: [REDACTED:github-pat], mail [REDACTED:email]"
//
// Redacting twice equals once, valid UTF-8 stays valid, and time is linear in the size of the text.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/result.hpp"
#include "store/config.hpp"

namespace bmad_mem {

/// What is done about a detection.
enum class DetectionAction : std::uint8_t {
  kNear,    ///< Comes near the line: it stays, and its entry is marked as sensitive.
  kSecret,  ///< Is taken out.
};

/// Bytes [begin, end) of the text: the secret itself, without its name or quotes.
struct Detection {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view rule;  ///< Id of the rule: "github-pat". Lives as long as the redactor.
  DetectionAction action = DetectionAction::kSecret;

  friend bool operator==(const Detection&, const Detection&) = default;
};

using Detections = std::vector<Detection>;

/// Whether one of them has that action.
inline bool has_action(const Detections& detections, DetectionAction action) {
  return std::ranges::find(detections, action, &Detection::action) != detections.end();
}

/// Where `secret`, a part of `text`, is.
inline Detection detection_of(std::string_view text, std::string_view secret,
                              std::string_view rule) {
  assert(secret.data() >= text.data() && "a part of the text");
  const auto begin = static_cast<std::size_t>(secret.data() - text.data());
  assert(begin + secret.size() <= text.size());
  return {.begin = begin, .end = begin + secret.size(), .rule = rule};
}

/// What makes the hashes in linkable placeholders: who hasn't the key can't guess a secret back.
using RedactionKey = HashKey;

class JudgedValues;

/// Where a text belongs: the same secret in the same scope gets the same hash.
struct RedactionScope {
  RedactionKey key{};
  std::string_view session_id;
  const JudgedValues* judged = nullptr;  ///< What was judged there before; null: nothing.
  /// Where values are added that go wherever they stand, and were not known; may be null.
  std::vector<std::string>* fresh = nullptr;
  bool only_judged = false;  ///< Look for nothing else than `judged`.
};

/// What was done.
struct RedactionTally {
  std::map<std::string, std::uint64_t, std::less<>> by_rule;  ///< What was taken out.
  bool comes_near = false;              ///< Something is left that makes its entry a sensitive one.
  bool lists = false;                   ///< Whether `taken` is wanted.
  std::vector<TakenSecret> taken = {};  ///< Each that was redacted, without its place.
};

class RuleSet;

/// Thread-safe: constant after make(). Copies share what it is made of.
class Redactor {
 public:
  /// `rules`, of files and allow lists, may be null. What is a path below the folder `project` is
  /// redacted only next to its name.
  /// Errors: E_SCHEMA_INVALID for a pattern that doesn't compile, or a replacement without a
  /// character of its own; `field` names it.
  static Result<Redactor> make(const RedactionConfig& config,
                               std::shared_ptr<const RuleSet> rules = nullptr,
                               std::string project = {});

  /// What is to be taken out of `text`, or comes near the line: ascending, without overlaps. What
  /// has a secret's name once is redacted everywhere, and so is what was judged before.
  [[nodiscard]] Detections find(std::string_view text, const JudgedValues* judged = nullptr) const;
  /// Why `secret` is redacted only next to its name; empty: it is redacted everywhere.
  [[nodiscard]] std::string_view why_only_named(std::string_view secret) const;

  /// `text` without what find() calls a secret; nothing when there is none. Adds to `tally`.
  [[nodiscard]] std::optional<std::string> redact(std::string_view text,
                                                  const RedactionScope& scope,
                                                  RedactionTally& tally) const;

  /// The same for every string of a JSON value, member names included; a string is judged by the
  /// member it belongs to as well. `root` is the value of `json`; what is not replaced keeps its
  /// bytes.
  /// An id, or a reference to one, stays an id: "REDACTED:github-pat:1f3870be27da41e6".
  [[nodiscard]] std::optional<std::string> redact_json(JsonValue root, std::string_view json,
                                                       const RedactionScope& scope,
                                                       RedactionTally& tally) const;

  /// What make() was given.
  [[nodiscard]] const std::shared_ptr<const RuleSet>& rules() const;

 private:
  struct Impl;
  explicit Redactor(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

/// Adds to `counts` the placeholders in `text`, by rule. Where the replacement names no rule, by
/// the replacement itself.
void count_placeholders(const RedactionConfig& config, std::string_view text,
                        std::map<std::string, std::uint64_t, std::less<>>& counts);

}  // namespace bmad_mem
