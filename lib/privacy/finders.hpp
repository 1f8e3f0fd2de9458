// finders.hpp - what looks for secrets in a text, and what makes one list of all that was found.
//
//   text ──► tokens, structures, assignments, personal data ──► merge_detections()
//     └────► what is encoded or disguised, once more
//
// Each appends to `out`, in time linear in the size of the text; its detections may overlap.
// Threads: safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "allow_list.hpp"
#include "privacy/redactor.hpp"
#include "privacy/secret_rule.hpp"

namespace bmad_mem {

/// The rule of kind kAssigned whose keyword is in `name` and whose pattern matches the whole
/// `value`, or any value where none is given; nullptr when there is none.
const SecretRule* find_assigned_rule(std::string_view name, std::optional<std::string_view> value);

/// Tokens of the table of secrets; and secrets known by what surrounds them, and too large or too
/// free for a pattern:
///
///   PEM and SSH private keys   -----BEGIN … PRIVATE KEY----- to its END, or to the end of the text
///   JSON web tokens            eyJ….eyJ….… whose first part decodes to a JSON object
///   credentials in addresses   scheme://user:HERE@host, and ?sig=HERE in signed ones
///   headers                    Authorization, Proxy-Authorization, Cookie, Set-Cookie, X-Api-Key
///   lines of known files       .npmrc, .netrc, .pgpass, .git-credentials
///
/// Both in one walk over the text, tokens first.
void find_keywords(std::string_view text, Detections& out);
/// Tokens alone.
void find_tokens(std::string_view text, Detections& out);

/// What a value is that stands under a name.
struct ValueVerdict {
  std::string_view rule;  ///< "password", "generic-secret", or the id of a rule of the table.
  DetectionAction action = DetectionAction::kSecret;
};

/// Judges one value by its name, as the member of an object has them; nothing: it is innocent.
std::optional<ValueVerdict> judge_assignment(std::string_view name, std::string_view value);

/// name = value in any layout, where the name says secret and the value looks it:
///
///   ini, shell   export DB_PASSWORD='…'   JSON, YAML   "apiKey": "…"      code   token := "…"
///   XML          <password>…</password>   options      --password=… -p …  prose  the password is …
void find_assigned(std::string_view text, Detections& out);

enum class PersonalKind : std::uint8_t {
  kEmail,
  kPhone,
  kIban,
  kCard,
  kIp,
  kNationalId,  ///< SSN of the USA, and those of other countries that have a check digit.
};
inline constexpr std::size_t kPersonalKindCount = 6;

enum class PersonalPolicy : std::uint8_t {
  kKeep,    ///< Stays as it is.
  kMark,    ///< Stays, and its entry is marked as sensitive.
  kRedact,  ///< Is taken out.
};

/// A policy for each kind, in the order of PersonalKind.
using PersonalPolicies = std::array<PersonalPolicy, kPersonalKindCount>;

/// "email", "phone", "iban", "card", "ip", "national-id": also the rule of a detection.
std::string_view personal_kind_name(PersonalKind kind);

/// Appends the personal data in `text` whose policy isn't kKeep. Time is linear in its size.
void find_personal(std::string_view text, const PersonalPolicies& policies, Detections& out);

/// A pattern of config.json.
struct UserPattern {
  std::string type;  ///< Its rule.
  LazyPattern regex;
  bool needs_keyword = false;  ///< Applies only near a word that speaks of secrets.
};

/// The pattern of that index. Errors: E_SCHEMA_INVALID when it doesn't compile, or takes_most();
/// `field` names it.
Result<UserPattern> make_user_pattern(const RedactionPattern& pattern, std::size_t index,
                                      bool aggressive);

/// What it matches: its group, or all of it.
void find_user_pattern(const UserPattern& pattern, std::string_view text, Detections& out);

/// Appends the detections in a text.
using FindSecrets = std::function<void(std::string_view, Detections&)>;

/// Whether it finds more than half of an ordinary sentence: with it nothing could be read any more,
/// not even ids and errors.
bool takes_most(const FindSecrets& find);
inline constexpr std::string_view kTakesMost =
    "matches most of an ordinary sentence, so it would redact nearly everything; narrow it";

/// Decodes each base64 and percent-encoded run of `text`, calls `find(decoded, out)`, and appends
/// the places in `text` that stand for what it finds. Of base64 that is the whole run, since its
/// characters don't stand for whole bytes.
void find_encoded(std::string_view text, const FindSecrets& find, Detections& out);

/// Appends the run of base64 at [begin, end) of `text` when it is drawn and words that stand within
/// 40 bytes speak of a secret or of a service: `use key V for acme`, `acme token - 'V'`.
void find_near(std::string_view text, std::size_t begin, std::size_t end, Detections& out);

/// Calls `find(lines, out)` for the lines of `text` in which signs stand that a reader doesn't see
/// as they are (colours of a terminal, signs without width, NULs of UTF-16, escapes, joins of
/// literals), as they are read, and appends the places in `text` of what it finds. A secret has the
/// signs within it.
void find_disguised(std::string_view text, const FindSecrets& find, Detections& out);

/// Whether one of `others`, which are ascending, overlaps `detection`.
bool overlaps_any(const Detection& detection, const Detections& others);

/// The detections in `text`, ascending and without overlaps. Of two that overlap the one that was
/// found first names the rule of both; a secret swallows what merely comes near. What lies in one
/// of `kept` (ascending) is cut out, and no character of `text` is cut in two.
Detections merge_detections(std::string_view text, Detections detections,
                            std::span<const Detection> kept);

}  // namespace bmad_mem
