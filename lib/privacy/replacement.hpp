// replacement.hpp - what stands in the place of a secret, and the way there in JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem {

/// What stands in the place of a secret: "[REDACTED:rule]", or as configured.
class Placeholder {
 public:
  /// `pattern` is the setting "replacement": "{rule}" in it becomes the id of the rule.
  /// Errors: E_SCHEMA_INVALID when there is no character besides.
  static Result<Placeholder> make(const std::string& pattern, bool linkable);

  [[nodiscard]] std::string text(std::string_view rule, std::string_view secret,
                                 const RedactionScope& scope) const;

  /// The places in `text` that are placeholders already: ascending.
  [[nodiscard]] Detections find(std::string_view text) const;

  /// The rule that `placeholder`, one that find() found, names.
  [[nodiscard]] std::string_view rule_in(std::string_view placeholder) const;

 private:
  std::string before_;  // What stands before the rule.
  std::string after_;
  bool names_rule_ = false;
  bool linkable_ = false;
};

/// A hash of `message` that only who has the key can compute: 16 hexadecimal digits.
std::string keyed_hash(std::string_view message, const RedactionKey& key);
/// The same of a secret within its session.
std::string keyed_hash(std::string_view secret, const RedactionScope& scope);

/// Every string of a JSON value, decoded, with what is said about it there.
struct JsonString {
  std::string_view text;
  /// The member whose value it is, or whose array it is in, also when that is a plural; for the
  /// "value" of an object that has a "name" or "key" beside it, that; for an argument, the option
  /// before it. Empty for the name of a member.
  std::string_view name;
  /// What a sentence or a command has before it: "db_password is", of the "content" beside a "key";
  /// "curl -u", of an element of a list of arguments. Mostly empty.
  std::string_view context;
  bool is_id = false;  ///< An entry or session is known by it: "id", "parent_id", "references".
};

/// `json` with the strings for which `replace` returns something replaced; nothing when there are
/// none. `root` is the value of `json`. What is not replaced keeps its bytes. Depth is bounded by
/// that of the parser.
std::optional<std::string> replace_json_strings(
    JsonValue root, std::string_view json,
    const std::function<std::optional<std::string>(const JsonString&)>& replace);

}  // namespace bmad_mem
