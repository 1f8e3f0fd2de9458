// spoken_secrets.cpp - what a sentence or a label of any language calls a password.
//
//   пароль: HERE      密码是HERE      le mot de passe est « HERE »      HERE is the password
//   seed phrase: ripple cabin ladder … zebra
//
//   name ──► up to 64 bytes of the same line ──► the first word that can be one ──► judge_value()
#include <algorithm>
#include <cstddef>

#include "assignment_parts.hpp"
#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

bool is_printed(char c) { return c > ' ' && c <= '~'; }

bool ends_sentence(char c) { return string_view(".,;:!?)]}>").contains(c); }

/// Adds `value` when it is a password; false when it isn't. Letters alone may be a word of any
/// language: what is drawn from them is told from words of English only.
bool judge_spoken(StructureScan& scan, const ValuePart& value, ValueForm form) {
  if (all_are(value.of(scan.text), [](char c) { return is_letter(c) || c == '\''; })) {
    return false;
  }
  const std::optional<ValueVerdict> verdict = judge_value("password", value.of(scan.text), form);
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
    word.end = close > begin ? close : word.end;
  } else if (word.end - begin == kWordMax) {
    word.open_until = " \t";
  } else if (!is_scrambled(word.of(text))) {
    while (word.end > begin && ends_sentence(text[word.end - 1])) {
      --word.end;
    }
  }
  return word;
}

}  // namespace

void scan_spoken_password(StructureScan& scan, std::size_t at, std::size_t size) {
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
  int words = 0;
  for (std::size_t i = word_end; i < last && text[i] != '\n' && words < kWordsMax;) {
    const char c = text[i];
    const bool is_wide =
        text.substr(i).starts_with("\uff1a") || text.substr(i).starts_with("\uff1d");
    if (is_wide || ((c == ':' || c == '=') && !is_assigned)) {
      is_assigned = true;
      i += is_wide ? 3 : 1;
    } else if (is_printed(c)) {
      const bool is_quoted = is_quote(c) || text.substr(0, i).ends_with("\u00ab") ||
                             text.substr(0, i).ends_with("\u300c") ||
                             text.substr(0, i).ends_with("\u201c");
      const ValuePart word = spoken_word(text, i);
      const ValueForm form =
          is_assigned ? (is_quoted ? ValueForm::kQuoted : ValueForm::kLiteral) : ValueForm::kSaid;
      if (judge_spoken(scan, word, form)) {
        return;
      }
      ++words;
      i = std::max(word.end, i + 1);
      if (is_assigned && word.end > word.begin) {
        return;  // What stands behind the colon is the value, and none.
      }
    } else {
      ++i;
    }
  }
}

void scan_spoken_copula(StructureScan& scan, std::size_t at, std::size_t size) {
  constexpr std::size_t kReach = 32;
  const string_view text = scan.text;
  const std::size_t begin =
      run_begin(text, at, [](char c) { return c != '\n' && c != '.'; }, kReach);
  if (secret_kind(text.substr(begin, at - begin)) == SecretKind::kPassword) {
    judge_spoken(scan, spoken_word(text, at + size), ValueForm::kSaid);
  }
}

void scan_password_before(StructureScan& scan, std::size_t at, std::size_t /*size*/) {
  constexpr std::size_t kWordMax = 128;
  const string_view text = scan.text;
  const std::size_t end = blanks_begin(text, at, 4);
  const std::size_t begin = run_begin(text, end, is_printed, kWordMax);
  const string_view word = trimmed(text.substr(begin, end - begin), "\"'`(");
  const auto first = static_cast<std::size_t>(word.data() - text.data());
  judge_spoken(scan, {.begin = first, .end = first + word.size()}, ValueForm::kSaid);
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
