#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "assignment_parts.hpp"
#include "bmad_mem/text.hpp"
#include "privacy_words.hpp"

namespace bmad_mem {
namespace {

using std::string_view;

/// The words of a name, in lower case.
class NameWords {
 public:
  explicit NameWords(string_view name) {
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

bool ends_with_any(string_view word, std::span<const string_view> ends) {
  return std::ranges::any_of(ends, [&](string_view each) { return word.ends_with(each); });
}

/// "dbpassword", "pgpassword", "apikey", "authtoken": words that nobody took apart.
SecretKind kind_of_squeezed(string_view word) {
  static constexpr auto kPasswordEnds =
      std::to_array<string_view>({"password", "passwd", "passwort", "passphrase", "passwordbox"});
  static constexpr auto kPassOwners =
      std::to_array<string_view>({"dbpass", "sshpass", "userpass", "rootpass", "mypass"});
  static constexpr auto kApiKeyEnds =
      std::to_array<string_view>({"apikey", "accesskey", "appkey", "authkey", "secretkey",
                                  "masterkey", "licensekey", "apitoken"});
  static constexpr auto kTokenEnds = std::to_array<string_view>(
      {"authtoken", "accesstoken", "refreshtoken", "bearertoken", "usertoken", "idtoken"});
  static constexpr auto kKeyEnds =
      std::to_array<string_view>({"privatekey", "signingkey", "encryptionkey", "privkey"});
  if (ends_with_any(word, kPasswordEnds) || (word.ends_with("pwd") && word.size() > 3)) {
    return SecretKind::kPassword;
  }
  if (is_among(kPassOwners, word)) {
    return SecretKind::kPass;
  }
  if (ends_with_any(word, kKeyEnds)) {
    return SecretKind::kPrivateKey;
  }
  if (ends_with_any(word, kApiKeyEnds)) {
    return SecretKind::kApiKey;
  }
  if (ends_with_any(word, kTokenEnds) || (word.ends_with("token") && word.size() <= 10)) {
    return SecretKind::kToken;
  }
  return word.ends_with("secret") ? SecretKind::kSecret : SecretKind::kNone;
}

SecretKind kind_of_key(string_view owner) {
  if (owner == "private" || owner == "signing" || owner == "encryption" || owner == "decryption" ||
      owner == "master" || owner == "rsa" || owner == "ssh" || owner == "hmac") {
    return SecretKind::kPrivateKey;
  }
  if (owner == "secret") {
    return SecretKind::kSecret;
  }
  if (kSecretKeyOwners.contains(owner)) {
    return SecretKind::kApiKey;
  }
  return kWeakKeyOwners.contains(owner) ? SecretKind::kWeak : SecretKind::kNone;
}

/// What `word` promises after `before`, which may be empty.
SecretKind kind_of_word(string_view before, string_view word) {
  if (kPasswordWords.contains(word)) {
    return SecretKind::kPassword;
  }
  if (word == "pass" || word == "pw") {
    return SecretKind::kPass;
  }
  if (word == "key" || word == "keys") {
    return kind_of_key(before);
  }
  if (word == "token") {
    return kPublicTokenOwners.contains(before) ? SecretKind::kNone : SecretKind::kToken;
  }
  if (word == "bearer" || word == "jwt") {
    return SecretKind::kToken;
  }
  if (word == "secret") {
    return SecretKind::kSecret;
  }
  if (word == "credential" || word == "credentials" || word == "creds") {
    return SecretKind::kCredential;
  }
  if (word == "dsn" || (before == "connection" && word == "string") || word == "connectionstring") {
    return SecretKind::kConnection;
  }
  if (word == "mnemonic" || (before == "seed" && (word == "phrase" || word == "words")) ||
      (before == "recovery" && (word == "phrase" || word == "words"))) {
    return SecretKind::kSeedPhrase;
  }
  if (word == "pin" || word == "otp" || word == "totp" || word == "passkey" ||
      ((before == "fa" || before == "mfa" || before == "otp" || before == "verification" ||
        before == "pin" || before == "security" || before == "auth" || before == "recovery" ||
        before == "backup") &&
       word == "code")) {
    return SecretKind::kCode;
  }
  if (word == "auth" || word == "salt" || word == "seed" || word == "pepper" ||
      word == "sessionid" || (before == "session" && word == "id")) {
    return word == "id" || word == "sessionid" ? SecretKind::kNone : SecretKind::kWeak;
  }
  return kind_of_squeezed(word);
}

/// Three letters of each word that a secret is named by; a slot of the set is the last five bits of
/// each, mixed. Names without any are not taken apart.
constexpr std::size_t kStemSlots = 1U << 12U;
constexpr std::size_t stem_slot(char a, char b, char c) {
  const auto bits = [](char each) { return static_cast<unsigned char>(each) & 31U; };
  return (bits(a) ^ bits(b) << 4U ^ bits(c) << 7U) % kStemSlots;
}
constexpr auto kStems = [] {
  std::array<bool, kStemSlots> stems = {};
  for (const string_view stem :
       {"pas", "pwd", "psw", "key", "oke", "cre", "aut", "rer", "jwt", "dsn", "pin", "otp", "alt",
        "eed", "ode", "str", "hra", "ord", "epp", "nnw", "woo", "ase", "nha", "lav", "mne"}) {
    stems[stem_slot(stem[0], stem[1], stem[2])] = true;
  }
  return stems;
}();

bool has_stem(string_view name) {
  for (std::size_t i = 2; i < name.size(); ++i) {
    if (kStems[stem_slot(name[i - 2], name[i - 1], name[i])]) {
      return true;
    }
  }
  return name.size() >= 2 && to_lower(name[name.size() - 2]) == 'p' && to_lower(name.back()) == 'w';
}

constexpr LetterSet letters_of(string_view word) {
  LetterSet letters = 0;
  for (const char c : word) {
    letters |= letter_bit(c);
  }
  return letters;
}

}  // namespace

bool can_be_secret_name(LetterSet letters) {
  static constexpr std::array kNeeded = {
      letters_of("pass"),       letters_of("pwd"),        letters_of("key"),
      letters_of("token"),      letters_of("secret"),     letters_of("cred"),
      letters_of("auth"),       letters_of("bearer"),     letters_of("jwt"),
      letters_of("dsn"),        letters_of("pin"),        letters_of("otp"),
      letters_of("salt"),       letters_of("seed"),       letters_of("code"),
      letters_of("string"),     letters_of("pw"),         letters_of("psw"),
      letters_of("senha"),      letters_of("clave"),      letters_of("mnemonic"),
      letters_of("phrase"),     letters_of("pepper"),     letters_of("kennwort"),
      letters_of("wachtwoord"), letters_of("contrasena"), letters_of("words")};
  unsigned matches = 0;
  for (const LetterSet needed : kNeeded) {  // Without branches it is a few vector instructions.
    matches |= (letters & needed) == needed ? 1U : 0U;
  }
  return matches != 0;
}

SecretKind secret_kind(string_view name) {
  if (name.size() > kNameSizeMax || !has_stem(name)) {
    return SecretKind::kNone;
  }
  const NameWords names(name);
  const std::span<const string_view> words = names.all();
  SecretKind kind = SecretKind::kNone;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const SecretKind each = kind_of_word(i > 0 ? words[i - 1] : string_view(), words[i]);
    if (each != SecretKind::kNone) {
      // "secret_access_token_auth": the strong word counts, not the weak one after it.
      kind = kind != SecretKind::kNone && each == SecretKind::kWeak ? kind : each;
    } else if (kind != SecretKind::kNone && kAboutWords.contains(words[i])) {
      // Vault's secret_id is the secret itself.
      kind = kind == SecretKind::kSecret && words[i] == "id" && i + 1 == words.size()
                 ? kind
                 : SecretKind::kNone;
    }
  }
  return kind;
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
  switch (kind) {
    case SecretKind::kPassword:
    case SecretKind::kPass:
      return "password";
    case SecretKind::kApiKey:
      return "api-key";
    case SecretKind::kToken:
      return "token";
    case SecretKind::kSecret:
      return "secret";
    case SecretKind::kPrivateKey:
      return "private-key";
    case SecretKind::kCredential:
      return "credential";
    case SecretKind::kConnection:
      return "connection-string";
    case SecretKind::kNone:
    case SecretKind::kWeak:
    case SecretKind::kSeedPhrase:
    case SecretKind::kCode:
      break;
  }
  return "generic-secret";
}

}  // namespace bmad_mem
