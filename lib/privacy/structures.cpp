#include "structures.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bmad_mem/text.hpp"
#include "keyword_index.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

enum class Case : std::uint8_t { kExact, kAny };

/// A word that announces a structure; one of any case is written in small letters.
struct Announcer {
  std::string_view word;
  Case letters;
  StructureScanner scanner;
};

constexpr Announcer kAnnouncers[] = {
    {"PRIVATE KEY", Case::kExact, scan_private_key},
    {"PuTTY-User-Key-File-", Case::kExact, scan_putty_key},
    {"eyJ", Case::kExact, scan_web_token},
    {"://", Case::kExact, scan_url},
    {":\\/\\/", Case::kExact, scan_url},
    {"@tcp(", Case::kExact, scan_go_data_source},
    {"@unix(", Case::kExact, scan_go_data_source},
    {"jdbc:oracle:thin:", Case::kExact, scan_oracle_login},
    {"password", Case::kAny, scan_connection_password},
    {"pwd", Case::kAny, scan_connection_password},
    {"passwd", Case::kAny, scan_connection_password},
    {"accountkey", Case::kAny, scan_connection_key},
    {"sharedaccesskey", Case::kAny, scan_connection_key},
    {"sharedsecretkey", Case::kAny, scan_connection_key},
    {";accesskey", Case::kAny, scan_connection_key},
    {";secret", Case::kAny, scan_connection_key},
    {"sig=", Case::kExact, scan_signature},
    {"signature=", Case::kAny, scan_signature},
    {"x-amz-signature=", Case::kAny, scan_signature},
    {"x-amz-security-token=", Case::kAny, scan_signature},
    {"x-goog-signature=", Case::kAny, scan_signature},
    {"authorization", Case::kAny, scan_authorization},
    {"bearer", Case::kAny, scan_scheme},
    {"basic", Case::kAny, scan_scheme},
    {"x-api-key", Case::kAny, scan_key_header},
    {"x-apikey", Case::kAny, scan_key_header},
    {"x-auth-token", Case::kAny, scan_key_header},
    {"x-auth-key", Case::kAny, scan_key_header},
    {"x-access-token", Case::kAny, scan_key_header},
    {"x-amz-security-token", Case::kAny, scan_key_header},
    {"x-goog-api-key", Case::kAny, scan_key_header},
    {"x-vault-token", Case::kAny, scan_key_header},
    {"x-gitlab-token", Case::kAny, scan_key_header},
    {"x-session-token", Case::kAny, scan_key_header},
    {"x-csrf-token", Case::kAny, scan_key_header},
    {"x-xsrf-token", Case::kAny, scan_key_header},
    {"private-token", Case::kAny, scan_key_header},
    {"job-token", Case::kAny, scan_key_header},
    {"ocp-apim-subscription-key", Case::kAny, scan_key_header},
    {" -u", Case::kExact, scan_curl_login},
    {" --user", Case::kExact, scan_curl_login},
    {" --proxy-user", Case::kExact, scan_curl_login},
    {"cookie", Case::kAny, scan_cookie},
    {" -b", Case::kExact, scan_curl_cookie},
    {"_authtoken", Case::kAny, scan_npmrc},
    {"_auth", Case::kExact, scan_npmrc},
    {":_password", Case::kExact, scan_npmrc},
    {"npmauthtoken", Case::kAny, scan_npmrc},
    {"npmauthident", Case::kAny, scan_npmrc},
    {"machine", Case::kExact, scan_netrc},
    {"default", Case::kExact, scan_netrc},
    {":5432:", Case::kExact, scan_pgpass},
    {":5433:", Case::kExact, scan_pgpass},
    {":6432:", Case::kExact, scan_pgpass},
    {":6543:", Case::kExact, scan_pgpass},
    {":*:", Case::kExact, scan_pgpass},
    {"password", Case::kExact, scan_pypirc},
    {"auth", Case::kExact, scan_docker_auth},
    {"identitytoken", Case::kExact, scan_docker_auth},
    {"registrytoken", Case::kExact, scan_docker_auth},
    {"$2a", Case::kExact, scan_password_hash},
    {"$2b", Case::kExact, scan_password_hash},
    {"$2x", Case::kExact, scan_password_hash},
    {"$2y", Case::kExact, scan_password_hash},
    {"$1$", Case::kExact, scan_password_hash},
    {"$5$", Case::kExact, scan_password_hash},
    {"$6$", Case::kExact, scan_password_hash},
    {"$y$", Case::kExact, scan_password_hash},
    {"$gy$", Case::kExact, scan_password_hash},
    {"$7$", Case::kExact, scan_password_hash},
    {"$P$", Case::kExact, scan_password_hash},
    {"$H$", Case::kExact, scan_password_hash},
    {"$S$", Case::kExact, scan_password_hash},
    {"$apr1$", Case::kExact, scan_password_hash},
    {"$argon2", Case::kExact, scan_password_hash},
    {"$scrypt$", Case::kExact, scan_password_hash},
    {"$pbkdf2", Case::kExact, scan_password_hash},
    {"$bcrypt-sha256$", Case::kExact, scan_password_hash},
    {"$sha1$", Case::kExact, scan_password_hash},
    {"$md5", Case::kExact, scan_password_hash},
    {"{ssha", Case::kAny, scan_labelled_hash},
    {"{sha", Case::kAny, scan_labelled_hash},
    {"{smd5}", Case::kAny, scan_labelled_hash},
    {"{pbkdf2", Case::kAny, scan_labelled_hash},
    {"pbkdf2_sha", Case::kExact, scan_labelled_hash},
    {"pbkdf2:sha", Case::kExact, scan_labelled_hash},
    {"scrypt:", Case::kExact, scan_labelled_hash},
    {":99999:", Case::kExact, scan_shadow},
};

/// The index is exact: a word of any case is filed under each way to write its first three bytes.
class Index {
 public:
  Index() {
    constexpr unsigned kWays = 8;
    starts_.reserve(std::size(kAnnouncers) * kWays);  // The index holds views of them.
    for (std::uint16_t i = 0; i < std::size(kAnnouncers); ++i) {
      const Announcer& announcer = kAnnouncers[i];
      if (announcer.letters == Case::kExact) {
        words_.add(announcer.word, i);
        continue;
      }
      for (unsigned way = 0; way < kWays; ++way) {
        add_start(announcer.word, way, i);
      }
    }
  }

  template <typename Use>
  void find(std::string_view text, const Use& use) const {
    words_.find(text, [&](std::size_t at, std::string_view /*word*/, std::uint16_t i) {
      const Announcer& announcer = kAnnouncers[i];
      if (announcer.letters == Case::kExact || starts_folded(text.substr(at), announcer.word)) {
        use(at, announcer);
      }
    });
  }

 private:
  void add_start(std::string_view word, unsigned way, std::uint16_t value) {
    std::string start(word.substr(0, KeywordIndex::kWordSizeMin));
    for (unsigned i = 0; i < start.size(); ++i) {
      if ((way >> i & 1U) == 0) {
        continue;
      }
      if (!is_lower(start[i])) {
        return;  // A sign has one way to be written.
      }
      start[i] = static_cast<char>(start[i] - 'a' + 'A');
    }
    starts_.push_back(std::move(start));
    words_.add(starts_.back(), value);
  }

  std::vector<std::string> starts_;
  KeywordIndex words_;
};

}  // namespace

void find_structures(std::string_view text, Detections& out) {
  static const Index index;
  StructureScan scan{.text = text, .out = out};
  index.find(text, [&](std::size_t at, const Announcer& announcer) {
    if (at >= scan.key_end) {
      announcer.scanner(scan, at, announcer.word.size());
    }
  });
}

}  // namespace bmad_mem
