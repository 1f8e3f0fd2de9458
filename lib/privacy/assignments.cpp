// assignments.cpp - walks over a text and finds secrets that are assigned to a name.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>

#include "assignment_parts.hpp"
#include "assignment_sieve.hpp"
#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

bool is_operator_char(char c) { return c == '=' || c == ':' || c == '>'; }

/// Items of a list that are looked at, and bytes of one.
constexpr std::size_t kItemsMax = 64;

/// Whether a value that a rule of the table knows may be at `at`: eight bytes of tokens, in quotes
/// or not.
bool may_hold_token(string_view text, std::size_t at) {
  constexpr std::size_t kSizeMin = 8;
  at = run_end(
      text, std::min(at, text.size()),
      [](char c) { return is_quote(c) || c == '\\' || c == '@' || c == '$'; }, 6);
  if (at + 1 < text.size() && is_quote(text[at + 1])) {
    at += 2;  // Of a prefix such as r"…".
  }
  const auto in_token = [](char c) { return is_alnum(c) || string_view("_-.+/=:~").contains(c); };
  return at + kSizeMin <= text.size() && all_are(text.substr(at, kSizeMin), in_token);
}

/// Whether a value is long enough for the key of a service, whose name may say no more.
bool may_be_key(string_view value) {
  constexpr std::size_t kSizeMin = 20;
  return value.size() >= kSizeMin && may_have_rule(value);
}

bool is_pair_word(string_view word) {
  constexpr std::size_t kSizeMax = 8;
  word = word.substr(word.rfind(' ') + 1);
  return word.size() <= kSizeMax &&
         (kPairNameWords.contains(word) || kPairValueWords.contains(word));
}

bool begins_line(string_view text, const NamePart& name) {
  const std::size_t begin = run_begin(
      text, name.begin,
      [](char c) { return is_blank(c) || is_quote(c) || string_view("-+*\r").contains(c); }, 32);
  return begin == 0 || text[begin - 1] == '\n';
}

/// Whether code goes on after the value: "password: string,".
bool ends_statement(string_view text, std::size_t begin) {
  const ValuePart value = bare_at(text, begin, BareEnd::kLine);
  const char c = byte_at(text, value.end);
  return c == ',' || c == ';' || c == ')';
}

/// Whether only words of a sentence are before the name in its line: "the root password".
bool is_said(string_view text, const NamePart& name) {
  constexpr std::size_t kReach = 80;
  if (!can_be_secret_name(name.letters) || secret_kind(name.of(text)) != SecretKind::kPassword) {
    return false;
  }
  const std::size_t line =
      run_begin(text, name.begin, [](char c) { return c != '\n' && c != '"' && c != '`'; }, kReach);
  const string_view before = trimmed(text.substr(line, name.begin - line));
  return any_is(before, is_letter) &&
         before.find_first_of("(){}[]<=;$@&|\\!?+%^~") == before.npos &&
         !has_word("let var val const auto final mut static case param arg def fn func in as",
                   before.substr(before.find_last_of(" :.") + 1));
}

BareEnd end_of(string_view text, const NamePart& name, ValueForm form, std::size_t begin) {
  const char before = name.begin > 0 ? text[name.begin - 1] : '\n';
  if (before == '?' || before == '&') {
    return BareEnd::kQuery;
  }
  const bool has_line =
      form == ValueForm::kLiteral
          ? begins_line(text, name) || before == ' '
          : begins_line(text, name) && is_line_over(text, bare_at(text, begin, BareEnd::kLine).end);
  return has_line ? BareEnd::kLine : BareEnd::kCode;
}

/// Whether only an opening bracket and blanks stand before the quote of an argument.
bool is_first_argument(string_view text, const NamePart& name) {
  const std::size_t begin = run_begin(text, name.begin - 1, is_space, 16);
  return begin > 0 && string_view("([{").contains(text[begin - 1]);
}

}  // namespace

void AssignmentFinder::run() {
  const string_view text = text_;  // In registers.
  AssigningPlaces(text).for_each([this, text](std::size_t i) {
    if (!is_worth_a_look(text, i)) {
      return i + 1;
    }
    at_ = i;
    step();
    return std::max(at_, i + 1);
  });
}

void AssignmentFinder::step() {
  assert(at_ > 0 && at_ + 1 < text_.size() && "is_worth_a_look() allows no other place");
  switch (text_[at_]) {
    case ' ':
    case '\t':
      if (may_follow_word()) {
        after_word();
      }
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

bool AssignmentFinder::judge(string_view name, const ValuePart& value, ValueForm form) {
  assert(value.begin <= value.end && value.end <= text_.size());
  const std::optional<ValueVerdict> verdict = judge_value(name, value.of(text_), form);
  if (!verdict || ends_replaced_id(text_, value)) {
    return false;
  }
  const bool is_secret = verdict->action == DetectionAction::kSecret;
  const std::size_t end = is_secret ? real_end(text_, value) : value.end;
  out_.push_back(
      {.begin = value.begin, .end = end, .rule = verdict->rule, .action = verdict->action});
  if (is_secret) {
    at_ = end;
  }
  return true;
}

bool AssignmentFinder::judge_word(const NamePart& name, string_view word, std::size_t begin,
                                  ValueForm form) {
  const ValuePart value = word_at(text_, begin, name.begin);
  if (!is_scrambled(value.of(text_))) {
    return false;
  }
  // A line that has nothing else is written for a value, not for code.
  const bool is_line = form == ValueForm::kBare && begins_line(text_, name) &&
                       is_line_over(text_, value.end) && !begins_call(value.of(text_));
  if (is_line || form == ValueForm::kQuoted) {
    form = ValueForm::kLiteral;
  } else if (form == ValueForm::kLiteral && word.front() != '-' && !begins_line(text_, name) &&
             any_is(word, is_lower)) {
    form = ValueForm::kBare;  // `x.token=a<0;`: minified code has no blanks either.
  }
  return judge(word, value, form);
}

void AssignmentFinder::assignment() {
  constexpr std::size_t kSignsMax = 3;
  std::size_t begin = at_;
  if (text_[at_] == '\xef') {
    at_ += 3;  // A colon or an equals sign of full width.
    value_after(name_before(text_, begin), ":");
    return;
  }
  at_ = run_end(text_, at_, is_operator_char);
  const char before = byte_before(text_, begin);
  const bool has_sign = !is_word_byte(before) && !is_space(before) && !is_quote(before);
  for (std::size_t more = has_sign ? std::min(begin, kSignsMax) : 0; more > 0; --more) {
    if (kAssignmentOperators.contains(text_.substr(begin - more, at_ - begin + more))) {
      begin -= more;
      break;
    }
  }
  const string_view marks = text_.substr(begin, std::min<std::size_t>(at_ - begin, 8));
  if (marks == "::" || (marks == ":" && at(at_) == '/' && at(at_ + 1) == '/')) {
    return;
  }
  const NamePart name = name_before(text_, begin);
  if (text_[begin] == '>' && (marks == ">" || byte_before(text_, name.begin) == '<')) {
    at_ = begin + 1;
    element(name);
    return;
  }
  if (name.begin == name.end || name.end - name.begin > kNameSizeMax) {
    return;
  }
  value_after(name, marks);
}

void AssignmentFinder::value_after(const NamePart& name, string_view marks) {
  assert(name.end <= at_ && at_ <= text_.size() && "the operator is after the name");
  const bool may_be_secret = can_be_secret_name(name.letters);
  const string_view word = name.of(text_);
  const bool is_unequal = name.end < at_ && text_.substr(name.end, at_ - name.end).contains('!');
  const std::size_t begin = value_begin();
  if (!may_be_secret && !may_hold_token(text_, begin) && !is_pair_word(word)) {
    return;
  }
  if (const std::optional<ValuePart> value = quoted_at(text_, begin)) {
    // A password may begin with a quote, and have another one.
    const bool goes_on = may_be_secret && is_word_byte(at(value->end + 1)) &&
                         text_[value->end] != '\\' &&
                         is_scrambled(word_at(text_, begin, name.begin).of(text_));
    if (!goes_on) {
      quoted_value(name, *value, may_be_secret);
      return;
    }
  }
  if (marks == "==" && begin == at_ && (at(name.begin) == '-' || begins_line(text_, name))) {
    --at_;  // `--password==x`: the value has one.
    if (may_be_secret && judge_word(name, word, at_, ValueForm::kLiteral)) {
      return;
    }
    ++at_;
  }
  if (marks == "==" || marks == "===" || is_unequal) {
    return;  // A comparison with something that isn't written here.
  }
  if (may_be_secret && (block(name, begin) || container(name, begin))) {
    return;
  }
  ValueForm form = form_of(name, marks, begin);
  if (may_be_secret && judge_word(name, word, begin, form)) {
    return;
  }
  ValuePart value = bare_at(text_, begin, end_of(text_, name, form, begin));
  if (!may_be_secret && !may_have_rule(value.of(text_))) {
    remember(word, value);
    return;
  }
  if (form == ValueForm::kLiteral && value.of(text_).contains("://")) {
    return;  // Other rules know the parts of an address.
  }
  if (form == ValueForm::kLiteral && !begins_line(text_, name) &&
      value.of(text_).find_first_of("({;") != string_view::npos) {
    form = ValueForm::kBare;  // `tokenStart=0;for(let`: code goes on.
  }
  if (may_be_secret && has_word("Bearer Basic Token bearer", value.of(text_))) {
    value = bare_at(text_, skip_blanks(text_, value.end), BareEnd::kCode);
  }
  if (form == ValueForm::kBare && marks == "=" && begins_line(text_, name) &&
      is_line_over(text_, value.end) && is_chosen_word(value.of(text_))) {
    form = ValueForm::kLiteral;  // In INI: `password = dragon`.
  }
  if (!judge(word, value, form)) {
    remember(word, value);
    fallback_name_ = name;
  }
}

void AssignmentFinder::quoted_value(const NamePart& name, const ValuePart& value,
                                    bool may_be_secret) {
  const string_view word = name.of(text_);
  if ((may_be_secret || may_have_rule(value.of(text_))) && judge(word, value, ValueForm::kMember)) {
    return;
  }
  constexpr std::size_t kDistanceMax = 64;
  const bool follows = pair_name_.end > 0 && value.begin - pair_name_.end <= kDistanceMax &&
                       kPairValueWords.contains(word);
  if (!follows || !judge(pair_name_.of(text_), value, ValueForm::kMember)) {
    remember(word, value);
  }
}

std::size_t AssignmentFinder::value_begin() const {
  std::size_t begin = skip_blanks(text_, at_);
  if (at(begin) == '\n' || (at(begin) == '\\' && at(begin + 1) == '\n')) {
    // Only a value in quotes is looked for on the next line.
    const std::size_t next = skip_blanks(text_, begin + (at(begin) == '\n' ? 1 : 2));
    return is_quote(at(next)) ? next : begin;
  }
  const char first = at(begin);
  if (first == '*' || first == '_') {
    // `**Password:** value`: what closes the emphasis of the name.
    const std::size_t marks = run_end(text_, begin, [&](char c) { return c == first; }, 3);
    return begin == at_ && is_blank(at(marks)) ? skip_blanks(text_, marks) : begin;
  }
  if (first != '!' && first != 'S' && first != 'n' && first != '(' && first != '{') {
    return begin;
  }
  for (const string_view wrap : {"!!str ", "String::from(", "new String(", "Some(", "(", "{"}) {
    if (text_.substr(begin).starts_with(wrap) && is_quote(at(begin + wrap.size()))) {
      // But `{"db": "…"}` has names of its own.
      return wrap == "{" && container_begins(text_, begin) ? begin : begin + wrap.size();
    }
  }
  return begin;
}

ValueForm AssignmentFinder::form_of(const NamePart& name, string_view marks,
                                    std::size_t begin) const {
  const char before = name.begin > 0 ? text_[name.begin - 1] : '\n';
  if (marks == "=" && begin == at_) {
    const bool is_argument = before == '(' || before == ',' ||
                             (before == ' ' && name.begin > 1 && text_[name.begin - 2] == ',');
    return is_argument ? ValueForm::kBare : ValueForm::kLiteral;
  }
  const bool is_label =
      marks == ":" && begins_line(text_, name)
          ? !ends_statement(text_, begin)
          : (marks == ":" || marks == "->") && begin > at_ && is_said(text_, name);
  return is_label ? ValueForm::kLiteral : ValueForm::kBare;
}

void AssignmentFinder::element(const NamePart& name) {
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
  const ValuePart value = place_of(text_, trimmed(text_.substr(at_, size)));
  judge(is_tag ? name.of(text_) : pair_name_.of(text_), value, ValueForm::kMember);
}

bool AssignmentFinder::block(const NamePart& name, std::size_t begin) {
  const bool is_next = at(begin) == '\n';  // `password:` and a value in the next line.
  if ((at(begin) != '|' && at(begin) != '>' && !is_next) || !begins_line(text_, name)) {
    return false;
  }
  const std::size_t head = run_end(
      text_, begin + (is_next ? 0 : 1), [](char c) { return c == '-' || c == '+' || is_digit(c); },
      2);
  const std::size_t line = run_end(text_, head, [](char c) { return c == '\r'; }, 1);
  const std::size_t first = skip_blanks(text_, line + 1);
  if (at(line) != '\n' || first == line + 1) {
    return false;
  }
  ValuePart value = word_at(text_, first, first);
  if (!is_line_over(text_, value.end) || (is_next && !is_scrambled(value.of(text_))) ||
      !judge(name.of(text_), value, ValueForm::kLiteral)) {
    return false;
  }
  // The lines after it that are indented as much, and are no more than a word, go on with it.
  const string_view indent = text_.substr(line + 1, first - line - 1);
  for (std::size_t next = value.end; at(next) == '\n'; next = value.end) {
    if (!text_.substr(next + 1).starts_with(indent)) {
      break;
    }
    value = word_at(text_, next + 1 + indent.size(), next + 1);
    if (value.begin == value.end || !is_line_over(text_, value.end)) {
      break;
    }
    out_.back().end = at_ = value.end;
  }
  return true;
}

bool AssignmentFinder::container(const NamePart& name, std::size_t begin) {
  const char open = at(begin);
  if (open != '[' && open != '{' && open != '\n') {
    return false;
  }
  const string_view one = singular_secret(name.of(text_));
  if (one.empty()) {
    return false;
  }
  if (open == '\n') {
    return list_of_lines(one, begin);
  }
  const char close = open == '[' ? ']' : '}';
  bool any = false;
  std::size_t next = begin + 1;
  for (std::size_t item = 0; item < kItemsMax && at(next) != close; ++item) {
    next = run_end(text_, next, [](char c) { return is_space(c) || c == ',' || c == '\\'; }, 64);
    if (open == '{') {
      const std::optional<ValuePart> key = quoted_at(text_, next);
      const std::size_t after =
          key ? run_end(
                    text_, key->end, [](char c) { return c == '\\' || is_quote(c) || is_space(c); },
                    8)
              : next;
      if (!key || at(after) != ':') {
        break;
      }
      next = skip_blanks(text_, after + 1);
    }
    const std::optional<ValuePart> value = quoted_at(text_, next);
    if (!value || !value->open_until.empty()) {
      break;
    }
    any = judge(one, *value, ValueForm::kQuoted) || any;
    next = run_end(text_, value->end, [](char c) { return c == '\\' || is_quote(c); }, 8);
    next = run_end(text_, next, is_space, 64);
  }
  at_ = any ? std::max(at_, std::min(next, text_.size())) : at_;
  return any;
}

bool AssignmentFinder::list_of_lines(string_view name, std::size_t begin) {
  bool any = false;
  for (std::size_t item = 0; item < kItemsMax && at(begin) == '\n'; ++item) {
    const std::size_t dash = skip_blanks(text_, begin + 1);
    if (at(dash) != '-' || !is_blank(at(dash + 1))) {
      break;
    }
    const std::size_t first = skip_blanks(text_, dash + 1);
    const std::optional<ValuePart> quoted = quoted_at(text_, first);
    const ValuePart value = quoted ? *quoted : word_at(text_, first, first);
    any = judge(name, value, quoted ? ValueForm::kQuoted : ValueForm::kLiteral) || any;
    begin = run_end(text_, value.end, [](char c) { return c != '\n'; }, 80);
  }
  return any;
}

void AssignmentFinder::remember(string_view word, const ValuePart& value) {
  word = word.substr(word.rfind(' ') + 1);
  if (value.end - value.begin <= kNameSizeMax && value.end > value.begin &&
      kPairNameWords.contains(word)) {
    pair_name_ = value;
  }
}

void AssignmentFinder::call() {
  const std::size_t begin = skip_blanks(text_, at_ + 1);
  const char first = at(begin);
  if (!is_quote(first) && first != '\\') {
    return;
  }
  const NamePart name = name_before(text_, at_);
  if (name.begin == name.end || name.is_quoted) {
    return;
  }
  const std::optional<ValuePart> value = quoted_at(text_, begin);
  if (value && (can_be_secret_name(name.letters) || may_be_key(value->of(text_))) &&
      judge(name.of(text_), *value, ValueForm::kQuoted)) {
    return;
  }
  // `getenv("API_KEY") or "…"`
  const std::size_t close = value ? run_end(text_, value->end, is_quote, 1) : text_.size();
  if (value && at(close) == ')') {
    const std::size_t behind = skip_blanks(text_, close + 1);
    for (const string_view sign : {"or ", "?:", "??"}) {
      if (text_.substr(behind).starts_with(sign)) {
        fallback(name_before(text_, close), behind + sign.size());
      }
    }
  }
}

void AssignmentFinder::pair_of_arguments() {
  if (at_ == 0 || !is_quote(text_[at_ - 1])) {
    return;
  }
  const std::size_t begin = skip_blanks(text_, at_ + 1);
  const NamePart name = name_before(text_, at_);
  if (!is_quote(at(begin)) || name.begin == 0 || !is_quote(text_[name.begin - 1])) {
    return;
  }
  const bool is_option = at(name.begin) == '-';
  if (is_option && name.end - name.begin <= kShortOptionMax) {
    at_ = name.begin;
    short_option();
    at_ = std::max(at_, begin - 1);
    return;
  }
  const std::optional<ValuePart> value = quoted_at(text_, begin);
  if (!(is_option || is_first_argument(text_, name)) ||
      !(can_be_secret_name(name.letters) || (value && may_be_key(value->of(text_))))) {
    return;
  }
  // ["password", "a1", "b2"] is a list of names, not a name and its value.
  if (value && (is_option || at(value->end + 1) != ',')) {
    // `define('DB_PASSWORD', 'word')`, but not ["password", "mail"].
    judge(name.of(text_), *value,
          any_is(name.of(text_), is_lower) ? ValueForm::kQuoted : ValueForm::kMember);
  }
}

void find_assigned(string_view text, Detections& out) { AssignmentFinder(text, out).run(); }

}  // namespace bmad_mem
