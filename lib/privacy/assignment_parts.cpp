// assignment_parts.cpp - finds the name before an operator and the bounds of the value after it.
#include "assignment_parts.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

/// Columns of aligned assignments are no wider apart.
constexpr std::size_t kBlanksMax = 48;

/// Of a longer value without quotes its begin is judged; bounds the cost of an operator.
constexpr std::size_t kBareSizeMax = 512;

/// What a byte can be, as bits: this is where the time goes.
enum ByteBits : unsigned { kInName = 1, kEndsLine = 2, kEndsCode = 4, kEndsQuery = 8 };

constexpr auto kByteBits = [] {
  std::array<std::uint8_t, 256> bits = {};
  for (unsigned i = 0; i < bits.size(); ++i) {
    const char c = static_cast<char>(i);
    const bool in_name =
        is_alnum(c) || c == '_' || c == '-' || c == '.' || c == '$' || !is_ascii(c);
    const bool ends_line = i <= ' ' || is_quote(c);
    const bool ends_code = ends_line || std::string_view(",;)]}<>\\|").contains(c);
    const bool ends_query = ends_code || c == '&' || c == '#';
    bits[i] =
        static_cast<std::uint8_t>((in_name ? kInName : 0U) | (ends_line ? kEndsLine : 0U) |
                                  (ends_code ? kEndsCode : 0U) | (ends_query ? kEndsQuery : 0U));
  }
  return bits;
}();

/// The bit of a letter, and kNameByte for all that names have.
constexpr LetterSet kNameByte = 1U << 30U;
constexpr auto kNameBits = [] {
  std::array<LetterSet, 256> bits = {};
  for (unsigned i = 0; i < bits.size(); ++i) {
    bits[i] = letter_bit(static_cast<char>(i)) | ((kByteBits[i] & kInName) != 0 ? kNameByte : 0U);
  }
  return bits;
}();

bool has_bit(char c, unsigned bit) { return (kByteBits[static_cast<unsigned char>(c)] & bit) != 0; }

/// Before what may close a name: quotes, backslashes before them, marks of Markdown, '?', '!'.
std::size_t closers_before(std::string_view text, std::size_t end, bool& is_quoted) {
  constexpr std::size_t kClosersMax = 12;
  for (std::size_t i = 0; i < kClosersMax && end > 0; ++i) {
    const char c = text[end - 1];
    if (is_quote(c)) {
      is_quoted = true;
    } else if (c != '\\' && c != '*' && c != '?' && c != '!') {
      break;
    }
    --end;
  }
  return end;
}

/// The run of characters of names before `end`.
NamePart run_before(std::string_view text, std::size_t end) {
  assert(end <= text.size());
  NamePart name{{.begin = end, .end = end}};
  const std::size_t first = end - std::min(end, kNameSizeMax + 1);
  while (name.begin > first) {
    const LetterSet bits = kNameBits[static_cast<unsigned char>(text[name.begin - 1])];
    if ((bits & kNameByte) == 0) {
      break;
    }
    --name.begin;
    name.letters |= bits;
  }
  name.letters &= ~kNameByte;
  assert(name.begin <= name.end && name.end - name.begin <= kNameSizeMax + 1);
  // In a text that was escaped, "\nPASSWORD": the letter belongs to the backslash.
  if (name.begin > 0 && name.begin < name.end && text[name.begin - 1] == '\\' &&
      std::string_view("nrt").contains(text[name.begin])) {
    ++name.begin;
  }
  return name;
}

/// "key", "string" and such say nothing without the word before: "API key", "connection string".
bool wants_word_before(std::string_view name) {
  return name.size() >= 3 && name.size() <= 6 && kCompoundEnds.contains(name);
}

/// Types that stand between a name and its '=': `let key: &str = "…"`, `key: string = "…"`.
bool is_type(std::string_view name) {
  return name.size() >= 3 && name.size() <= 9 && kTypeNames.contains(name);
}

/// The name with the word before it, as in "API key". A run of words costs one word.
NamePart with_word_before(std::string_view text, NamePart name) {
  if (name.begin < 2 || text[name.begin - 1] != ' ' || !is_letter(text[name.begin - 2]) ||
      !wants_word_before(name.of(text))) {
    return name;
  }
  const NamePart before = run_before(text, name.begin - 1);
  name.begin = before.begin;
  name.letters |= before.letters;
  return name;
}

/// `key: string` before '=': the name is before the ':', or before a blank in Go and C.
NamePart name_before_type(std::string_view text, NamePart type) {
  std::size_t at =
      run_begin(text, type.begin, [](char c) { return std::string_view("&*' ").contains(c); }, 4);
  if (at > 0 && text[at - 1] == ':') {
    bool is_quoted = false;
    at = closers_before(text, blanks_begin(text, at - 1, kBlanksMax), is_quoted);
    return run_before(text, at);
  }
  // Go's `const Token string = "…"`.
  return at > 0 && at < type.begin && is_alnum(text[at - 1]) ? run_before(text, at) : type;
}

/// Before "[32]", or after the quote in `["KEY"]`.
std::size_t brackets_before(std::string_view text, std::size_t end) {
  if (end < 2 || text[end - 1] != ']') {
    return end;
  }
  if (is_quote(text[end - 2])) {
    return end - 1;
  }
  const std::size_t first = end - std::min<std::size_t>(end, 40);
  const std::size_t open = text.substr(first, end - first).rfind('[');
  return open == std::string_view::npos ? end : first + open;
}

bool is_string_prefix(char c) { return std::string_view("rbfuLRBFU@$").contains(c); }

/// "-Password" of PowerShell, not the "-Ppassword" of Gradle.
bool is_option_of_shell(std::string_view word) {
  return word.starts_with("-Pass") || word.starts_with("-Priv");
}

/// Whether "name=" or "User Id=" stands at `at`, as in queries and connection strings; with one of
/// `signs` behind the name.
bool begins_pair(std::string_view text, std::size_t at, std::string_view signs) {
  constexpr std::size_t kNameMax = 32;
  const std::size_t end = run_end(
      text, std::min(at, text.size()),
      [](char c) { return is_word_byte(c) || c == ' ' || c == '-'; }, kNameMax);
  return end > at && is_letter(text[at]) && end < text.size() && signs.contains(text[end]);
}

/// "gooseberry", "correct-horse-battery-staple": words in lower case, none of which is of a field
/// or of a sentence.
bool is_chain_of_words(std::string_view value) {
  constexpr std::size_t kJoinedMin = 14;  // "thisismypassword"
  const bool is_single = all_are(value, is_lower);
  if (!(is_single && value.size() >= kJoinedMin) && kFieldParts.any([&](std::string_view part) {
        return value.contains(part) && !(is_single && part == "secret");
      })) {
    return false;
  }
  return !any_word(
      value,
      [&](std::string_view word) {
        return word.size() < 2 || !all_are(word, is_lower) || kAboutWords.contains(word) ||
               (is_single && kPlainWords.contains(word));
      },
      value.contains('-') ? '-' : '_');
}

/// Whether a quote `sign` is open at the end of `text`. That of "don't" or of 6" opens none.
bool has_open_quote(std::string_view text, char sign) {
  bool is_open = false;
  for (std::size_t i = text.find(sign); i < text.size(); i = text.find(sign, i + 1)) {
    const bool follows = is_word_byte(byte_before(text, i)) &&
                         (!is_string_prefix(text[i - 1]) || is_word_byte(byte_before(text, i - 1)));
    const bool is_inside = !is_open || (sign == '\'' && is_word_byte(byte_at(text, i + 1)));
    is_open = is_open != !(follows && is_inside);
  }
  return is_open;
}

}  // namespace

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  return at < text.size() ? blanks_end(text, at, kBlanksMax) : at;
}

NamePart name_before(std::string_view text, std::size_t end) {
  bool is_quoted = false;
  assert(end <= text.size());
  end = brackets_before(text, blanks_begin(text, end, kBlanksMax));
  end = closers_before(text, end, is_quoted);
  NamePart name = run_before(text, end);
  const std::string_view word = name.of(text);
  if (word.starts_with("-D") || (word.starts_with("-P") && !is_option_of_shell(word))) {
    name.begin += 2;  // What defines properties and macros on a command line.
  }
  name.is_quoted = is_quoted;
  if (!is_quoted && is_type(name.of(text))) {
    name = name_before_type(text, name);
  }
  return with_word_before(text, name);
}

std::optional<ValuePart> quoted_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || is_digit(text[at]) || is_space(text[at])) {
    return std::nullopt;
  }
  if (at + 1 < text.size() && is_string_prefix(text[at]) && is_quote(text[at + 1])) {
    ++at;
  }
  const std::size_t escapes_begin = at;
  assert(escapes_begin < text.size());
  at = run_end(text, at, [](char c) { return c == '\\'; }, 8);
  if (at >= text.size() || !is_quote(text[at])) {
    return std::nullopt;
  }
  const std::size_t escapes = at - escapes_begin;
  const char quote = text[at];
  if (escapes == 0 && byte_at(text, at + 1) == quote && byte_at(text, at + 2) == quote) {
    // Three quotes: a word, on lines of its own or not.
    const std::size_t begin = run_end(text, at + 3, is_space, 64);
    const std::size_t end =
        run_end(text, begin, [&](char c) { return !is_space(c) && c != quote; }, kValueSizeMax);
    const std::size_t close = run_end(text, end, is_space, 64);
    if (end > begin && byte_at(text, close) == quote && byte_at(text, close + 1) == quote) {
      return ValuePart{.begin = begin, .end = end};
    }
  }
  const std::size_t begin = at + 1;
  const std::size_t last = std::min(text.size(), begin + kValueSizeMax);
  std::size_t slashes = 0;
  std::size_t i = begin;
  for (; i < last && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++slashes;
      continue;
    }
    // YAML, SQL and Pascal write a quote twice.
    if (text[i] == '\'' && quote == '\'' && i > begin && i + 1 < last && text[i + 1] == '\'' &&
        slashes == 0 && escapes == 0) {
      ++i;
      continue;
    }
    // Within quotes without escapes, an odd number of backslashes escapes the quote.
    if (text[i] == quote && (escapes > 0 ? slashes <= escapes : slashes % 2 == 0)) {
      const std::size_t end = i - (escapes > 0 ? slashes : 0);
      return ValuePart{.begin = begin, .end = std::max(begin, end)};
    }
    slashes = 0;
  }
  if (i == last && i < text.size()) {
    constexpr std::string_view kQuotes = "\"'`";
    return ValuePart{
        .begin = begin, .end = i, .open_until = kQuotes.substr(kQuotes.find(quote), 1)};
  }
  return std::nullopt;
}

bool container_begins(std::string_view text, std::size_t at) {
  assert(at < text.size() && text[at] == '{');
  const std::optional<ValuePart> key = quoted_at(text, at + 1);
  if (!key) {
    return false;
  }
  const std::size_t after =
      run_end(text, key->end, [](char c) { return c == '\\' || is_quote(c) || is_blank(c); }, 8);
  return after < text.size() && text[after] == ':';
}

bool is_line_over(std::string_view text, std::size_t at) {
  at = blanks_end(text, at, 16);
  const char c = byte_at(text, at);
  return at >= text.size() || c == '\n' || c == '\r' || c == '#';
}

bool begins_call(std::string_view value) {
  const std::size_t end =
      run_end(value, 0, [](char c) { return is_word_byte(c) || c == '.' || c == ':'; });
  return end > 1 && end < value.size() && (value[end] == '(' || value[end] == '[');
}

std::size_t real_end(std::string_view text, const ValuePart& value) {
  if (value.open_until.empty()) {
    return value.end;
  }
  return run_end(text, value.end,
                 [&](char c) { return c != '\n' && c != '\r' && !value.open_until.contains(c); });
}

ValuePart word_at(std::string_view text, std::size_t at, std::size_t name_begin) {
  assert(at <= text.size() && name_begin <= text.size());
  constexpr std::size_t kLineMax = 160;
  // The quotes that are open before the name, as in `"--password=x"`, end it.
  const auto before = [&] {
    const std::size_t line =
        run_begin(text, name_begin, [](char c) { return c != '\n'; }, kLineMax);
    return text.substr(line, name_begin - line);
  };
  constexpr std::size_t kQuotesMax = 4;
  std::size_t quotes = 0;
  ValuePart word{.begin = at, .end = at};
  const std::size_t last = std::min(text.size(), at + (kBareSizeMax / 2));
  for (; word.end < last && static_cast<unsigned char>(text[word.end]) > ' '; ++word.end) {
    const char c = text[word.end];
    const bool is_line_break = c == '\\' && word.end + 1 < text.size() && text[word.end + 1] == 'n';
    if ((c == ';' || c == '&' || is_line_break) &&
        (is_line_break ? begins_pair(text, blanks_end(text, word.end + 2), "=:")
                       : begins_pair(text, word.end + 1, "="))) {
      return word;
    }
    const bool is_escaped = c == '\\' && word.end + 1 < text.size() && text[word.end + 1] == '"';
    if (quotes < kQuotesMax && (is_quote(c) || is_escaped)) {
      ++quotes;
      if (is_escaped ? before().contains("\\\"") : has_open_quote(before(), c)) {
        return word;
      }
    }
  }
  if (word.end == last && last < text.size()) {
    word.open_until = " \t";
  }
  return word;
}

ValuePart bare_at(std::string_view text, std::size_t at, BareEnd end) {
  ValuePart value{.begin = at, .end = at};
  assert(at <= text.size());
  const std::size_t last = std::min(text.size(), at + kBareSizeMax);
  const unsigned stop = end == BareEnd::kLine   ? kEndsLine
                        : end == BareEnd::kCode ? kEndsCode
                                                : kEndsQuery;
  while (value.end < last && !has_bit(text[value.end], stop)) {
    const bool is_second_pair = end != BareEnd::kLine && text[value.end] == '=' &&
                                value.end + 1 < last && is_alnum(text[value.end + 1]);
    if (is_second_pair) {
      break;
    }
    ++value.end;
  }
  if (value.end == last && last < text.size()) {
    value.open_until = end == BareEnd::kLine ? " \t\"'`" : " \t\"'`,;)]}<>\\|&";
    return value;
  }
  value.end = end_without(text, at, value.end, ",;.)]}:");
  return value;
}

bool may_have_rule(std::string_view value) {
  static constexpr auto kFits = [] {
    std::array<bool, 256> fits{};
    for (std::size_t c = 0; c < fits.size(); ++c) {
      const char each = static_cast<char>(c);
      fits[c] = is_alnum(each) || std::string_view("_-.+/=:~").contains(each);
    }
    return fits;
  }();
  value = value.substr(0, kValueSizeMax);
  return value.size() >= 8 &&
         all_are(value, [](char c) { return kFits[static_cast<unsigned char>(c)]; }) &&
         any_is(value, is_digit);
}

bool is_of_settings(SecretKind kind, std::string_view name, std::string_view value,
                    ValueForm form) {
  constexpr std::size_t kSizeMin = 6;
  constexpr std::size_t kSizeMax = 40;
  if (form > ValueForm::kLiteral || value.size() > kSizeMax ||
      (kind != SecretKind::kPassword && kind != SecretKind::kPass)) {
    return false;
  }
  const bool is_option = name.starts_with('-');
  const bool is_variable =
      all_are(name, [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
  if (is_option || is_variable ? is_common_password(value) : is_chosen_word(value)) {
    return true;
  }
  const bool is_member = form == ValueForm::kMember || name.starts_with("--");
  // "RESET_PASSWORD": the words of a message.
  if (kind == SecretKind::kPass || is_unfilled(value) ||
      (is_member &&
       kActionWords.any([&](std::string_view word) { return starts_folded(name, word); }))) {
    return false;
  }
  if (is_member || form == ValueForm::kQuoted) {
    return (is_member || !all_are(value, is_lower) || value.size() >= 14) &&
           is_chain_of_words(value);
  }
  return is_variable && value.size() >= kSizeMin && (name.contains('_') || name == "PGPASSWORD") &&
         is_letter(value.front()) && any_is(value, is_lower) &&
         all_are(value, [](char c) { return is_alnum(c) || c == '_' || c == '-' || c == '!'; });
}

bool ends_replaced_id(std::string_view text, const ValuePart& value) {
  constexpr std::size_t kRuleSizeMax = 64;
  if (value.begin == 0 || text[value.begin - 1] != ':') {
    return false;
  }
  const std::size_t rule = run_begin(
      text, value.begin - 1, [](char c) { return is_word_byte(c) || c == '-'; }, kRuleSizeMax);
  return text.substr(0, rule).ends_with("REDACTED:");
}

}  // namespace bmad_mem
