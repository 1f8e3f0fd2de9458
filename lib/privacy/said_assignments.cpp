// said_assignments.cpp - finds values in sentences, in SQL and in options of commands.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>

#include "assignment_parts.hpp"
#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

/// Words back from "is" among which the name is looked for: "the password of the database is".
constexpr std::size_t kProseSizeMax = 64;

/// How far back a command stands from its options.
constexpr std::size_t kCommandSizeMax = 200;

/// Whether a word that ends so is more likely a copula than an option: the next word decides.
bool ends_copula(char c) { return c == 's' || c == 'o' || c == 'w'; }

/// Whether the word at `at` has more than letters and what ends a sentence: most have not.
bool is_telling_word(string_view text, std::size_t at) {
  std::size_t end = run_end(text, at, is_letter);
  if (end < text.size() && text[end] == ' ') {
    return false;
  }
  end = run_end(text, end, [](char c) { return string_view(".,;:!?)").contains(c); }, 2);
  return end < text.size() && !is_space(text[end]);
}

/// Whether the word that ends before `end` is an option.
bool is_option_before(string_view text, std::size_t end) {
  constexpr std::size_t kOptionMax = 40;
  const std::size_t begin = run_begin(
      text, end, [](char c) { return is_word_byte(c) || c == '-' || c == '.'; }, kOptionMax);
  assert(begin < text.size() && "a blank is at its end at the latest");
  return text[begin] == '-';
}

/// Whether SQL's IDENTIFIED stands before the BY that begins at `by`.
bool identifies(string_view text, std::size_t by) {
  const string_view before = text.substr(by - std::min<std::size_t>(by, 11), 11);
  return before.starts_with("IDENTIFIED") || before.starts_with("identified");
}

/// `name` with the words after it up to `end`: "the password reset link is" is about a link. But
/// "the password for the server is" is about the password.
NamePart with_what_follows(string_view text, NamePart name, std::size_t end) {
  assert(name.end <= end && end <= text.size());
  const string_view words = text.substr(name.end, end - name.end);
  std::size_t size = words.size();
  for (const string_view preposition :
       {" for ", " of ", " in ", " on ", " at ", " to ", " f\u00fcr "}) {
    size = std::min(size, words.find(preposition));
  }
  name.end += size;
  return name;
}

/// The word before `end` that names a secret, in the same sentence.
NamePart subject_before(string_view text, std::size_t end) {
  const std::size_t first = end - std::min(end, kProseSizeMax);
  const std::size_t subject_end = end;
  const string_view sentence = text.substr(first, end - first);
  if (!may_name_secret(sentence.substr(sentence.find_last_of(".;:\n") + 1))) {  // npos + 1 is 0.
    return {};
  }
  while (end > first) {
    const NamePart name = name_before(text, end);
    if (name.begin == name.end || names_digest(name.of(text))) {
      break;
    }
    if (can_be_secret_name(name.letters) && secret_kind(name.of(text)) != SecretKind::kNone) {
      // "The hash of the password is" tells the hash.
      return names_digest(text.substr(first, name.begin - first))
                 ? NamePart()
                 : with_what_follows(text, name, subject_end);
    }
    // The user, as in "the password for 'ann' is", may be in quotes.
    end = run_begin(text, name.begin, is_quote, 1);
    if (end == 0 || string_view(".;:\n").contains(text[end - 1])) {
      break;
    }
  }
  return {};
}

}  // namespace

void AssignmentFinder::alternative() {
  if (at(at_ + 1) == '|') {
    const NamePart name = name_before(text_, at_);
    at_ += 2;
    constexpr std::size_t kExpressionSizeMax = 80;
    const bool is_near =
        fallback_name_.end > 0 && at_ - fallback_name_.end < kExpressionSizeMax &&
        text_.substr(fallback_name_.end, at_ - fallback_name_.end).find_first_of(";\n") ==
            string_view::npos;
    if (!fallback(name, at_) && is_near) {
      fallback(fallback_name_, at_);
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
  constexpr string_view kDefault = "default(";
  if (text_.substr(begin).starts_with(kDefault)) {
    fallback(name, begin + kDefault.size());
    return;
  }
  const std::optional<ValuePart> quoted = quoted_at(text_, begin);
  judge(name.of(text_), quoted ? *quoted : bare_at(text_, begin, BareEnd::kCode),
        quoted ? ValueForm::kQuoted : ValueForm::kSaid);
}

bool AssignmentFinder::fallback(const NamePart& name, std::size_t begin) {
  begin = skip_blanks(text_, begin);
  if (name.begin == name.end || !is_quote(at(begin))) {
    return false;
  }
  const std::optional<ValuePart> value = quoted_at(text_, begin);
  return value && judge(name.of(text_), *value, ValueForm::kQuoted);
}

bool AssignmentFinder::may_follow_word() const {
  const std::size_t begin = is_blank(at(at_ + 1)) ? skip_blanks(text_, at_ + 1) : at_ + 1;
  return begin < text_.size() && ((at(begin) == '?' && at(begin + 1) == '?') ||
                                  is_telling_word(text_, begin) || is_option_before(text_, at_));
}

void AssignmentFinder::after_word() {
  const std::size_t begin = skip_blanks(text_, at_ + 1);
  const char first = at(begin);
  const bool is_operator = first == '=' || first == ':' || first == '>';
  if (is_operator && is_space(at(begin + 1))) {
    return;  // The operator will look back.
  }
  if (first == '?' && at(begin + 1) == '?') {
    fallback(name_before(text_, at_), begin + 2);  // `process.env.API_KEY ?? "…"`
    return;
  }
  const bool is_quoted = is_quote(at(begin));
  const std::optional<ValuePart> quoted = is_quoted ? quoted_at(text_, begin) : std::nullopt;
  const ValuePart bare = quoted ? *quoted : bare_at(text_, begin, BareEnd::kCode);
  const bool has_digit = any_is(bare.of(text_), is_digit);
  ValuePart whole = word_at(text_, begin, begin);
  if (whole.open_until.empty()) {
    whole.end = end_without(text_, begin, whole.end, ",.;:!?");
  }
  const bool is_drawn = is_scrambled(trimmed(whole.of(text_), "`"));
  if (!has_digit && !is_quoted && !is_drawn && ends_copula(text_[at_ - 1])) {
    return;
  }
  NamePart name = name_before(text_, at_);
  string_view word = name.of(text_);
  if (word.starts_with("-")) {
    const bool is_whole = quoted && quoted->end + 1 >= word_at(text_, begin, name.begin).end;
    // "the option --password matrix of": a manual.
    const ValuePart next = word_at(text_, skip_blanks(text_, bare.end), begin);
    const bool is_prose = kPrepositions.contains(next.of(text_));
    if (can_be_secret_name(name.letters) && !is_prose &&
        (is_whole || !judge_word(name, word, begin, ValueForm::kLiteral))) {
      // Without its dashes: any word after it, as in "--password prompts", would be one.
      assert(word.find_first_not_of('-') != word.npos && "it has letters of a secret's name");
      judge(word.substr(word.find_first_not_of('-')), bare,
            quoted ? ValueForm::kQuoted : ValueForm::kLiteral);
    }
    return;
  }
  const bool is_said = kCopulas.contains(word);
  if (is_operator && !(is_said && is_drawn)) {
    return;
  }
  if (word == "BY" || word == "by") {
    if (quoted && identifies(text_, name.begin)) {
      judge("password", bare, ValueForm::kQuoted);
    }
    return;
  }
  if (is_said) {
    name = subject_before(text_, name.begin);
    word = name.of(text_);
  }
  const bool is_value = has_digit || is_drawn || (quoted && is_chosen_word(bare.of(text_)));
  const SecretKind kind =
      is_value && can_be_secret_name(name.letters) ? secret_kind(word) : SecretKind::kNone;
  // "Pass x to f" is said of anything, "root_pass is x" of a password.
  const bool is_verb = kind == SecretKind::kPass && !word.contains('_');
  if (kind == SecretKind::kNone || is_verb) {
    return;
  }
  if (is_said && is_drawn && !(quoted && quoted->end + 1 >= whole.end)) {
    // Nobody writes code after "the password is".
    judge(word, whole, ValueForm::kLiteral);
    return;
  }
  judge(word, bare, quoted ? ValueForm::kQuoted : is_said ? ValueForm::kSaid : ValueForm::kProse);
}

void AssignmentFinder::short_option() {
  if (at_ == 0 || (!is_blank(text_[at_ - 1]) && !is_quote(text_[at_ - 1]))) {
    return;
  }
  const std::size_t first = at_ - std::min(at_, kCommandSizeMax);
  string_view before = text_.substr(first, at_ - first);
  std::size_t command = before.find_last_of("\n|;");
  while (command != string_view::npos && command > 0 && before.substr(command - 1, 2) == "\\\n") {
    command =
        before.substr(0, command).find_last_of("\n|;");  // After a backslash it is the same line.
  }
  before.remove_prefix(command + 1);  // npos + 1 is 0.
  const string_view rest = text_.substr(at_);
  for (const string_view row : kCommandOptions.words()) {
    const std::size_t how = row.rfind(' ');
    const std::size_t option = row.rfind(' ', how - 1);
    const string_view sign = row.substr(option + 1, how - option - 1);
    const bool is_glued = row.substr(how + 1) == "glued";
    const char after = byte_at(rest, sign.size());
    const bool is_apart = is_blank(after) || after == '\0';
    if (!rest.starts_with(sign) || (is_glued ? is_apart : !is_apart && !is_quote(after)) ||
        !before.contains(row.substr(0, option))) {
      continue;
    }
    // In a list of arguments, `"-p", "…"`.
    const std::size_t begin = run_end(
        text_, at_ + sign.size(),
        [&](char c) { return !is_glued && (is_blank(c) || c == ',' || is_quote(c)); }, 4);
    const bool takes_quote = !is_glued && begin > 0 && is_quote(text_[begin - 1]);
    option_value(takes_quote ? begin - 1 : begin, row.substr(how + 1));
    return;
  }
}

void AssignmentFinder::option_value(std::size_t begin, string_view how) {
  const std::optional<ValuePart> quoted = quoted_at(text_, begin);
  ValuePart value = quoted ? *quoted : bare_at(text_, begin, BareEnd::kLine);
  const ValuePart whole = word_at(text_, begin, begin);
  if (!quoted && is_scrambled(whole.of(text_))) {
    value = whole;
  }
  const char mark = how == "login" ? ':' : how == "percent" ? '%' : how == "comma" ? ',' : '\0';
  if (mark != '\0') {
    const std::size_t user = value.of(text_).find(mark);
    if (user == string_view::npos) {
      return;
    }
    assert(value.begin + user < value.end);
    value.begin += user + 1;
  }
  judge("-password", value, quoted ? ValueForm::kQuoted : ValueForm::kLiteral);
}

}  // namespace bmad_mem
