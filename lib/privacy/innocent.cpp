// innocent.cpp - recognizes texts that look random and are public, placeholders, or common words.
#include "innocent.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "bmad_mem/text.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

bool is_uuid(std::string_view text) {
  return has_layout(is_enclosed(text, "{", "}") ? text.substr(1, text.size() - 2) : text,
                    kUuidLayout);
}

bool is_hash(std::string_view text) {
  const bool has_size = (text.size() >= 7 && text.size() <= 40) || text.size() == 56 ||
                        text.size() == 64 || text.size() == 96 || text.size() == 128;
  return has_size && all_are(text, is_hex_digit);
}

bool is_crockford(char c) {
  const char lower = to_lower(c);
  return is_alnum(c) && lower != 'i' && lower != 'l' && lower != 'o' && lower != 'u';
}

bool is_ulid(std::string_view text) {
  return text.size() == 26 && text.front() <= '7' && all_are(text, is_crockford);
}

bool is_digest(std::string_view lower) {
  return kDigestPrefixes.any([&](std::string_view each) { return lower.starts_with(each); });
}

/// W/"…" and "…" with its quotes, as servers send it; and traceparent.
bool is_etag_or_trace(std::string_view text) {
  return text.starts_with("W/\"") || (text.size() > 2 && is_enclosed(text, "\"", "\"")) ||
         has_layout(text, "hh-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh");
}

/// Numbers, dates, versions, colours, ranges: digits and what stands between them.
bool is_number_like(std::string_view text) {
  assert(!text.empty());
  if (text.front() == '#') {
    const std::string_view digits = text.substr(1);
    return digits.size() >= 3 && digits.size() <= 8 && all_are(digits, is_hex_digit);
  }
  if (text.starts_with("0x") && text.size() <= 18) {
    return all_are(text.substr(2), is_hex_digit);
  }
  if (text.size() > 1 && text.front() == 'v' && is_digit(text[1])) {
    text.remove_prefix(1);
  }
  if (!is_digit(text.front()) && text.front() != '-' && text.front() != '+') {
    return false;
  }
  std::size_t letters = 0;
  for (const char c : text) {
    if (is_letter(c)) {
      ++letters;
    } else if (!is_digit(c) && !std::string_view("-+.,:/_% ").contains(c)) {
      return false;
    }
  }
  const bool is_time = text.size() > 10 && text[4] == '-' && text[10] == 'T';
  return letters == 0 || is_time || (letters <= 6 && randomness_bits(text) < kRandomBits);
}

/// "^2.1.0", ">=1.2", "~3.x", "2.0.0-rc.1": what packages ask for.
bool is_version_range(std::string_view text) {
  const std::size_t operators = std::min(text.find_first_not_of("^~<>=v "), text.size());
  text.remove_prefix(operators);
  const std::size_t end = std::min(text.find('-'), text.size());
  const std::string_view numbers = text.substr(0, end);
  return !numbers.empty() && is_digit(numbers.front()) && numbers.contains('.') &&
         all_are(numbers, [](char c) { return is_digit(c) || c == '.' || c == 'x' || c == '*'; }) &&
         all_are(text.substr(end),
                 [](char c) { return is_lower(c) || is_digit(c) || c == '.' || c == '-'; }) &&
         text.size() - end <= 16;
}

bool is_address(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme != std::string_view::npos && scheme > 1) {
    // The user's part of an address ends before the first '/': what is after is not a password.
    const std::size_t host = scheme + 3;
    const std::string_view authority = text.substr(host, text.find('/', host) - host);
    const std::size_t at = authority.find('@');
    return at == std::string_view::npos || !authority.substr(0, at).contains(':');
  }
  return text.starts_with("data:") || text.starts_with("mailto:") || text.starts_with("urn:");
}

/// Paths, hosts, e-mails, identifiers: words and what joins them.
bool is_written(std::string_view text) {
  const bool has_alphabet = all_are(text, [](char c) {
    return is_alnum(c) || std::string_view("_-./:@~+*#$\\ ,").contains(c) || !is_ascii(c);
  });
  return has_alphabet && randomness_bits(text) < kRandomBits / 2;
}

/// Nothing longer is a placeholder; keeps long texts from being copied.
constexpr std::size_t kPlaceholderSizeMax = 256;

/// "a", "a_b", "a.b-c": what templates and references name.
bool is_reference_name(std::string_view text) {
  return !text.empty() && (is_letter(text.front()) || text.front() == '_') &&
         all_are(text, [](char c) { return is_word_byte(c) || c == '.' || c == '-'; }) &&
         randomness_bits(text) < kRandomBits;
}

/// Whether `text` has `open` and, after it, `close`.
bool has_enclosed(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t begin = text.find(open);
  return begin != std::string_view::npos &&
         text.find(close, begin + open.size()) != std::string_view::npos;
}

/// "<token>" somewhere, with words in it: "Bearer <your token>".
bool has_angle_name(std::string_view text) {
  const std::size_t begin = text.find('<');
  if (begin == std::string_view::npos) {
    return false;
  }
  const std::size_t end = text.find('>', begin);
  return end != std::string_view::npos && end > begin + 1 && is_letter(text[begin + 1]) &&
         randomness_bits(text.substr(begin + 1, end - begin - 1)) < kRandomBits;
}

bool is_template(std::string_view text) {
  const auto is_around = [&](std::string_view row) {
    const auto [open, close] = marks_of(row);
    return is_enclosed(text, open, close);
  };
  const auto is_within = [&](std::string_view row) {
    const auto [open, close] = marks_of(row);
    return has_enclosed(text, open, close);
  };
  if (kTemplateEnds.any(is_around) || kTemplateMarks.any(is_within) || text.contains("[REDACTED") ||
      has_angle_name(text)) {
    return true;
  }
  if (text.starts_with("${") || text.starts_with("{{") || text.starts_with("$(")) {
    return true;  // What a blank cut off: "${{ secrets.X }}".
  }
  if (text.starts_with('$')) {
    const std::string_view name = text.substr(1);
    const bool is_variable = all_are(name, [](char c) { return is_upper(c) || c == '_'; });
    const std::size_t slash = name.find('/');
    const bool is_path = slash > 2 && slash != std::string_view::npos &&
                         all_are(name.substr(0, slash),
                                 [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
    if (is_variable || is_path || name.size() == 1 || is_reference_name(name)) {
      return true;
    }
  }
  return text == "%s" || text == "%d" || text == "%v" || text == "%w" || text == "{}" ||
         text == "?";
}

/// What is read from elsewhere.
bool is_reference(std::string_view text) {
  return kReferencePrefixes.any([&](std::string_view each) { return text.starts_with(each); });
}

/// "****", "xxxx-xxxx", "0000", "......": at most one character but for separators.
bool is_mask(std::string_view text) {
  char first = 0;
  for (const char c : text) {
    if (c == '-' || c == '_' || c == ' ' || c == '.' || c == ':') {
      continue;
    }
    if (first != 0 && to_lower(c) != first) {
      return false;
    }
    first = to_lower(c);
  }
  return true;
}

/// Specimens of documents, even inside of what looks random: AKIAIOSFODNN7EXAMPLE.
bool has_specimen_word(std::string_view lower) {
  return kSpecimenWords.any([&](std::string_view each) { return lower.contains(each); });
}

/// "test-token", "my_api_key", "your key here": one of these words, and nothing random beside.
bool has_sample_word(std::string_view value, std::string_view lower) {
  assert(value.size() == lower.size() && "the same text, in lower case");
  bool has_word = false;
  for (std::size_t begin = 0; begin < lower.size();) {
    const std::size_t end = run_end(lower, begin, is_alnum);
    const std::string_view part = lower.substr(begin, end - begin);
    if (part.size() >= 8 && randomness_bits(value.substr(begin, end - begin)) >= kRandomBits) {
      return false;
    }
    has_word = has_word || kSampleWords.any([&](std::string_view word) {
      return part == word || (word.size() >= 4 && part.starts_with(word)) ||
             (word.size() >= 4 && part.ends_with(word));
    });
    begin = end + 1;
  }
  return has_word;
}

/// "1234567890", "abcdef012345": most characters follow the one before.
bool is_sequence(std::string_view text) {
  if (text.size() < 6) {
    return false;
  }
  std::size_t steps = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const int step = to_lower(text[i]) - to_lower(text[i - 1]);
    const bool wraps = (text[i - 1] == '9' && text[i] == '0');
    steps += (step == 1 || wraps) ? 1U : 0U;
  }
  return steps * 4 >= (text.size() - 1) * 3;
}

// Of is_stand_in().

std::size_t word_at(std::string_view rest) {
  std::size_t longest = 0;
  for (const std::string_view word : kStandInWords.words()) {
    if (word.size() > longest && starts_folded(rest, word)) {
      longest = word.size();
    }
  }
  assert(longest <= rest.size());
  return longest;
}

bool is_made_of_words(std::string_view value, bool with_digits) {
  constexpr std::size_t kSizeMax = 64;
  if (value.empty() || value.size() > kSizeMax) {
    return false;
  }
  bool has_word = false;
  for (std::size_t at = 0; at < value.size();) {
    if (std::string_view("-_. ").contains(value[at]) || (with_digits && is_digit(value[at]))) {
      ++at;
      continue;
    }
    const std::size_t size = word_at(value.substr(at));
    if (size == 0) {
      return false;
    }
    has_word = true;
    at += size;
  }
  return has_word;
}

/// "mysecretpassword", "userPassword1": words that somebody joined to a password. Not
/// "yourpassword".
bool is_joined_words(std::string_view value) {
  if (value.size() < 8 || !std::ranges::all_of(value, is_alnum) || !is_made_of_words(value, true)) {
    return false;
  }
  if (kRequestWords.any([&](std::string_view word) { return starts_folded(value, word); })) {
    return false;
  }
  const std::size_t first = word_at(value);
  return std::ranges::any_of(value.substr(first), is_letter);
}

/// "mysecretpassword", "Password123": what people choose, rather than what stands for it.
bool is_weak_password(std::string_view value) {
  if (all_are(value, is_lower)) {
    return is_joined_words(value);
  }
  const std::size_t word = word_at(value);
  if (is_joined_words(value) && is_digit(value.back()) && is_digit(value[value.size() - 2])) {
    return true;
  }
  return value.size() >= word + 2 && all_are(value.substr(word), is_digit) &&
         (kPasswordWords.contains(lower_ascii(value.substr(0, word))) ||
          is_common_password(value.substr(0, word)));
}

bool is_variable(std::string_view value) {
  assert(!value.empty());
  if (value.size() >= 2 && value.front() == '$') {
    const std::string_view name = value.substr(1);
    return std::ranges::all_of(name,
                               [](char c) { return is_upper(c) || is_digit(c) || c == '_'; }) ||
           is_made_of_words(name, false);
  }
  if (value.size() >= 3 && value.front() == '%' && value.back() == '%') {
    return std::ranges::all_of(value.substr(1, value.size() - 2), is_word_byte);
  }
  return (value.front() == '{' && value.back() == '}') || value.starts_with("process.env") ||
         value.starts_with("os.environ") || value.starts_with("env.");
}

/// Keys of Amazon's documents, which everybody copies: AKIAIOSFODNN7EXAMPLE, "…EXAMPLEKEY".
bool is_documented(std::string_view value) {
  return value.ends_with("EXAMPLE") || value.contains("EXAMPLEKEY");
}

/// Whether `value` has `word`, and nothing drawn beside it: "example-key", not
/// "EXAMPLEp4ssw0rd123".
bool holds_word(std::string_view value, std::string_view word) {
  assert(!word.empty());
  constexpr std::size_t kDrawnMin = 6;
  if (!contains_folded(value, word)) {
    return false;
  }
  const auto alnum = static_cast<std::size_t>(std::ranges::count_if(value, is_alnum));
  return alnum < word.size() + kDrawnMin || std::ranges::none_of(value, is_digit) ||
         is_documented(value);
}

bool holds_mark(std::string_view value) {
  return kStandInMarks.any([&](std::string_view mark) { return value.contains(mark); }) ||
         kStandInParts.any([&](std::string_view word) { return holds_word(value, word); }) ||
         starts_folded(value, "your-") || starts_folded(value, "your_") || value == "%s" ||
         value == "%v" || value == "%d";
}

/// Whether `value` is one that nobody set: by its shape, or by `looks_so(text, lower)`.
template <typename LooksSo>
bool is_not_set(std::string_view value, const LooksSo& looks_so) {
  const std::string_view text = trimmed(value);
  if (text.empty() || is_mask(text)) {
    return true;
  }
  if (text.size() > kPlaceholderSizeMax) {
    return text.starts_with("ENC[") || text.starts_with("${");
  }
  const std::string lower = lower_ascii(text);
  const auto is_inside = [&](std::string_view part) { return lower.contains(part); };
  return is_template(text) || is_reference(text) || kMasks.any(is_inside) ||
         kPlaceholderWords.contains(lower) || looks_so(text, lower) || is_version_range(text);
}

}  // namespace

bool is_own_id(std::string_view value) {
  // A prefix, then 15 characters of which the first count milliseconds.
  constexpr std::size_t kRest = 15;
  const std::size_t dash = value.rfind('-');
  return dash != std::string_view::npos && dash >= 2 && dash <= 12 &&
         value.size() - dash - 1 == kRest && value[dash + 1] == '0' &&
         all_are(value.substr(0, dash), is_lower) && all_are(value.substr(dash + 1), is_crockford);
}

bool is_public_shape(std::string_view value) {
  const std::string_view text = trimmed(value);
  if (text.empty()) {
    return true;
  }
  if (is_hash(text) || is_uuid(text) || is_ulid(text) || is_own_id(text) || is_number_like(text) ||
      is_etag_or_trace(text) || is_address(text)) {
    return true;
  }
  return is_digest(lower_ascii(text.substr(0, 8))) || is_written(text);
}

bool is_placeholder(std::string_view value) {
  return is_not_set(value, [](std::string_view text, const std::string& lower) {
    return has_specimen_word(lower) || has_sample_word(text, lower) || is_sequence(text);
  });
}

bool is_unfilled(std::string_view value) {
  return is_not_set(value, [](std::string_view text, const std::string& lower) {
    return is_documented(text) ||
           kUnfilledWords.any([&](std::string_view each) { return lower.contains(each); }) ||
           (all_are(text, is_digit) && is_sequence(text)) ||
           (is_made_of_words(text, true) && !is_weak_password(text));
  });
}

bool is_stand_in(std::string_view value) {
  constexpr std::size_t kEnough = 256;  // No mark stands only further behind.
  value = value.substr(0, kEnough);
  if (value.empty() || std::ranges::none_of(value, is_alnum)) {
    return true;
  }
  const bool is_one_letter =
      std::ranges::all_of(value, [&](char c) { return to_lower(c) == to_lower(value.front()); });
  return is_one_letter || is_variable(value) || holds_mark(value) || is_made_of_words(value, false);
}

bool stands_for_password(std::string_view value) {
  return is_stand_in(value) && !is_joined_words(value) && !is_common_password(value);
}

bool is_chosen_word(std::string_view value) {
  return is_common_password(value) && !has_word("test default demo password1", lower_ascii(value));
}

bool is_common_password(std::string_view value) {
  return kCommonPasswords.contains(lower_ascii(value.substr(0, 16)));  // None is longer.
}

std::string_view why_common(std::string_view value) {
  constexpr std::size_t kSizeMin = 7;
  constexpr std::size_t kLong = 16;      // So much is not written twice by chance.
  constexpr double kWordBits = 5;        // More than names of programs and people have.
  constexpr std::size_t kWordTurns = 2;  // "Berlin2024".
  const bool is_number =
      all_are(value, [](char c) { return is_digit(c) || std::string_view("-+.,:/ ").contains(c); });
  if (is_number && (std::ranges::count_if(value, is_digit) < std::ptrdiff_t{kSizeMin} ||
                    (value.starts_with("20") && byte_at(value, 4) == '-'))) {
    return "a short number, or a date";
  }
  if (value.size() < kSizeMin) {
    return "too short";
  }
  const bool has_alphabet =
      all_are(value, [](char c) { return is_alnum(c) || std::string_view("-_.:/ ").contains(c); });
  const bool is_word = has_alphabet && !is_number && shape_of(value).turns <= kWordTurns &&
                       randomness_bits(value) < (value.size() < kLong ? kWordBits : 0);
  const bool is_name = value.size() < kLong || !any_is(value, [](char c) { return !is_letter(c); });
  return (is_word && is_name) || is_made_of_words(value, true) || is_common_password(value)
             ? "a common word"
             : "";
}

bool is_example_word(std::string_view value) { return is_made_of_words(value, true); }

}  // namespace bmad_mem
