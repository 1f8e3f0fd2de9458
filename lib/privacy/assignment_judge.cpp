// assignment_judge.cpp - judges whether a value is a secret, by its name, its form and its bytes.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "assignment_parts.hpp"
#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy/secret_rule.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;
using Verdict = std::optional<ValueVerdict>;

/// Bits that speak for a drawn value where its name already says secret and nothing else fits.
constexpr double kLikelyBits = 3;

/// What a value is made of.
struct Traits {
  std::size_t size = 0;
  std::size_t lower = 0;
  std::size_t upper = 0;
  std::size_t digits = 0;
  std::size_t marks = 0;    ///< Of "!@#$%^&*+=~?", which passwords have and names have not.
  std::size_t joints = 0;   ///< Of "_-./:".
  std::size_t others = 0;   ///< Brackets, quotes, commas: those of code and prose.
  std::size_t foreign = 0;  ///< Bytes beyond ASCII.
  std::size_t blanks = 0;
  std::size_t distinct = 0;
  double bits = 0;

  [[nodiscard]] std::size_t letters() const { return lower + upper; }
  [[nodiscard]] bool is_mixed() const { return letters() > 0 && digits > 0; }
};

Traits traits_of(string_view value) {
  Traits traits;
  traits.size = value.size();
  std::array<bool, 256> seen = {};
  for (const char c : value) {
    seen[static_cast<unsigned char>(c)] = true;
    std::size_t Traits::* const kind = is_lower(c)                               ? &Traits::lower
                                       : is_upper(c)                             ? &Traits::upper
                                       : is_digit(c)                             ? &Traits::digits
                                       : is_space(c)                             ? &Traits::blanks
                                       : !is_ascii(c)                            ? &Traits::foreign
                                       : string_view("!@#$%^&*+=~?").contains(c) ? &Traits::marks
                                       : string_view("_-./:").contains(c)        ? &Traits::joints
                                                                                 : &Traits::others;
    ++(traits.*kind);
  }
  [[maybe_unused]] const std::size_t signs = traits.marks + traits.joints + traits.others;
  assert(traits.letters() + traits.digits + signs + traits.foreign + traits.blanks == traits.size);
  traits.distinct = static_cast<std::size_t>(std::ranges::count(seen, true));
  traits.bits = randomness_bits(value);
  return traits;
}

/// "sha256", "base64", "utf8", "int32", "ed25519": letters that everybody follows by a number.
bool is_known_term(string_view value) {
  constexpr std::size_t kLettersMax = 12;
  std::string letters;
  for (const char c : value) {
    if (is_letter(c) && letters.size() < kLettersMax) {
      letters += to_lower(c);
    } else if (!is_digit(c) && !string_view("-_()").contains(c)) {
      return false;
    }
  }
  return kKnownTerms.contains(letters);
}

bool is_in_sentence(ValueForm form) {
  return form == ValueForm::kSaid || form == ValueForm::kProse;
}

/// A call, an index, a member, a scope: `getToken(x`, `config["x"]`, `user.password`, `a::b`.
bool looks_like_code(string_view value) {
  const std::size_t end = static_cast<std::size_t>(
      std::ranges::find_if_not(value, [](char c) { return is_alnum(c) || c == '_'; }) -
      value.begin());
  if (end == value.size()) {
    return randomness_bits(value) < kLikelyBits;
  }
  if (end == 0) {
    // `&str`, `*ptr`, `!token`, `(x`, `[]`, `-1`, `:name`, `@name`.
    return string_view("&*([{<|\\").contains(value.front()) ||
           (string_view("!-:@>,;").contains(value.front()) &&
            randomness_bits(value.substr(1)) < kLikelyBits);
  }
  const bool begins_as_name =
      !is_digit(value.front()) && randomness_bits(value.substr(0, end)) < kRandomBits;
  const string_view rest = value.substr(end);
  return begins_as_name && (string_view("([{<").contains(rest.front()) ||
                            (string_view(".?!-+:/|=").contains(rest.front()) &&
                             randomness_bits(value) < kRandomBits));
}

bool has_rooted_path(string_view value) {
  return value.starts_with('/') || value.starts_with("./") || value.starts_with("../") ||
         value.starts_with("~/") || value.starts_with("C:\\") || value.starts_with("\\\\");
}

/// The same, and nothing that paths haven't.
bool is_path(string_view value) {
  return has_rooted_path(value) && all_are(value, [](char c) {
           return is_word_byte(c) || string_view("/\\.-~:").contains(c);
         });
}

/// What is public whatever name it bears.
bool is_public_anyhow(string_view value) {
  return value.contains("://") || value.starts_with("W/\"") ||
         (value.starts_with("x:") && value.contains(":/")) ||  // Of /etc/passwd.
         kPublicPrefixes.any([&](string_view each) { return value.starts_with(each); });
}

/// What is left of `value` without what a template or an earlier redaction put there.
string_view outside_template(string_view value) {
  for (const string_view marks : kTemplateMarks.words()) {
    const auto [open, close] = marks_of(marks);
    const std::size_t begin = value.find(open);
    if (begin != string_view::npos) {
      const std::size_t end = value.find(close, begin + open.size());
      const string_view after =
          end == string_view::npos ? string_view() : value.substr(end + close.size());
      return begin > after.size() ? value.substr(0, begin) : after;
    }
  }
  if (is_public_anyhow(value)) {
    return {};
  }
  const bool is_name = value.size() > 2 && all_are(value.substr(1, value.size() - 2), [](char c) {
                         return is_word_byte(c) || string_view("-. :/|").contains(c);
                       });
  return is_name && !is_alnum(value.front()) && !is_alnum(value.back()) ? string_view() : value;
}

/// Whether `value` has signs that code rarely has, and all kinds of letters.
bool is_free_of_code(string_view value) {
  return any_is(value, is_digit) && any_is(value, is_lower) && any_is(value, is_upper) &&
         any_is(value, [](char c) { return string_view("#@^~%$`\\;!").contains(c); });
}

/// Words of a sentence about passwords rather than of one; of a label, if there are few.
bool is_plain_speech(string_view value, bool is_short = false) {
  return any_word(value, [&](string_view word) {
    const std::string lower = lower_ascii(word);
    return kPlainWords.contains(lower) ||
           (is_short && (kAboutWords.contains(lower) || kPlaceholderWords.contains(lower)));
  });
}

/// How many words `value` consists of; 0 when there is anything else in it, or when the first one
/// alone has a capital letter, as in a sentence.
std::size_t word_count(string_view value) {
  assert(!value.empty());
  std::size_t words = 0;
  std::size_t capitals = 0;
  const bool has_others = any_word(value, [&](string_view word) {
    ++words;
    capitals += !word.empty() && is_upper(word.front()) ? 1U : 0U;
    return word.size() < 2 || !is_letter(word.front()) || !all_are(word.substr(1), is_lower);
  });
  return has_others || (is_upper(value.front()) && capitals < words) ? 0 : words;
}

Verdict secret(SecretKind kind) { return ValueVerdict{.rule = rule_of(kind)}; }

Verdict near(SecretKind kind, const Traits& traits, ValueForm form) {
  if (form != ValueForm::kQuoted || traits.size < 6 || traits.blanks > 0 || traits.others > 0) {
    return std::nullopt;
  }
  return ValueVerdict{.rule = rule_of(kind), .action = DetectionAction::kNear};
}

/// Several words: a pass phrase, or more likely a sentence about it.
Verdict judge_phrase(SecretKind kind, string_view value, const Traits& traits) {
  const std::size_t words = word_count(value);
  if (kind == SecretKind::kSeedPhrase) {
    return words >= 12 && words <= 24 ? secret(kind) : std::nullopt;
  }
  if (words >= 3 && words <= 12 && !is_plain_speech(value, words == 3)) {
    return secret(kind);
  }
  const bool is_drawn = traits.digits > 0 && traits.upper > 0 && traits.marks > 0 &&
                        traits.blanks <= 2 && traits.bits >= kRandomBits;
  return is_drawn && !is_plain_speech(value) ? secret(kind) : std::nullopt;
}

Verdict judge_letters(SecretKind kind, string_view value, const Traits& traits, ValueForm form) {
  const double bits_min = kind == SecretKind::kPass ? 2 * kRandomBits : kRandomBits;
  if (traits.size >= 8 && traits.bits >= bits_min && !is_in_sentence(form)) {
    return secret(kind);
  }
  if (kind == SecretKind::kPass || value.size() > 40) {
    return std::nullopt;
  }
  return near(kind, traits, form);
}

/// Letters and joints with or without digits: "hunter2", "user-password", "current_password_2".
Verdict judge_simple_password(SecretKind kind, const Traits& traits, ValueForm form) {
  const bool is_drawn = traits.bits >= (form == ValueForm::kQuoted ? kLikelyBits : kRandomBits);
  if (traits.digits == 0) {
    return is_drawn && traits.size >= 10 ? secret(kind) : std::nullopt;
  }
  if (traits.joints > 0 && !is_drawn && traits.bits < 0) {
    return near(kind, traits, form);
  }
  const bool may_be_name = form == ValueForm::kBare && traits.bits < kLikelyBits;
  const bool is_short = traits.size < 6 && form != ValueForm::kQuoted;
  return may_be_name || is_short ? std::nullopt : secret(kind);
}

/// A sentence has to say it clearly: letters and digits, and more than one thing besides.
bool is_clear_in_sentence(const Traits& traits, ValueForm form) {
  const bool is_varied = traits.bits >= kRandomBits || traits.marks > 0 ||
                         (traits.upper > 0 && traits.lower > 0 && traits.bits >= 0);
  return traits.size >= 6 && traits.is_mixed() && traits.others == 0 &&
         (is_varied || (form == ValueForm::kSaid && traits.joints == 0));
}

Verdict judge_password(SecretKind kind, string_view value, ValueForm form) {
  const Traits traits = traits_of(value);
  if (traits.blanks > 0) {
    return form == ValueForm::kQuoted ? judge_phrase(kind, value, traits) : std::nullopt;
  }
  if (is_known_term(value) || (has_rooted_path(value) && traits.bits < kRandomBits)) {
    return std::nullopt;
  }
  if (is_in_sentence(form) &&
      (!is_clear_in_sentence(traits, form) ||
       (kind == SecretKind::kPass && (form == ValueForm::kProse || traits.bits < kRandomBits)))) {
    return std::nullopt;
  }
  if (traits.digits == traits.size) {
    const bool is_number = kind == SecretKind::kPass || form == ValueForm::kBare;
    return is_number ? std::nullopt : secret(kind);
  }
  if (value.starts_with("\\x") && traits.size < 8) {
    return std::nullopt;
  }
  if (traits.letters() + traits.foreign == traits.size) {
    return judge_letters(kind, value, traits, form);
  }
  if (form == ValueForm::kBare && looks_like_code(value)) {
    return std::nullopt;
  }
  const bool is_marked_drawn = traits.marks > 0 && traits.bits >= kLikelyBits;
  if (kind == SecretKind::kPass && !traits.is_mixed() && !is_marked_drawn) {
    return std::nullopt;
  }
  if (traits.marks + traits.others == 0) {
    return judge_simple_password(kind, traits, form);
  }
  if (traits.digits > 0) {
    const bool is_code = traits.others > 0 && traits.bits < kLikelyBits;
    return is_code ? std::nullopt : secret(kind);
  }
  // Marks without digits: "p@ss!word", but not "Password?".
  const std::size_t inner =
      static_cast<std::size_t>(std::ranges::count_if(value.substr(0, value.size() - 1), [](char c) {
        return string_view("!@#$%^&*+=~").contains(c);
      }));
  // "Weatherman$", but not "Password?" or a pattern.
  const bool ends_marked = form == ValueForm::kQuoted && traits.letters() + 1 == traits.size &&
                           traits.size >= 8 && string_view("$#@&").contains(value.back()) &&
                           !contains_folded(value, "pass");
  if (ends_marked) {
    return secret(kind);
  }
  const bool has_inner_marks = inner > 0 && traits.others == 0 && form != ValueForm::kBare;
  return has_inner_marks || traits.bits >= 2 * kRandomBits ? secret(kind) : std::nullopt;
}

/// Hexadecimal digits: what is under a strong name is a key, else it is more likely a hash.
Verdict judge_hex(SecretKind kind, const Traits& traits, ValueForm form) {
  const bool is_drawn = traits.size >= 16 && traits.is_mixed() && traits.distinct >= 7;
  const bool may_be_hash = traits.size == 40 || traits.size == 64;
  const bool is_strong = is_strong_kind(kind) || kind == SecretKind::kCredential;
  if (!is_drawn || ((!is_strong || form == ValueForm::kProse) && may_be_hash)) {
    return std::nullopt;
  }
  return secret(kind);
}

bool has_key_alphabet(const Traits& traits) {
  return traits.blanks == 0 && traits.foreign == 0 && traits.others == 0;
}

/// Drawn from letters and digits, or from more.
bool is_drawn_key(const Traits& traits, ValueForm form) {
  const bool is_sure_form = form == ValueForm::kQuoted || form == ValueForm::kLiteral;
  const std::size_t size_min = is_sure_form ? 8 : 12;
  if (traits.size < size_min || traits.distinct < 5) {
    return false;
  }
  if (traits.digits == 0) {
    return traits.size >= 12 && traits.bits >= 2 * kRandomBits && !is_in_sentence(form);
  }
  const double bits_min = traits.size < 12 || !is_sure_form ? kRandomBits : kLikelyBits;
  return traits.letters() > 0 && traits.bits >= bits_min;
}

/// As long as keys are and made of letters and digits alone, in whatever order: a sequence as well.
bool is_long_key(SecretKind kind, const Traits& traits) {
  constexpr std::size_t kSizeMin = 20;
  return is_strong_kind(kind) && traits.size >= kSizeMin && traits.joints + traits.marks == 0 &&
         traits.digits >= 4 && traits.letters() >= 4 && traits.distinct >= 10;
}

Verdict judge_key(SecretKind kind, string_view value, ValueForm form) {
  for (const string_view scheme : {"Bearer ", "bearer ", "Basic ", "Token ", "token "}) {
    if (value.starts_with(scheme)) {
      value.remove_prefix(scheme.size());
    }
  }
  if (value.size() < 8) {
    return std::nullopt;
  }
  const Traits traits = traits_of(value);
  const bool is_number = value.starts_with("0x") && traits.size <= 22;
  if (traits.digits == traits.size || is_number || is_known_term(value) ||
      (form == ValueForm::kBare && looks_like_code(value))) {
    return std::nullopt;
  }
  if (traits.blanks > 0 && traits.blanks <= 8 && (kind == SecretKind::kSecret)) {
    return judge_phrase(kind, value, traits);
  }
  if (all_are(value, is_hex_digit)) {
    return judge_hex(kind, traits, form);
  }
  if (has_layout(value, kUuidLayout)) {
    return is_strong_kind(kind) && form != ValueForm::kProse ? secret(kind) : std::nullopt;
  }
  if (!is_strong_kind(kind) && is_public_shape(value)) {
    return std::nullopt;
  }
  // Passwords of machines under names such as client_secret have brackets as well.
  const bool is_free = traits.blanks == 0 && traits.foreign == 0 && form == ValueForm::kQuoted &&
                       traits.marks > 0 && traits.is_mixed() && traits.bits >= kRandomBits;
  if ((has_key_alphabet(traits) && (is_drawn_key(traits, form) || is_long_key(kind, traits))) ||
      is_free) {
    return secret(kind);
  }
  // `secret: "staging#billing"`.
  const bool is_joined = kind == SecretKind::kSecret && form == ValueForm::kQuoted &&
                         traits.lower + 1 == traits.size && traits.size >= 12 &&
                         value.substr(1, value.size() - 2).find_first_of("#!@^") != value.npos;
  if (is_joined) {
    return secret(kind);
  }
  const bool is_doubtful = is_strong_kind(kind) && traits.is_mixed() && traits.bits >= 0 &&
                           !has_rooted_path(value) && traits.foreign == 0;
  return is_doubtful ? near(kind, traits, form) : std::nullopt;
}

/// "pin": "4821". Numbers that count pins are shorter, and rarely quoted.
Verdict judge_code(SecretKind kind, string_view value, ValueForm form) {
  const bool is_digits = all_are(value, is_digit);
  if (is_digits && value.size() >= 4 && value.size() <= 8 && form != ValueForm::kBare) {
    return secret(kind);
  }
  return is_digits ? std::nullopt : judge_key(kind, value, form);
}

Verdict judge_by_rule(string_view name, string_view value) {
  if (!may_have_rule(value)) {
    return std::nullopt;
  }
  const SecretRule* rule = find_assigned_rule(name, value);
  return rule == nullptr || names_digest(name) ? std::nullopt
                                               : Verdict(ValueVerdict{.rule = rule->id});
}

/// secret_kind() of what can_be_secret_name().
SecretKind kind_of(string_view name) {
  const SecretKind kind = secret_kind(name);
  LetterSet letters = 0;
  for (const char c : kind == SecretKind::kNone ? string_view() : name) {
    letters |= letter_bit(c);
  }
  return kind != SecretKind::kNone && can_be_secret_name(letters) ? kind : SecretKind::kNone;
}

Verdict judge_kind(SecretKind kind, string_view value, ValueForm form) {
  assert(!value.empty() && value.size() <= kValueSizeMax && "judge_value() asks for it");
  switch (kind) {
    case SecretKind::kNone:
      return std::nullopt;
    case SecretKind::kPassword:
    case SecretKind::kPass:
      return judge_password(kind, value, form);
    case SecretKind::kSeedPhrase:
      return judge_phrase(kind, value, traits_of(value));
    case SecretKind::kCode:
      return judge_code(kind, value, form);
    default:
      return judge_key(kind, value, form);
  }
}

/// Whether judge_value() finds nothing under this name, however the value is. The members of all
/// entries have few names: the last answers are remembered.
bool is_plain_name(string_view name) {
  constexpr std::size_t kRememberedMax = 32;
  const auto is_plain = [&] {
    return kind_of(name) == SecretKind::kNone && provider_in(name) == ProviderName::kNone &&
           find_assigned_rule(name, std::nullopt) == nullptr;
  };
  if (name.size() > kRememberedMax) {
    return is_plain();
  }
  thread_local std::array<std::pair<std::string, bool>, 64> answers;
  auto& [last, answer] = answers[std::hash<string_view>()(name) % answers.size()];
  if (last != name) {
    last = name;
    answer = is_plain();
  }
  return answer;
}

}  // namespace

Verdict judge_value(string_view name, string_view value, ValueForm form) {
  constexpr std::size_t kSizeMin = 4;
  if (value.size() < kSizeMin || name.empty() || name.size() > kNameSizeMax) {
    return std::nullopt;
  }
  const bool is_cut = value.size() >= kValueSizeMax;
  value = value.substr(0, kValueSizeMax);
  const Verdict by_rule = judge_by_rule(name, value);
  const SecretKind kind = kind_of(name);
  const bool is_providers = !by_rule && is_providers_key(name, value);
  if ((!by_rule && !is_providers && kind == SecretKind::kNone) || same_but_for_case(name, value)) {
    return std::nullopt;  // `apiKey: apiKey`, "token": "Token" says nothing.
  }
  if (!by_rule && is_of_settings(kind, name, value, form)) {
    return secret(kind);
  }
  form = form == ValueForm::kMember ? ValueForm::kQuoted : form;
  const bool is_drawn =
      is_strong_kind(kind) && is_scrambled(value) && !is_path(value) &&
      (form == ValueForm::kQuoted || form == ValueForm::kLiteral || is_free_of_code(value));
  const bool is_named = by_rule || is_providers || is_strong_kind(kind);
  if (is_named ? is_unfilled(value) : is_placeholder(value)) {
    return is_drawn && is_scrambled(outside_template(value)) ? secret(kind) : std::nullopt;
  }
  if (by_rule || is_public_anyhow(value)) {
    return by_rule;
  }
  Verdict verdict = is_drawn ? secret(kind) : judge_kind(kind, value, form);
  if (is_providers && (!verdict || verdict->action != DetectionAction::kSecret)) {
    verdict = secret(SecretKind::kApiKey);
  }
  // What is too long to be judged as a whole, and no text, may still be one.
  const bool may_be_long = !verdict && is_cut && is_strong_kind(kind) && !value.contains(' ');
  return may_be_long ? ValueVerdict{.rule = rule_of(kind), .action = DetectionAction::kNear}
                     : verdict;
}

Verdict judge_assignment(string_view name, string_view value) {
  return name.empty() || is_plain_name(name) ? std::nullopt
                                             : judge_value(name, value, ValueForm::kMember);
}

}  // namespace bmad_mem
