#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "assignment_parts.hpp"
#include "assignment_sieve.hpp"
#include "bmad_mem/text.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

bool is_operator_char(char c) { return c == '=' || c == ':' || c == '>'; }

/// Words back from "is" among which the name is looked for: "the password of the database is".
constexpr std::size_t kProseSizeMax = 64;

/// How far back a command stands from its options.
constexpr std::size_t kCommandSizeMax = 200;

class Finder {
 public:
  Finder(string_view text, Detections& out) : text_(text), out_(out) {}

  void run() {
    const string_view text = text_;
    unsigned pair = 0;
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      const unsigned hit = kMayAssign[static_cast<unsigned char>(c)] & kMayFollow[pair];
      pair = next_pair(pair, c);
      if (hit == 0 || !is_worth_a_look(text, i)) {
        ++i;
        continue;
      }
      at_ = i;
      step();
      i = std::max(at_, i + 1);
      pair = next_pair(next_pair(0, text[i - std::min<std::size_t>(i, 2)]), text[i - 1]);
    }
  }

 private:
  /// Looks at the byte at at_, and moves it on past what was understood.
  void step() {
    switch (text_[at_]) {
      case ' ':
      case '\t':
        after_word();
        break;
      case '-':
        short_option();
        break;
      case '(':
      case '{':
        call();
        break;
      case ',':
        pair_of_arguments();
        break;
      case '|':
        alternative();
        break;
      default:
        assignment();
        break;
    }
  }

  [[nodiscard]] char at(std::size_t i) const { return byte_at(text_, i); }

  /// Judges and, when it is a secret, adds the value and goes on after it.
  bool judge(string_view name, const ValuePart& value, ValueForm form) {
    const std::optional<ValueVerdict> verdict = judge_value(name, value.of(text_), form);
    if (!verdict) {
      return false;
    }
    out_.push_back({.begin = value.begin,
                    .end = value.end,
                    .rule = verdict->rule,
                    .certainty = verdict->certainty});
    if (verdict->certainty == Certainty::kSecret) {
      at_ = value.end;
    }
    return true;
  }

  /// `name = value`, `name: value`, `name => value`, `<name>value<`.
  void assignment() {
    const std::size_t begin = at_ > 0 && text_[at_ - 1] == '-' && text_[at_] == '>' ? at_ - 1 : at_;
    at_ = run_end(text_, at_, is_operator_char);
    const string_view marks = text_.substr(begin, std::min<std::size_t>(at_ - begin, 8));
    if (marks == "::" || (marks == ":" && at(at_) == '/' && at(at_ + 1) == '/')) {
      return;
    }
    const NamePart name = name_before(text_, begin);
    if (marks == ">") {
      element(name);
      return;
    }
    if (name.begin == name.end || name.end - name.begin > kNameSizeMax) {
      return;
    }
    value_after(name, marks);
  }

  void value_after(const NamePart& name, string_view marks) {
    const bool may_be_secret = can_be_secret_name(name.letters);
    const string_view word = name.of(text_);
    const bool is_unequal = text_[at_ - marks.size() - 1] == '!';
    const std::size_t begin = value_begin();
    if (const std::optional<ValuePart> value = quoted_at(text_, begin)) {
      quoted_value(name, *value, may_be_secret);
      return;
    }
    if (marks == "==" || marks == "===" || is_unequal) {
      return;  // A comparison with something that isn't written here.
    }
    const ValueForm form = form_of(name, marks, begin);
    ValuePart value = bare_at(text_, begin, end_of(name, form));
    if (!may_be_secret && !may_have_rule(value.of(text_))) {
      remember(word, value);
      return;
    }
    if (form == ValueForm::kLiteral && value.of(text_).contains("://")) {
      return;  // Other rules know the parts of an address.
    }
    for (const string_view scheme : {"Bearer", "Basic", "Token", "bearer"}) {
      if (may_be_secret && value.of(text_) == scheme) {
        value = bare_at(text_, skip_blanks(text_, value.end), BareEnd::kCode);
        break;
      }
    }
    if (!judge(word, value, form)) {
      remember(word, value);
      fallback_name_ = name;
    }
  }

  void quoted_value(const NamePart& name, const ValuePart& value, bool may_be_secret) {
    const string_view word = name.of(text_);
    if ((may_be_secret || may_have_rule(value.of(text_))) &&
        judge(word, value, ValueForm::kQuoted)) {
      return;
    }
    if (judge_pair(word, value)) {
      return;
    }
    remember(word, value);
  }

  /// Where the value begins: after blanks, one line break, and what wraps literals.
  [[nodiscard]] std::size_t value_begin() const {
    std::size_t begin = skip_blanks(text_, at_);
    if (at(begin) == '\n' || (at(begin) == '\\' && at(begin + 1) == '\n')) {
      // Only a value in quotes is looked for on the next line.
      const std::size_t next = skip_blanks(text_, begin + (at(begin) == '\n' ? 1 : 2));
      return is_quote(at(next)) ? next : begin;
    }
    const char first = at(begin);
    if (first != '!' && first != 'S' && first != 'n' && first != '(' && first != '{') {
      return begin;
    }
    for (const string_view wrap : {"!!str ", "String::from(", "new String(", "Some(", "(", "{"}) {
      if (text_.substr(begin).starts_with(wrap) && is_quote(at(begin + wrap.size()))) {
        return begin + wrap.size();
      }
    }
    return begin;
  }

  /// `NAME=value` and `name: value` at the beginning of a line, an option or a query are literals.
  [[nodiscard]] ValueForm form_of(const NamePart& name, string_view marks,
                                  std::size_t begin) const {
    const char before = name.begin > 0 ? text_[name.begin - 1] : '\n';
    if (marks == "=" && begin == at_) {
      const bool is_argument = before == '(' || before == ',' ||
                               (before == ' ' && name.begin > 1 && text_[name.begin - 2] == ',');
      return is_argument ? ValueForm::kBare : ValueForm::kLiteral;
    }
    return marks == ":" && begins_line(name) && !ends_statement(begin) ? ValueForm::kLiteral
                                                                       : ValueForm::kBare;
  }

  [[nodiscard]] bool begins_line(const NamePart& name) const {
    std::size_t begin = name.begin;
    for (std::size_t i = 0; i < 32 && begin > 0; ++i, --begin) {
      const char c = text_[begin - 1];
      if (c == '\n') {
        return true;
      }
      if (!is_blank(c) && !is_quote(c) && c != '-' && c != '+' && c != '*' && c != '\r') {
        return false;
      }
    }
    return begin == 0;
  }

  /// Whether code goes on after the value: "password: string,".
  [[nodiscard]] bool ends_statement(std::size_t begin) const {
    const ValuePart value = bare_at(text_, begin, BareEnd::kLine);
    const char c = at(value.end);
    return c == ',' || c == ';' || c == ')';
  }

  [[nodiscard]] BareEnd end_of(const NamePart& name, ValueForm form) const {
    const char before = name.begin > 0 ? text_[name.begin - 1] : '\n';
    if (before == '?' || before == '&') {
      return BareEnd::kQuery;
    }
    const bool has_line = form == ValueForm::kLiteral && (begins_line(name) || before == ' ');
    return has_line ? BareEnd::kLine : BareEnd::kCode;
  }

  /// `<password>value</password>`, `<string name="password">value</string>`.
  void element(const NamePart& name) {
    const char before = name.begin > 0 ? text_[name.begin - 1] : '\0';
    const bool is_tag = (before == '<' || before == ':') && can_be_secret_name(name.letters);
    const bool has_pair_name = pair_name_.end > 0 && pair_name_.end + 2 >= at_;
    if (!is_tag && !has_pair_name) {
      return;
    }
    const std::size_t size = text_.substr(at_, kValueSizeMax).find('<');
    if (size == string_view::npos || size == 0 || at(at_ + size + 1) != '/') {
      return;
    }
    const string_view text = trimmed(text_.substr(at_, size));
    const auto value_begin = static_cast<std::size_t>(text.data() - text_.data());
    const ValuePart value{.begin = value_begin, .end = value_begin + text.size()};
    judge(is_tag ? name.of(text_) : pair_name_.of(text_), value, ValueForm::kQuoted);
  }

  /// `("name", "value")` after `{"name": "DB_PASSWORD",`: the next value is what it names.
  void remember(string_view word, const ValuePart& value) {
    word = word.substr(word.rfind(' ') + 1);
    static constexpr auto kNameWords = std::to_array<string_view>(
        {"name", "key", "Name", "Key", "id", "variable", "header", "field", "env", "param"});
    if (value.end - value.begin <= kNameSizeMax && value.end > value.begin &&
        is_among(kNameWords, word)) {
      pair_name_ = value;
    }
  }

  bool judge_pair(string_view word, const ValuePart& value) {
    static constexpr auto kValueWords =
        std::to_array<string_view>({"value", "val", "Value", "text", "content", "default"});
    constexpr std::size_t kDistanceMax = 64;
    const bool follows = pair_name_.end > 0 && value.begin - pair_name_.end <= kDistanceMax &&
                         is_among(kValueWords, word);
    return follows && judge(pair_name_.of(text_), value, ValueForm::kQuoted);
  }

  /// `setPassword("…")`, `secret{"…"}`.
  void call() {
    const std::size_t begin = skip_blanks(text_, at_ + 1);
    const char first = at(begin);
    if (!is_quote(first) && first != '\\') {
      return;
    }
    const NamePart name = name_before(text_, at_);
    if (name.begin == name.end || name.is_quoted || !can_be_secret_name(name.letters)) {
      return;
    }
    if (const std::optional<ValuePart> value = quoted_at(text_, begin)) {
      judge(name.of(text_), *value, ValueForm::kQuoted);
    }
  }

  /// `key = read() || "…"`, and a row of a table: `| password | … |`.
  void alternative() {
    if (at(at_ + 1) == '|') {
      at_ += 2;
      const std::size_t begin = skip_blanks(text_, at_);
      constexpr std::size_t kExpressionSizeMax = 80;
      const bool is_near = fallback_name_.end > 0 && at_ - fallback_name_.end < kExpressionSizeMax;
      if (!is_quote(at(begin)) || !is_near ||
          text_.substr(fallback_name_.end, at_ - fallback_name_.end).find_first_of(";\n") !=
              string_view::npos) {
        return;
      }
      if (const std::optional<ValuePart> value = quoted_at(text_, begin)) {
        judge(fallback_name_.of(text_), *value, ValueForm::kQuoted);
      }
      return;
    }
    const std::size_t begin = skip_blanks(text_, at_ + 1);
    if (begin == at_ + 1 || is_space(at(begin))) {
      return;
    }
    const NamePart name = name_before(text_, at_);
    if (name.begin == name.end || !can_be_secret_name(name.letters)) {
      return;
    }
    const std::optional<ValuePart> quoted = quoted_at(text_, begin);
    judge(name.of(text_), quoted ? *quoted : bare_at(text_, begin, BareEnd::kCode),
          quoted ? ValueForm::kQuoted : ValueForm::kSaid);
  }

  /// Whether only an opening bracket and blanks stand before the quote of an argument.
  [[nodiscard]] bool is_first_argument(const NamePart& name) const {
    const std::size_t begin = run_begin(text_, name.begin - 1, is_space, 16);
    return begin > 0 && string_view("([{").contains(text_[begin - 1]);
  }

  /// `put("password", "…")`, `{"password", "…"}`.
  void pair_of_arguments() {
    if (at_ == 0 || !is_quote(text_[at_ - 1])) {
      return;
    }
    const std::size_t begin = skip_blanks(text_, at_ + 1);
    const NamePart name = name_before(text_, at_);
    if (!is_quote(at(begin)) || name.begin == 0 || !is_quote(text_[name.begin - 1]) ||
        !can_be_secret_name(name.letters) || !is_first_argument(name)) {
      return;
    }
    const std::optional<ValuePart> value = quoted_at(text_, begin);
    // ["password", "a1", "b2"] is a list of names, not a name and its value.
    if (value && at(value->end + 1) != ',') {
      judge(name.of(text_), *value, ValueForm::kQuoted);
    }
  }

  /// After a blank: `--password x`, `PASSWORD 'x'`, `the password is x`, `password x`.
  void after_word() {
    const std::size_t begin = skip_blanks(text_, at_ + 1);
    if (is_operator_char(at(begin)) || begin >= text_.size()) {
      return;  // The operator will look back.
    }
    const bool is_quoted = is_quote(at(begin));
    const std::optional<ValuePart> quoted = is_quoted ? quoted_at(text_, begin) : std::nullopt;
    const ValuePart value = quoted ? *quoted : bare_at(text_, begin, BareEnd::kCode);
    const bool has_digit = any_is(value.of(text_), is_digit);
    if (!has_digit && !is_quoted && ends_copula(text_[at_ - 1])) {
      return;
    }
    NamePart name = name_before(text_, at_);
    string_view word = name.of(text_);
    if (word.starts_with("-")) {
      if (can_be_secret_name(name.letters)) {
        judge(word, value, ValueForm::kLiteral);
      }
      return;
    }
    const bool is_said = is_copula(word);
    if (word == "BY" || word == "by") {
      if (quoted && identifies(name.begin)) {
        judge("password", value, ValueForm::kQuoted);
      }
      return;
    }
    if (is_said) {
      name = subject_before(name.begin);
      word = name.of(text_);
    }
    const SecretKind kind =
        has_digit && can_be_secret_name(name.letters) ? secret_kind(word) : SecretKind::kNone;
    // "Pass x to f" is said of anything, "root_pass is x" of a password.
    const bool is_verb = kind == SecretKind::kPass && !word.contains('_');
    if (kind == SecretKind::kNone || is_verb) {
      return;
    }
    judge(word, value,
          quoted    ? ValueForm::kQuoted
          : is_said ? ValueForm::kSaid
                    : ValueForm::kProse);
  }

  /// Whether a word that ends so is more likely a copula than an option: the next word decides.
  static bool ends_copula(char c) { return c == 's' || c == 'o' || c == 'w'; }

  /// Whether SQL's IDENTIFIED stands before the BY that begins at `by`.
  [[nodiscard]] bool identifies(std::size_t by) const {
    const string_view before = text_.substr(by - std::min<std::size_t>(by, 11), 11);
    return before.starts_with("IDENTIFIED") || before.starts_with("identified");
  }

  static bool is_copula(string_view word) {
    static constexpr auto kWords =
        std::to_array<string_view>({"is", "was", "to", "ist", "lautet", "as", "now"});
    return is_among(kWords, word);
  }

  /// `name` with the words after it up to `end`: "the password reset link is" is about a link. But
  /// "the password for the server is" is about the password.
  [[nodiscard]] NamePart with_what_follows(NamePart name, std::size_t end) const {
    const string_view words = text_.substr(name.end, end - name.end);
    std::size_t size = words.size();
    for (const string_view preposition :
         {" for ", " of ", " in ", " on ", " at ", " to ", " f\u00fcr "}) {
      size = std::min(size, words.find(preposition));
    }
    name.end += size;
    return name;
  }

  /// The word before `end` that names a secret, in the same sentence.
  [[nodiscard]] NamePart subject_before(std::size_t end) const {
    const std::size_t first = end - std::min(end, kProseSizeMax);
    const std::size_t subject_end = end;
    while (end > first) {
      const NamePart name = name_before(text_, end);
      if (name.begin == name.end || names_digest(name.of(text_))) {
        break;
      }
      if (can_be_secret_name(name.letters) && secret_kind(name.of(text_)) != SecretKind::kNone) {
        // "The hash of the password is" tells the hash.
        return names_digest(text_.substr(first, name.begin - first))
                   ? NamePart()
                   : with_what_follows(name, subject_end);
      }
      end = name.begin;
      if (end == 0 || string_view(".;:\n").contains(text_[end - 1])) {
        break;
      }
    }
    return {};
  }

  /// `mysql -pSECRET`, `sshpass -p SECRET`, `curl -u user:SECRET`, `redis-cli -a SECRET`.
  void short_option() {
    struct Command {
      char option;
      string_view name;
      bool is_apart;  ///< Blanks may stand before the value.
      bool has_user;
    };
    static constexpr Command kCommands[] = {
        {'p', "mysql", false, false},    {'p', "mariadb", false, false},
        {'p', "sshpass", true, false},   {'p', "docker login", true, false},
        {'a', "redis-cli", true, false}, {'w', "ldap", true, false},
        {'u', "curl", true, true},       {'u', "wget", true, true},
    };
    if (at_ == 0 || !is_blank(text_[at_ - 1])) {
      return;
    }
    const std::size_t first = at_ - std::min(at_, kCommandSizeMax);
    string_view command = text_.substr(first, at_ - first);
    command.remove_prefix(command.find_last_of("\n|;") + 1);  // npos + 1 is 0.
    for (const Command& each : kCommands) {
      if (each.option == at(at_ + 1) && command.contains(each.name)) {
        option_value(each.is_apart ? skip_blanks(text_, at_ + 2) : at_ + 2, each.has_user);
        return;
      }
    }
  }

  void option_value(std::size_t begin, bool has_user) {
    const std::optional<ValuePart> quoted = quoted_at(text_, begin);
    ValuePart value = quoted ? *quoted : bare_at(text_, begin, BareEnd::kLine);
    if (has_user) {
      const std::size_t colon = value.of(text_).find(':');
      if (colon == string_view::npos) {
        return;
      }
      value.begin += colon + 1;
    }
    judge("password", value, quoted ? ValueForm::kQuoted : ValueForm::kLiteral);
  }

  string_view text_;
  Detections& out_;
  std::size_t at_ = 0;
  NamePart fallback_name_;  ///< The last name whose value was an expression.
  ValuePart pair_name_;     ///< The last value of a member such as "name": "DB_PASSWORD".
};

}  // namespace

void find_assigned(string_view text, Detections& out) { Finder(text, out).run(); }

}  // namespace bmad_mem
