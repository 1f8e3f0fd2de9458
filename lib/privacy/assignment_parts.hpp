// assignment_parts.hpp - the name before an operator and the value after it, and what they say.
//
//   const apiKey: string = \"…\"         os.environ["API_KEY"] = '…'        "api_key": "…"
//         name ◄─┘       └► value                   name ◄──┘ └► value        name ◄─┘ └► value
//
//   DB_PASSWORD  dbPassword  db-password  ──► db password ──► a password
//   password_min_length      ──► "password", then "length": says something about one
//   commit_sha, max_tokens, publicKey, cache_key            ──► nothing
//
//   name ──► kind ──► none: the table of rules may still know it
//               └──► placeholder? ──► public by nature? ──► drawn or written? ──► verdict
//
// Each looks at a bounded number of bytes.
//
// The walk of find_assigned() over a text:
//
//   text ── sieve ──► '=', ':', '>' … ──► name before it, value after it ──► judge_value()
//              ├────► a blank after some words ──► "the password is", "--password", "IDENTIFIED BY"
//              └────► " -p", " -u" ──► options of known commands
//
// Each step looks at a bounded number of bytes, or moves on past what it took.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "finders.hpp"

namespace bmad_mem {

// secret_names.cpp

/// No name is longer, in bytes.
inline constexpr std::size_t kNameSizeMax = 128;

enum class SecretKind : std::uint8_t {
  kNone,
  kPassword,  ///< Chosen by people: may be short and weak.
  kPass,      ///< "pass", "pw": often a password.
  kApiKey,    ///< Drawn by a machine, as are the next.
  kToken,
  kSecret,
  kPrivateKey,  ///< Signs or encrypts.
  kCredential,
  kConnection,  ///< A string with credentials in it.
  kWeak,        ///< "auth", "salt", "seed", "session key": now and then a secret.
  kSeedPhrase,  ///< Words that a key is made from.
  kCode,        ///< "pin", "otp": digits.
};

/// What `name` promises; kNone for names longer than kNameSizeMax.
SecretKind secret_kind(std::string_view name);

/// Whether what is named so is drawn or chosen to be secret, and nothing else now and then.
bool is_strong_kind(SecretKind kind);

/// `name` without the ending of its plural, where only so it names a secret: "db_passwords". Else
/// empty.
std::string_view singular_secret(std::string_view name);

/// Whether `name` has a word such as commit, sha, hash, digest, checksum: what it names is public.
bool names_digest(std::string_view name);

/// Whether a word of `text` may name a secret. Sorts most sentences out, at ten instructions a
/// byte.
bool may_name_secret(std::string_view text);

/// What a name says about the service that a value may be a key of.
enum class ProviderName : std::uint8_t {
  kNone,
  kKey,    ///< "foo_key": a key, of a service that isn't known.
  kOnly,   ///< "beamer", "cloudflare".
  kKeyed,  ///< "bitbucket_key", "ado_pat": and that it is a key.
};

/// Whether `name` has the name of a service, and doesn't go on about something else of it.
ProviderName provider_in(std::string_view name);

/// Whether `value` is drawn and stands under the name of a service: `beamer = b_…`. What is written
/// in hexadecimal digits alone may be an id or a hash, so that the name has to say that it is a
/// key.
bool is_providers_key(std::string_view name, std::string_view value);

/// What the words of a text say of a drawn value near them, as bits.
inline constexpr unsigned kNearSecret = 1;   ///< "token", "api key", "client secret".
inline constexpr unsigned kNearKey = 2;      ///< "key", "auth", "client": now and then a secret.
inline constexpr unsigned kNearService = 4;  ///< The name of a service.
inline constexpr unsigned kNearPublic = 8;   ///< "commit", "id": what is near is none.
unsigned near_words(std::string_view text);

/// Id of the rule that a value of `kind` is redacted by.
std::string_view rule_of(SecretKind kind);

/// Letters of a name as a set: bit 0 is 'a' or 'A', the last one any letter beyond ASCII.
using LetterSet = std::uint32_t;
inline constexpr LetterSet kForeignLetter = 1U << 31U;
constexpr LetterSet letter_bit(char c) {
  const auto letter = static_cast<unsigned char>(static_cast<unsigned char>(c) | 0x20U);
  return letter >= 'a' && letter <= 'z' ? 1U << (letter - 'a') : letter < 0x80 ? 0 : kForeignLetter;
}

/// Whether a name with these letters can be of any kind but kNone. Rules most names out at once.
bool can_be_secret_name(LetterSet letters);

// assignment_parts.cpp

/// Bytes [begin, end) of the text.
struct ValuePart {
  std::size_t begin = 0;
  std::size_t end = 0;
  /// The value goes on behind `end`, to the first of these, or to the end of its line: what is read
  /// of it is enough to judge it. Empty for a whole one.
  std::string_view open_until = {};

  [[nodiscard]] std::string_view of(std::string_view text) const {
    assert(begin <= end && end <= text.size() && "the part is of this text");
    return text.substr(begin, end - begin);
  }
};

/// Where `part`, a part of `text`, is.
inline ValuePart place_of(std::string_view text, std::string_view part) {
  const auto begin = static_cast<std::size_t>(part.data() - text.data());
  assert(begin + part.size() <= text.size());
  return {.begin = begin, .end = begin + part.size()};
}

struct NamePart : ValuePart {
  LetterSet letters = 0;
  bool is_quoted = false;
};

/// The name that ends before `end`, whatever of quotes, brackets, types and blanks is between.
/// Empty when there is none.
NamePart name_before(std::string_view text, std::size_t end);

/// The value in quotes that begins at `at`, which may have backslashes or a prefix as in r"…"
/// before. Nothing when there is none on this line. One longer than kValueSizeMax is open.
std::optional<ValuePart> quoted_at(std::string_view text, std::size_t at);

/// How far a value without quotes goes.
enum class BareEnd : std::uint8_t {
  kLine,  ///< To a blank: the value has the rest of the line.
  kCode,  ///< To a blank or what ends an expression.
  kQuery  ///< And to '&' and '#'.
};

/// The value without quotes that begins at `at`; may be empty. A long one is open.
ValuePart bare_at(std::string_view text, std::size_t at, BareEnd end);

/// The value without quotes of a name that begins at `name_begin`, to the next blank: whatever of
/// quotes and brackets is in it, but for a quote that was open before the name.
ValuePart word_at(std::string_view text, std::size_t at, std::size_t name_begin);

/// Whether the rest of the line from `at` on is empty or a comment.
bool is_line_over(std::string_view text, std::size_t at);

/// Whether `value` begins as a call or an index: `read(`, `a.b[`.
bool begins_call(std::string_view value);

/// Whether the '{' at `at` opens an object whose first member has a name in quotes.
bool container_begins(std::string_view text, std::size_t at);

/// No option of one letter is longer: "-upw".
inline constexpr std::size_t kShortOptionMax = 4;

/// Where an open value ends. Its time is linear in what it takes.
std::size_t real_end(std::string_view text, const ValuePart& value);

/// The first byte from `at` on that isn't a blank.
std::size_t skip_blanks(std::string_view text, std::size_t at);

/// Whether the value is the end of what stands for an id that was a secret:
/// "REDACTED:github-pat:1f3870be274f6c49".
bool ends_replaced_id(std::string_view text, const ValuePart& value);

// assignment_judge.cpp

/// How a value stands in the text: what else than a literal it could be.
enum class ValueForm : std::uint8_t {
  kMember,   ///< "…" that a name is given, an element of XML, the member of an object.
  kQuoted,   ///< "…" elsewhere, such as an argument: a literal as well.
  kLiteral,  ///< Without quotes where none are needed: .env, YAML, options, addresses.
  kBare,     ///< Without quotes, where code may stand: a name or a call as well.
  kSaid,     ///< A sentence says what it is: "the password is …".
  kProse,    ///< The next word of a sentence: "password …".
};

/// `password: dragon`, `APP_DB_PASSWORD=word`, "password": "word": a common word that the name of a
/// password has as its value; and what the environment, an option or a literal has there is a
/// password, be it a word or words that are joined.
bool is_of_settings(SecretKind kind, std::string_view name, std::string_view value, ValueForm form);

/// What a value is judged by when it is longer, in bytes.
inline constexpr std::size_t kValueSizeMax = 4096;

/// Judges `value`, which stands under `name` in that form.
std::optional<ValueVerdict> judge_value(std::string_view name, std::string_view value,
                                        ValueForm form);

/// Whether a rule of the table might know `value` by its name: a token with digits in it. Cheap.
bool may_have_rule(std::string_view value);

class AssignmentFinder {
 public:
  AssignmentFinder(std::string_view text, Detections& out) : text_(text), out_(out) {}

  void run();

 private:
  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  // assignments.cpp

  /// Looks at the byte at at_, and moves it on past what was understood.
  void step();
  /// Judges and, when it is a secret, adds the value to its real end and goes on after it.
  bool judge(std::string_view name, const ValuePart& value, ValueForm form);
  /// The same for all up to the next blank, when that is as mixed as generated passwords are.
  bool judge_word(const NamePart& name, std::string_view word, std::size_t begin, ValueForm form);

  /// `name = value`, `name: value`, `name => value`, `<name>value<`.
  void assignment();
  void value_after(const NamePart& name, std::string_view marks);
  void quoted_value(const NamePart& name, const ValuePart& value, bool may_be_secret);
  /// Where the value begins: after blanks, one line break, and what wraps literals.
  [[nodiscard]] std::size_t value_begin() const;
  /// `NAME=value` and `name: value` at the beginning of a line, an option or a query are literals.
  [[nodiscard]] ValueForm form_of(const NamePart& name, std::string_view marks,
                                  std::size_t begin) const;
  /// `<password>value</password>`, `<string name="password">value</string>`.
  void element(const NamePart& name);
  /// `password: |` and the lines of its block.
  bool block(const NamePart& name, std::size_t begin);
  /// `passwords: ["…", "…"]`, `"passwords": {"db": "…"}`, and the list of YAML.
  bool container(const NamePart& name, std::size_t begin);
  bool list_of_lines(std::string_view name, std::size_t begin);
  /// `("name", "value")` after `{"name": "DB_PASSWORD",`: the next value is what it names.
  void remember(std::string_view word, const ValuePart& value);
  /// `setPassword("…")`, `secret{"…"}`.
  void call();
  /// `put("password", "…")`, `{"password", "…"}`, `["--password", "…"]`.
  void pair_of_arguments();

  // said_assignments.cpp

  /// `key = read() || "…"`, and a row of a table: `| password | … |`.
  void alternative();
  /// Judges the literal at `begin` that stands for what is called `name` where that isn't set.
  bool fallback(const NamePart& name, std::size_t begin);
  /// Whether what follows the blank at at_ may be the value of the word before it: a quick look.
  [[nodiscard]] bool may_follow_word() const;
  /// After a blank: `--password x`, `PASSWORD 'x'`, `the password is x`, `password x`.
  void after_word();
  /// `mysql -pSECRET`, `sshpass -p SECRET`, `curl -u user:SECRET`, `redis-cli -a SECRET`.
  void short_option();
  void option_value(std::size_t begin, std::string_view how);

  std::string_view text_;
  Detections& out_;
  std::size_t at_ = 0;
  NamePart fallback_name_;  ///< The last name whose value was an expression.
  ValuePart pair_name_;     ///< The last value of a member such as "name": "DB_PASSWORD".
};

}  // namespace bmad_mem
