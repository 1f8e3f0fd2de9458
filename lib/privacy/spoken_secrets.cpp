// spoken_secrets.cpp - finds passwords that a sentence or a label names, in many languages.
//
//   пароль: HERE      密码是HERE      le mot de passe est « HERE »      HERE is the password
//   seed phrase: ripple cabin ladder … zebra
//   use key HERE for acme      [DEBUG] acme token - 'HERE'
//
//   name ──► up to 64 bytes of the same line ──► the first word that can be one ──► judge_value()
#include <algorithm>
#include <cassert>
#include <cstddef>

#include "assignment_parts.hpp"
#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy_words.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

bool is_printed(char c) { return c > ' ' && c <= '~'; }

bool ends_sentence(char c) { return string_view(".,;:!?)]}>").contains(c); }

/// Whether a sentence, or a part of it, ends at `at`.
bool is_sentence_over(string_view text, std::size_t at) {
  const std::size_t next = blanks_end(text, at, 4);
  const std::size_t end = run_end(text, next, is_letter, 4);
  return next >= text.size() || ends_sentence(text[next]) || is_quote(text[next]) ||
         text[next] == '\n' || has_word("and or but und et y", text.substr(next, end - next));
}

/// Adds `value` when it is a password; false when it isn't. Letters alone may be a word of any
/// language: what is drawn from them is told from words of English only. A word that people choose
/// is one after a colon; it and a number are where `is_said`, and the sentence ends with them; any
/// is as `the password is "centipede"`, with form kMember.
bool judge_spoken(StructureScan& scan, const ValuePart& value, ValueForm form, bool is_said = false,
                  string_view name = "password") {
  constexpr std::size_t kSizeMin = 4;
  constexpr std::size_t kSizeMax = 32;
  const string_view text = value.of(scan.text);
  const bool is_quoted = form == ValueForm::kMember;
  const bool is_word = all_are(text, [&](char c) {
    return is_letter(c) || c == '\'' || (is_quoted && (c == '-' || c == '_'));
  });
  if (is_word || (form == ValueForm::kSaid && all_are(text, is_digit))) {
    const bool is_known =
        is_common_password(text) || (text.size() >= kSizeMin && text.size() <= kSizeMax &&
                                     (is_quoted ? !is_unfilled(text) : !is_word));
    const bool is_password =
        is_known &&
        (form != ValueForm::kSaid ||
         (is_said && is_sentence_over(scan.text, value.end) && !kPlaceholderWords.contains(text)));
    if (is_password) {
      scan.add(value.begin, value.end, rule_of(SecretKind::kPassword));
    }
    return is_password;
  }
  form = is_scrambled(text) ? ValueForm::kLiteral : form;
  const std::optional<ValueVerdict> verdict = judge_value(name, value.of(scan.text), form);
  if (!verdict || verdict->action != DetectionAction::kSecret) {
    return false;
  }
  scan.add(value.begin, real_end(scan.text, value), verdict->rule);
  return true;
}

/// The word of printed ASCII at `at`, without quotes around it and what ends a sentence.
ValuePart spoken_word(string_view text, std::size_t at) {
  constexpr std::size_t kWordMax = 512;
  const std::size_t begin = run_end(text, at, is_quote, 2);
  ValuePart word{.begin = begin, .end = run_end(text, begin, is_printed, kWordMax)};
  if (begin > at) {
    const std::size_t close = text.substr(0, word.end).rfind(text[begin - 1]);
    // Or a phrase of several words.
    word.end = close >= begin ? close : quoted_at(text, begin - 1).value_or(word).end;
    word.end = begin + trimmed(word.of(text), "\"'`").size();
  } else if (word.end - begin == kWordMax) {
    word.open_until = " \t";
  } else {
    while (word.end > begin && ends_sentence(text[word.end - 1]) &&
           (string_view(",.;:").contains(text[word.end - 1]) || !is_scrambled(word.of(text)))) {
      --word.end;
    }
  }
  assert(word.begin <= word.end && word.end <= text.size());
  return word;
}

/// What stands around a drawn value.
struct ValueContext {
  unsigned words = 0;
  unsigned before = 0;      ///< Of those, what stands before it in its line.
  bool is_marked = false;   ///< It is in quotes or brackets, or in a line of its own.
  bool is_padded = false;   ///< '=' follows: base64.
  bool is_address = false;  ///< It is a part of one.
  bool is_said = false;     ///< "key" stands right before it, without an operator.
};

/// Whether `value` is drawn, so that the words near it decide.
bool is_drawn_by(const ValueContext& near, string_view value) {
  const bool is_secret = (near.words & kNearSecret) != 0;
  const bool is_key = (near.words & kNearKey) != 0;
  const bool is_service = (near.words & kNearService) != 0 && !near.is_address;
  const Shape shape = shape_of(value);
  if (shape.digits < 2 || shape.lower + shape.upper < 2) {
    return false;
  }
  if (all_are(value, [](char c) { return is_hex_digit(c) || c == '-'; })) {
    const bool is_uuid = has_layout(value, kUuidLayout);
    // A hash of git may be in or before a sentence about secrets.
    constexpr std::size_t kGitHashSize = 40;
    const bool is_near =
        (near.before & kNearSecret) != 0 || (is_service && (is_uuid || is_key || near.is_marked));
    return (is_uuid || !value.contains('-')) && shannon_entropy(value) >= 2.8 &&
           (near.is_said || (is_near && value.size() != kGitHashSize));
  }
  // "linux-build-3f8a1c9e7b2d4056": a name with a hash.
  const std::size_t last = value.find_last_of("-_") + 1;  // npos + 1 is 0.
  constexpr std::size_t kShortHashMax = 16;
  if (last > 0 && value.size() - last <= kShortHashMax &&
      all_are(value.substr(last), is_hex_digit) &&
      all_are(value.substr(0, last), [](char c) { return is_lower(c) || c == '-' || c == '_'; })) {
    return false;
  }
  const double bits = randomness_bits(value);
  const bool has_all = shape.lower > 0 && shape.upper > 0;
  return bits >= 2 * kRandomBits && !is_own_id(value) &&
         (is_secret ||
          (is_key && (has_all || bits >= 3 * kRandomBits) && (is_service || !near.is_padded)) ||
          (is_service && !near.is_padded &&
           (near.is_marked || all_are(value, is_alnum) || bits >= 7 * kRandomBits)));
}

}  // namespace

void find_near(string_view text, std::size_t begin, std::size_t end, Detections& out) {
  assert(begin < end && end <= text.size());
  constexpr std::size_t kReach = 40;
  constexpr std::size_t kSizeMax = 256;
  const string_view value = text.substr(begin, end - begin);
  const char before = byte_before(text, begin);
  const bool is_known = kDrawnForms.any([&](string_view form) { return has_layout(value, form); });
  if (!is_known &&
      (value.size() > kSizeMax || !any_is(value, is_digit) || byte_at(text, end) == '(' ||
       (before != '\0' && string_view("/.@#%&$\\").contains(before)))) {
    return;
  }
  // The line before counts where nothing stands before the value in its own.
  const auto is_mark = [](char c) { return !is_alnum(c) && is_ascii(c); };
  const std::size_t word = run_begin(text, begin, is_mark, kReach);
  const std::size_t line = run_begin(
      text, word, [](char c) { return c != '\n'; }, kReach - std::min(kReach, begin - word));
  const string_view after =
      text.substr(end, run_end(text, end, [](char c) { return c != '\n'; }, kReach / 2) - end);
  string_view context = text.substr(line, begin - line);
  // What an earlier redaction left there says nothing.
  const string_view wide =
      text.substr(begin - std::min(begin, 2 * kReach), std::min(begin, 2 * kReach));
  const std::size_t close = wide.rfind(']');
  if (close != string_view::npos && wide.substr(0, close).contains("REDACTED:")) {
    context.remove_prefix(context.size() - std::min(context.size(), wide.size() - close));
  }
  const string_view marks = text.substr(word, begin - word);
  if (!is_known &&
      kDigestPrefixes.any([&](string_view prefix) { return ends_folded(context, prefix); })) {
    return;
  }
  ValueContext near{
      .words = near_words(context) | near_words(after.substr(0, after.find("[REDACTED"))),
      .before = near_words(context.substr(context.rfind('\n') + 1)),
      .is_marked = is_quote(before) || before == '(' || marks.contains('\n'),
      .is_padded = byte_at(text, end) == '=',
      .is_address = before == '=' && context.contains("://"),
      .is_said =
          ends_folded(text.substr(0, word), "key") && marks.find_first_of("=:") == marks.npos};
  // `new Acme("HERE")`, `AcmeClient('HERE')`.
  if (is_quote(before) && marks.contains('(') && any_is(value, is_lower) &&
      (context.contains("new ") || context.contains("lient") || context.contains("onnect"))) {
    near.words |= kNearKey;
  }
  if (is_known ||
      ((near.words & kNearPublic) == 0 && near.words != 0 && is_drawn_by(near, value))) {
    out.push_back({.begin = begin, .end = end, .rule = "generic-secret"});
  }
}

void scan_spoken(StructureScan& scan, std::size_t at, std::size_t size, string_view name,
                 bool is_english) {
  assert(size > 0 && at + size <= scan.text.size());
  constexpr std::size_t kReach = 64;
  constexpr int kWordsMax = 6;
  const string_view text = scan.text;
  // Endings of cases: "lösenordet", "şifreniz". Words of ASCII alone are parts of too many others.
  constexpr std::size_t kEndingMax = 4;
  const bool is_ascii_only = all_are(text.substr(at, size), is_ascii);
  const std::size_t word_end = run_end(text, at + size, is_lower, is_ascii_only ? 0 : kEndingMax);
  if ((is_letter(text[at]) && is_word_byte(byte_before(text, at))) ||
      (is_letter(text[word_end - 1]) && is_word_byte(byte_at(text, word_end)))) {
    return;
  }
  const std::size_t last = std::min(text.size(), at + size + kReach);
  bool is_assigned = false;
  string_view before;
  int words = 0;
  for (std::size_t i = word_end; i < last && text[i] != '\n' && words < kWordsMax + is_english;) {
    const char c = text[i];
    const bool is_wide =
        text.substr(i).starts_with("\uff1a") || text.substr(i).starts_with("\uff1d");
    if (is_wide || ((c == ':' || c == '=') && !is_assigned)) {
      if (is_english && (words == 0 || c != ':')) {
        return;  // find_assigned() knows better, in code as well.
      }
      is_assigned = true;
      i += is_wide ? 3 : 1;
    } else if (is_printed(c)) {
      const bool is_quoted = is_quote(c) || text.substr(0, i).ends_with("\u00ab") ||
                             text.substr(0, i).ends_with("\u300c") ||
                             text.substr(0, i).ends_with("\u201c");
      const ValuePart word = spoken_word(text, i);
      // "the password to oracle."
      const bool is_said =
          kCopulas.contains(before) && (is_quoted || !kPrepositions.contains(before));
      const ValueForm form = is_quoted && is_said && is_english ? ValueForm::kMember
                             : !is_assigned                     ? ValueForm::kSaid
                             : is_quoted                        ? ValueForm::kQuoted
                                                                : ValueForm::kLiteral;
      before = word.of(text);
      if (is_english && words == 0 && !kCopulas.contains(before) &&
          !kPrepositions.contains(before)) {
        return;
      }
      if ((is_said || is_assigned || !is_english) &&
          judge_spoken(scan, word, form, is_said, name)) {
        return;
      }
      ++words;
      i = run_end(text, std::max(word.end, i + 1), is_quote, 1);
      if (is_assigned && word.end > word.begin) {
        return;  // What stands behind the colon is the value, and none.
      }
    } else {
      ++i;
    }
  }
}

void scan_named_password(StructureScan& scan, std::size_t at, std::size_t size) {
  const string_view text = scan.text;
  const auto is_sign = [](char c) { return !is_alnum(c) && is_ascii(c) && c != '\n'; };
  const char after = byte_at(text, at + size);
  const bool is_longer =
      is_word_byte(after) || (after == '-' && is_alnum(byte_at(text, at + size + 1)));
  if ((is_lower(text[at]) && is_alnum(byte_before(text, at))) ||
      (is_alnum(text[at + size - 1]) && is_longer)) {
    return;
  }
  scan_spoken(scan, at, size, "password", true);
  const std::size_t begin = run_end(text, at + size, is_sign, 16);
  ValuePart word{
      .begin = begin,
      .end = run_end(
          text, begin, [](char c) { return is_printed(c) && !is_quote(c) && c != '|'; }, 64)};
  word.end = end_without(text, begin, word.end, ".,;:!?)]}>\\");
  const string_view value = word.of(text);
  const bool is_drawn =
      is_scrambled(value) || (any_is(value, is_digit) && any_is(value, is_letter) &&
                              randomness_bits(value) >= 2 * kRandomBits);
  const bool is_code =
      value.find_first_of("(){}[]<>;,\\/") != string_view::npos || contains_folded(value, "pass");
  if (is_drawn && !is_code) {
    judge_spoken(scan, word, ValueForm::kLiteral);
  }
}

void scan_password_before(StructureScan& scan, std::size_t at, std::size_t /*size*/) {
  constexpr std::size_t kWordMax = 128;
  const string_view text = scan.text;
  const std::size_t end = blanks_begin(text, at, 4);
  const std::size_t begin = run_begin(text, end, is_printed, kWordMax);
  const string_view word = trimmed(text.substr(begin, end - begin), "\"'`(");
  judge_spoken(scan, place_of(text, word), ValueForm::kSaid);
}

void scan_seed_phrase(StructureScan& scan, std::size_t at, std::size_t size) {
  constexpr std::size_t kReach = 48;
  constexpr std::size_t kWordsMin = 12;
  constexpr std::size_t kWordsMax = 24;
  const string_view text = scan.text;
  // What stands between: "for the wallet is:", a line break, a quote.
  const std::size_t mark = text.substr(0, std::min(text.size(), at + size + kReach))
                               .find_first_of(":=\"'\n|", at + size);
  if (at < scan.seed_phrase_end || mark == string_view::npos) {
    return;
  }
  const auto between = [](char c) {
    return is_space(c) || is_digit(c) || is_quote(c) || string_view(":=|,.)[>*-").contains(c);
  };
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t words = 0;
  for (std::size_t i = run_end(text, mark, between, kReach); words < kWordsMax;) {
    const std::size_t word_end = run_end(text, i, is_lower, 9);
    const string_view word = text.substr(i, word_end - i);
    const bool is_prose = has_word("the and for with from are your not", word);
    if (word.size() < 3 || word.size() > 8 || is_prose || is_word_byte(byte_at(text, word_end))) {
      break;
    }
    first = words == 0 ? i : first;
    end = word_end;
    ++words;
    i = run_end(text, word_end, between, 8);
    if (i == word_end) {
      break;
    }
  }
  if (words >= kWordsMin) {
    scan.add(first, end, "generic-secret");
    scan.seed_phrase_end = end;
  }
}

}  // namespace bmad_mem
