// structures.cpp - runs the scanners of tokens and structures in one walk over a text.
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "keyword_index.hpp"
#include "privacy/secret_rule.hpp"
#include "privacy_words.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

enum class Case : std::uint8_t { kExact, kAny };

/// "HERE is the password": read from the word that it ends with, since " is " stands everywhere.
void scan_said_password(StructureScan& scan, std::size_t at, std::size_t size) {
  const bool is_german = to_lower(scan.text[at + size - 1]) == 't';
  const std::string_view text = scan.text.substr(0, at);
  for (const std::string_view words : kSaidBefore.words()) {
    if (text.ends_with(' ') && (words == " ist das ") == is_german && ends_folded(text, words)) {
      scan_password_before(scan, at - words.size(), words.size() + size);
    }
  }
}

/// A word that announces a structure, in kAnnouncers several, apart by '|'; one of any case is
/// written in small letters.
struct Announcer {
  StructureScanner scanner;
  Case letters;
  std::string_view word;
};

constexpr Announcer kAnnouncers[] = {
    {scan_private_key, Case::kExact, "PRIVATE KEY"},
    {scan_putty_key, Case::kExact, "PuTTY-User-Key-File-"},
    {scan_web_token, Case::kExact, "eyJ"},
    {scan_url, Case::kExact, R"(://|:\/\/)"},
    {scan_connection_password, Case::kAny, "password|pwd|passwd"},
    {scan_connection_key, Case::kAny,
     "accountkey|sharedaccesskey|sharedsecretkey|;accesskey|;secret"},
    {scan_go_data_source, Case::kExact, "@tcp(|@unix("},
    {scan_oracle_login, Case::kExact, "jdbc:oracle:thin:"},
    {scan_signature, Case::kExact, "sig="},
    {scan_signature, Case::kAny,
     "signature=|x-amz-signature=|x-amz-security-token=|x-goog-signature="},
    {scan_authorization, Case::kAny, "authorization"},
    {scan_scheme, Case::kAny, "bearer|basic"},
    {scan_key_header, Case::kAny,
     "x-api-key|x-apikey|x-auth-token|x-auth-key|x-access-token|x-amz-security-token|"
     "x-goog-api-key|x-vault-token|x-gitlab-token|x-session-token|x-csrf-token|x-xsrf-token|"
     "private-token|job-token|api-token|x-access-key|x-client-secret|ocp-apim-subscription-key"},
    {scan_curl_login, Case::kExact, " -u| --user| --proxy-user|\n-u|\n--user"},
    {scan_cookie, Case::kAny, "cookie"},
    {scan_curl_cookie, Case::kExact, " -b"},
    {scan_netrc, Case::kExact, "machine|default"},
    {scan_login, Case::kAny, "password|passwd"},
    {scan_ansible_vault, Case::kExact, "$ANSIBLE_VAULT;"},
    {scan_docker_auth, Case::kExact, "auth|identitytoken|registrytoken"},
    {scan_said_password, Case::kAny, "password|passwort"},
    {scan_named_password, Case::kAny, "password|passwd|passwort|passphrase|pwd|_pass|pass:"},
    {scan_named_password, Case::kExact, " pw | pw:| pw=| pw is |\npw |\npw:|\npw=|\npw is "},
    {scan_column, Case::kAny, "password|passwd|secret|api_key|apikey|token"},
};

/// The index is exact: a word of any case is filed under each way to write its first three bytes.
constexpr std::string_view kApi = "api";

void scan_api_key(StructureScan& scan, std::size_t at, std::size_t size) {
  scan_spoken(scan, at, size, "api key");
}

/// "api" within what its key is called, as in "clave de api": the words before it are too usual to
/// be looked for.
void scan_api(StructureScan& scan, std::size_t at, std::size_t size) {
  if (is_letter(byte_before(scan.text, at)) || is_letter(byte_at(scan.text, at + size))) {
    return;
  }
  for (const std::string_view phrase : kApiKeyPhrases.words()) {
    const std::size_t before = phrase.find(kApi);
    if (before <= at && starts_folded(scan.text.substr(at - before), phrase)) {
      scan_api_key(scan, at - before, phrase.size());
      return;
    }
  }
}

/// The words of tokens, under the numbers of their rules, and after those the announcers. What
/// people call a password is written "senha", "Senha" or "SENHA".
class Index {
 public:
  Index() {
    // Bits of the three bytes that are capitals.
    constexpr std::array<unsigned, 8> kWays = {0, 1, 7, 2, 3, 4, 5, 6};
    constexpr std::size_t kSpokenWays = 3;
    for (const Announcer& each : kAnnouncers) {
      for_each_word(
          each.word,
          [&](std::string_view word) { announcers_.push_back({each.scanner, each.letters, word}); },
          '|');
    }
    const std::size_t spoken = announcers_.size();
    add_list(kPasswordPhrases, [](StructureScan& scan, std::size_t at, std::size_t size) {
      scan_spoken(scan, at, size, "password");
    });
    announcers_.push_back({scan_api, Case::kAny, kApi});
    for (const std::string_view phrase : kApiKeyPhrases.words()) {
      if (!phrase.contains(kApi)) {
        announcers_.push_back({scan_api_key, Case::kAny, phrase});
      }
    }
    add_list(kSeedPhraseNames, scan_seed_phrase);
    starts_.reserve(announcers_.size() * kWays.size());  // The index holds views of them.
    TokenScan::add_keywords(words_);
    assert(first_ + announcers_.size() <= UINT16_MAX && "a number of the index has 16 bits");
    const auto count = static_cast<std::uint16_t>(announcers_.size());
    for (std::uint16_t i = 0; i < count; ++i) {
      if (announcers_[i].letters == Case::kExact) {
        words_.add(announcers_[i].word, static_cast<std::uint16_t>(first_ + i));
        continue;
      }
      for (std::size_t way = 0; way < (i < spoken ? kWays.size() : kSpokenWays); ++way) {
        add_start(announcers_[i].word, kWays[way], i);
      }
    }
  }

  [[nodiscard]] const KeywordIndex& words() const { return words_; }

  /// Whether a word of that number is one of tokens.
  [[nodiscard]] bool is_of_token(std::uint16_t number) const { return number < first_; }

  /// The announcer of that number, when it is the one in `rest`.
  [[nodiscard]] const Announcer* at(std::string_view rest, std::uint16_t number) const {
    assert(number >= first_ && number - first_ < announcers_.size());
    const Announcer& announcer = announcers_[number - first_];
    if (announcer.letters == Case::kExact) {
      return &announcer;
    }
    // Most others differ in the last byte.
    const std::size_t last = announcer.word.size() - 1;
    return last < rest.size() && to_lower(rest[last]) == announcer.word[last] &&
                   starts_folded(rest, announcer.word)
               ? &announcer
               : nullptr;
  }

 private:
  void add_list(const WordList& words, StructureScanner scanner) {
    for (const std::string_view word : words.words()) {
      announcers_.push_back({scanner, Case::kAny, word});
    }
  }

  void add_start(std::string_view word, unsigned way, std::uint16_t value) {
    std::string start(word.substr(0, KeywordIndex::kWordSizeMin));
    for (unsigned i = 0; i < start.size(); ++i) {
      if ((way >> i & 1U) == 0) {
        continue;
      }
      if (!is_lower(start[i])) {
        return;  // A sign, or a letter beyond ASCII, has one way to be written.
      }
      start[i] = static_cast<char>(start[i] - 'a' + 'A');
    }
    assert(starts_.size() < starts_.capacity() && "the index has views of them");
    starts_.push_back(start);
    words_.add(starts_.back(), static_cast<std::uint16_t>(first_ + value),
               word.size() > start.size() ? word[start.size()] : '\0');
  }

  const std::size_t first_ = secret_rules().size();
  std::vector<Announcer> announcers_;
  std::vector<std::string> starts_;
  KeywordIndex words_;
};

const Index& announcers() {
  static const Index kIndex;
  return kIndex;
}

}  // namespace

void find_keywords(std::string_view text, Detections& out) {
  // What a token is its rule knows best: so first all of them.
  Detections structures;
  TokenScan tokens(text, out);
  StructureScan scan{.text = text, .out = structures};
  const Index& index = announcers();
  index.words().find(text, [&](std::size_t at, std::string_view word, std::uint16_t number) {
    if (index.is_of_token(number)) {
      tokens(at, word, number);
      return;
    }
    const Announcer* const announcer = index.at(text.substr(at), number);
    if (announcer != nullptr && at >= scan.key_end) {
      assert(at + announcer->word.size() <= text.size());
      announcer->scanner(scan, at, announcer->word.size());
    }
  });
  out.insert(out.end(), structures.begin(), structures.end());
}

void find_tokens(std::string_view text, Detections& out) {
  TokenScan tokens(text, out);
  announcers().words().find(text, [&](std::size_t at, std::string_view word, std::uint16_t number) {
    if (announcers().is_of_token(number)) {
      tokens(at, word, number);
    }
  });
}

}  // namespace bmad_mem
