// secret_names.cpp - decides by the words of a name whether it names a secret, and of which kind.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <span>
#include <string>

#include "assignment_parts.hpp"
#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "privacy_words.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

/// Servers of code are beside the names of commits.
constexpr string_view kOfCommits = "github gitlab gitea gitee bitbucket atlassian sourcegraph";

/// The words of a name, in lower case.
class NameWords {
 public:
  explicit NameWords(string_view name) {
    assert(name.size() <= kNameSizeMax);
    for (std::size_t i = 0; i < name.size() && count_ < kCountMax; ++i) {
      if (!is_letter(name[i]) && is_ascii(name[i])) {
        end_word();
        continue;
      }
      if (begins_word(name, i)) {
        end_word();
      }
      letters_[size_++] = to_lower(name[i]);
    }
    end_word();
  }

  [[nodiscard]] std::span<const string_view> all() const { return {words_.data(), count_}; }

 private:
  static constexpr std::size_t kCountMax = 24;

  /// camelCase, and the last capital before small letters: "APIKey". "OAuth" is one word.
  static bool begins_word(string_view name, std::size_t i) {
    if (i == 0 || !is_upper(name[i])) {
      return false;
    }
    if (is_lower(name[i - 1])) {
      return true;
    }
    return is_upper(name[i - 1]) && i + 1 < name.size() && is_lower(name[i + 1]) &&
           // "IDs", "URLs", "APIs": the plural of capitals.
           !(name[i + 1] == 's' && (i + 2 == name.size() || !is_lower(name[i + 2])));
  }

  void end_word() {
    assert(begin_ <= size_ && size_ <= letters_.size());
    if (size_ > begin_ && count_ < kCountMax) {
      words_[count_++] = string_view(letters_.data() + begin_, size_ - begin_);
      begin_ = size_;
    }
  }

  std::array<char, kNameSizeMax> letters_ = {};
  std::size_t size_ = 0;
  std::size_t begin_ = 0;
  std::array<string_view, kCountMax> words_;
  std::size_t count_ = 0;
};

struct WordKind {
  SecretKind kind = SecretKind::kNone;
  string_view before;  ///< Words of which one comes before; empty: whatever does.
  string_view words;
};

/// The rows of a list, "kind|words before|words", taken apart.
template <const WordList& kList>
constexpr auto kKindsOf = [] {
  constexpr auto kNames = std::to_array<string_view>(
      {"none", "password", "pass", "api-key", "token", "secret", "private-key", "credential",
       "connection", "weak", "seed-phrase", "code"});
  std::array<WordKind, kList.size()> kinds;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const string_view row = kList[i];
    const std::size_t before = row.find('|') + 1;
    const std::size_t words = row.find('|', before) + 1;
    const auto kind = std::ranges::find(kNames, row.substr(0, before - 1)) - kNames.begin();
    kinds[i] = {static_cast<SecretKind>(kind), row.substr(before, words - before - 1),
                row.substr(words)};
  }
  return kinds;
}();
constexpr auto kWordKinds = kKindsOf<kSecretWords>;
constexpr auto kWordEnds = kKindsOf<kSecretWordEnds>;

/// Each word of kWordKinds with its row: comparing sizes first, a look-up takes 200 instructions.
struct WordRow {
  string_view word;
  const WordKind* row = nullptr;
};
constexpr std::size_t kWordRowsMax = 64;
constexpr auto kWordRows = [] {
  std::array<WordRow, kWordRowsMax> rows = {};
  std::size_t count = 0;
  for (const WordKind& each : kWordKinds) {
    for_each_word(each.words, [&](string_view word) { rows[count++] = {word, &each}; });
  }
  return rows;
}();

/// Three letters; a slot of a set of them is the last five bits of each.
constexpr std::size_t kStemSlots = 1U << 15U;
constexpr std::size_t stem_slot(char a, char b, char c) {
  const auto bits = [](char each) { return static_cast<unsigned char>(each) & 31U; };
  return bits(a) | bits(b) << 5U | bits(c) << 10U;
}

/// The last three letters of words that kind_of_squeezed() knows.
constexpr auto kSqueezedEnds = [] {
  std::array<bool, kStemSlots> ends = {};
  const auto add = [&](string_view word) {
    ends[stem_slot(word[word.size() - 3], word[word.size() - 2], word.back())] = true;
  };
  for (const WordKind& each : kWordEnds) {
    for_each_word(each.words, add);
  }
  add("token");
  return ends;
}();

SecretKind kind_of_squeezed(string_view word) {
  constexpr std::size_t kSizeMin = 4;  // "xpwd"
  constexpr std::size_t kTokenSizeMax = 10;
  if (word.size() < kSizeMin) {
    return SecretKind::kNone;
  }
  if (!kSqueezedEnds[stem_slot(word[word.size() - 3], word[word.size() - 2], word.back())]) {
    return SecretKind::kNone;
  }
  if (word.ends_with("token") && word.size() <= kTokenSizeMax && !word.ends_with("apitoken")) {
    return SecretKind::kToken;
  }
  for (const WordKind& each : kWordEnds) {
    if (any_word(each.words, [&](string_view end) { return word.ends_with(end); })) {
      return each.kind;
    }
  }
  return SecretKind::kNone;
}

SecretKind kind_of_key(string_view owner) {
  if (kSecretKeyOwners.contains(owner) || kProviders.contains(owner)) {
    return SecretKind::kApiKey;
  }
  return kWeakKeyOwners.contains(owner) ? SecretKind::kWeak : SecretKind::kNone;
}

/// What `word` promises after `before`, which may be empty.
SecretKind kind_of_word(string_view before, string_view word) {
  if (kPasswordWords.contains(word)) {
    return SecretKind::kPassword;
  }
  if (word == "token") {
    return kPublicTokenOwners.contains(before) ? SecretKind::kNone : SecretKind::kToken;
  }
  for (const WordRow& each : kWordRows) {
    if (each.word == word && (each.row->before.empty() || has_word(each.row->before, before))) {
      return each.row->kind;
    }
  }
  return word == "key" || word == "keys" ? kind_of_key(before) : kind_of_squeezed(word);
}

/// Three letters of each word that a secret is named by. Names without any are not taken apart.
constexpr auto kStems = [] {
  std::array<bool, kStemSlots> stems = {};
  for_each_word(
      "pas pwd psw ssw swr key oke cre aut rer jwt dsn pin otp alt eed ode str hra ord epp nnw woo "
      "ras nha "
      "lav mne psk",
      [&](string_view stem) { stems[stem_slot(stem[0], stem[1], stem[2])] = true; });
  return stems;
}();

bool has_stem(string_view name) {
  constexpr unsigned kLetterBits = 5;
  std::size_t slot = 0;  // Of the last three letters, the last one on top.
  for (std::size_t i = 0; i < name.size(); ++i) {
    slot = slot >> kLetterBits | (static_cast<unsigned char>(name[i]) & 31U) << (2 * kLetterBits);
    if (kStems[slot] && i >= 2) {
      return true;
    }
  }
  return name.size() >= 2 && to_lower(name[name.size() - 2]) == 'p' && to_lower(name.back()) == 'w';
}

/// "пароль", "Mot de passe": names of several words, or not of ASCII alone.
bool is_password_phrase(string_view name) {
  constexpr std::size_t kSizeMax = 48;
  return name.size() <= kSizeMax && any_is(name, [](char c) { return c == ' ' || !is_ascii(c); }) &&
         kPasswordPhrases.contains(lower_ascii(name));
}

}  // namespace

bool can_be_secret_name(LetterSet letters) {
  static constexpr std::array kNeeded = [] {
    constexpr string_view kWords =
        "pass pwd key token secret cred auth bearer jwt dsn pin otp salt seed code string pw psw "
        "psk senha clave mnemonic phrase pepper kennwort wachtwoord contrasena words";
    std::array<LetterSet, std::ranges::count(kWords, ' ') + 1> needed = {};
    std::size_t count = 0;
    for_each_word(kWords, [&](string_view word) {
      for (const char c : word) {
        needed[count] |= letter_bit(c);
      }
      ++count;
    });
    return needed;
  }();
  unsigned matches = 0;
  for (const LetterSet needed : kNeeded) {  // Without branches it is a few vector instructions.
    matches |= (letters & needed) == needed ? 1U : 0U;
  }
  return matches != 0 || (letters & kForeignLetter) != 0;
}

SecretKind secret_kind(string_view name) {
  if (name.size() > kNameSizeMax) {
    return SecretKind::kNone;
  }
  if (is_password_phrase(name)) {
    return SecretKind::kPassword;
  }
  if (!has_stem(name)) {
    return SecretKind::kNone;
  }
  const NameWords names(name);
  const std::span<const string_view> words = names.all();
  SecretKind kind = SecretKind::kNone;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const SecretKind each = kind_of_word(i > 0 ? words[i - 1] : string_view(), words[i]);
    if (each != SecretKind::kNone) {
      // "secret_access_token_auth": the strong word counts, not the weak one after it.
      // "db_password_token": it may be as short as a password.
      const bool is_kept = kind != SecretKind::kNone &&
                           (each == SecretKind::kWeak ||
                            (kind == SecretKind::kPassword && each == SecretKind::kToken));
      kind = is_kept ? kind : each;
    } else if (kind != SecretKind::kNone && kAboutWords.contains(words[i])) {
      // Vault's secret_id is the secret itself.
      kind = kind == SecretKind::kSecret && words[i] == "id" && i + 1 == words.size()
                 ? kind
                 : SecretKind::kNone;
    }
  }
  return kind;
}

bool is_strong_kind(SecretKind kind) {
  return kind != SecretKind::kWeak && kind != SecretKind::kCredential &&
         kind != SecretKind::kConnection && kind != SecretKind::kCode &&
         kind != SecretKind::kSeedPhrase;
}

string_view singular_secret(string_view name) {
  constexpr std::size_t kSizeMin = 5;
  if (name.size() < kSizeMin || to_lower(name.back()) != 's' ||
      secret_kind(name) != SecretKind::kNone) {
    return {};
  }
  name.remove_suffix(1);
  return is_strong_kind(secret_kind(name)) && secret_kind(name) != SecretKind::kNone
             ? name
             : string_view();
}

bool may_name_secret(string_view text) {
  LetterSet letters = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() &&
        (is_alnum(text[i]) || text[i] == '_' || text[i] == '-' || !is_ascii(text[i]))) {
      letters |= letter_bit(text[i]);
      continue;
    }
    const string_view word = text.substr(begin, i - begin);
    if ((letters & kForeignLetter) != 0 || (has_stem(word) && can_be_secret_name(letters))) {
      return true;
    }
    letters = 0;
    begin = i + 1;
  }
  return false;
}

ProviderName provider_in(string_view name) {
  static constexpr string_view kKeyWords =
      "key keys token secret pat auth apikey api access credential password pass webhook";
  static constexpr string_view kPublicWords = "public publishable site pub commit sha hash";
  if (name.size() > kNameSizeMax) {
    return ProviderName::kNone;
  }
  const NameWords names(name);
  const std::span<const string_view> words = names.all();
  if (words.empty() || kAboutWords.contains(words.back()) ||
      std::ranges::any_of(words, [](string_view word) { return has_word(kPublicWords, word); })) {
    return ProviderName::kNone;
  }
  const bool is_key = std::ranges::any_of(words, [](string_view word) {
    return has_word(kKeyWords, word) || kind_of_squeezed(word) != SecretKind::kNone;
  });
  for (std::size_t i = 0; i < words.size(); ++i) {
    // The words lie behind one another: "Data", "Dog" is "datadog".
    const std::size_t next = i + 1 < words.size() ? words[i + 1].size() : 0;
    assert(next == 0 || words[i].data() + words[i].size() == words[i + 1].data());
    const string_view pair(words[i].data(), words[i].size() + next);
    if (kProviders.contains(words[i]) || kProviders.contains(pair) ||
        (is_key && kAmbiguousProviders.contains(words[i]))) {
      return is_key ? ProviderName::kKeyed : ProviderName::kOnly;
    }
    for (const string_view end : {"key", "token", "secret", "apikey", "apitoken", "pat"}) {
      if (words[i].ends_with(end) &&
          kProviders.contains(words[i].substr(0, words[i].size() - end.size()))) {
        return ProviderName::kKeyed;
      }
    }
  }
  static constexpr string_view kLastWords = "key token secret pat";
  const string_view owner = words.size() > 1 ? words[words.size() - 2] : string_view();
  return words.size() > 1 && has_word(kLastWords, words.back()) &&
                 !kPublicKeyOwners.contains(owner) && !kPublicTokenOwners.contains(owner)
             ? ProviderName::kKey
             : ProviderName::kNone;
}

bool is_providers_key(string_view name, string_view value) {
  constexpr std::size_t kSizeMin = 12;
  constexpr std::size_t kSureSizeMin = 20;
  constexpr std::size_t kShortMax = 15;
  constexpr double kLikelyBits = 3;
  if (value.size() < kSizeMin || !may_have_rule(value)) {
    return false;  // Prose, at its first blank.
  }
  const ProviderName provider = provider_in(name);
  if (provider == ProviderName::kNone) {
    return false;
  }
  const Shape shape = shape_of(value);
  if (shape.digits == 0 || shape.lower + shape.upper == 0 || value.contains("://") ||
      value.contains("::")) {
    return false;
  }
  const double bits = randomness_bits(value);
  const bool is_hex = all_are(value, [](char c) { return is_hex_digit(c) || c == '-'; });
  const bool is_drawn = is_hex ? value.size() > kShortMax && shannon_entropy(value) >= 2.5
                               : bits >= (value.size() > kShortMax ? kLikelyBits : kRandomBits);
  if (!is_drawn || names_digest(name)) {
    return false;
  }
  if (provider == ProviderName::kKeyed) {
    return true;
  }
  if (provider == ProviderName::kKey) {
    // Of something unknown: longer, and sure to be drawn.
    const bool is_id =
        is_hex ? value.size() < 32 || value.size() == 36 || value.size() == 40 || value.size() == 64
               : bits < 2 * kRandomBits || is_public_shape(value);
    return value.size() >= kSureSizeMin && shape.lower > 0 && !is_id;
  }
  // "deepgram = …": a value of the very form of the keys of that service.
  if (!has_word(kOfCommits, lower_ascii(name)) && shannon_entropy(value) >= 3 &&
      find_assigned_rule(std::string(name) + " key token secret", value) != nullptr) {
    return true;
  }
  // A hash has letters of one case.
  const bool may_be_public = shape.lower == 0 || shape.upper == 0 || !is_hex;
  return value.size() >= kSureSizeMin && !(may_be_public && is_public_shape(value)) &&
         (is_hex || bits >= kRandomBits);
}

unsigned near_words(string_view text) {
  const NameWords names(text.substr(text.size() - std::min(text.size(), kNameSizeMax)));
  const std::span<const string_view> words = names.all();
  unsigned found = 0;
  bool is_ambiguous = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const string_view word = words[i];
    const string_view before = i > 0 ? words[i - 1] : string_view();
    const SecretKind kind = kind_of_word(before, word);
    const std::size_t next = i + 1 < words.size() ? words[i + 1].size() : 0;
    if (kNearKeyWords.contains(word) || kind == SecretKind::kWeak) {
      found |= kNearKey;
    }
    const bool is_weak = kind == SecretKind::kNone || kind == SecretKind::kPass;
    found |= kind == SecretKind::kCode || (!is_weak && is_strong_kind(kind)) ? kNearSecret : 0U;
    const bool is_server = has_word(kOfCommits, word);
    if (!is_server && (kProviders.contains(word) ||
                       kProviders.contains(string_view(word.data(), word.size() + next)))) {
      found |= kNearService;
    }
    if (kDigestWords.contains(word) || kNearPublicWords.contains(word) ||
        (word == "key" && kind == SecretKind::kNone && kPublicKeyOwners.contains(before))) {
      found |= kNearPublic;
    }
    is_ambiguous = is_ambiguous || is_server || kAmbiguousProviders.contains(word);
  }
  return found | (is_ambiguous && (found & (kNearKey | kNearSecret)) != 0 ? kNearService : 0U);
}

bool names_digest(string_view name) {
  if (name.size() > kNameSizeMax) {
    return true;
  }
  const NameWords names(name);
  return std::ranges::any_of(names.all(),
                             [](string_view word) { return kDigestWords.contains(word); });
}

string_view rule_of(SecretKind kind) {
  constexpr string_view kGeneric = "generic-secret";
  constexpr string_view kRules[] = {
      kGeneric,      "password",   "password",          "api-key", "token",  "secret",
      "private-key", "credential", "connection-string", kGeneric,  kGeneric, kGeneric};
  assert(static_cast<std::size_t>(kind) < std::size(kRules));
  return kRules[static_cast<std::size_t>(kind)];
}

}  // namespace bmad_mem
