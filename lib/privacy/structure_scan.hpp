// structure_scan.hpp - one walk over a text in search of structures, and what it remembers.
//
//   text ──► words that announce a structure ──► the scanner of that structure reads on from there
//            ("PRIVATE KEY", "eyJ", "://", "cookie", …)
//
// Time is linear because a scanner looks a bounded way back, and reads either a bounded way ahead
// or what it remembers the end of: no byte is read again for each of the words before it.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "privacy/redactor.hpp"
#include "text_scan.hpp"

namespace bmad_mem {

class KeywordIndex;

struct StructureScan {
  std::string_view text;
  Detections& out;

  std::size_t key_end = 0;     ///< Behind the last private key. Nothing in it needs a name.
  std::size_t cookie_end = 0;  ///< Behind the last cookies that were read.
  /// The last run of base64url in which a web token was looked for, and how often.
  std::size_t token_run_end = 0;
  std::size_t token_tries = 0;
  /// The next line of a PuTTY file that announces its private part, as far as it was looked for.
  std::size_t private_lines = 0;
  /// The last credentials of a header that were read.
  std::size_t credentials_begin = 0;
  std::size_t credentials_end = 0;

  std::size_t seed_phrase_end = 0;  ///< Behind the last one.
  std::size_t table_end = 0;        ///< Behind the last row of the last table.
  /// Behind the last value that was longer than what is read to judge one.
  std::size_t long_value_end = 0;

  /// Where the run of `is` ends, of which what is before `judged` was read.
  template <typename Is>
  std::size_t real_end(std::size_t judged, const Is& is) {
    assert(judged <= text.size());
    if (judged >= long_value_end) {
      long_value_end = run_end(text, judged, is);
    }
    return long_value_end;
  }

  void add(std::size_t begin, std::size_t end, std::string_view rule,
           DetectionAction action = DetectionAction::kSecret) const {
    assert(begin <= end && end <= text.size());
    out.push_back({.begin = begin, .end = end, .rule = rule, .action = action});
  }
};

/// Reads on from the word of `size` bytes at `at`.
using StructureScanner = void (*)(StructureScan& scan, std::size_t at, std::size_t size);

// private_keys.cpp: behind "PRIVATE KEY" and "PuTTY-User-Key-File-".
void scan_private_key(StructureScan& scan, std::size_t at, std::size_t size);
void scan_putty_key(StructureScan& scan, std::size_t at, std::size_t size);

// Behind "eyJ", base64 of '{"'.
void scan_web_token(StructureScan& scan, std::size_t at, std::size_t size);

// address_secrets.cpp: behind "://", "@tcp(", "jdbc:oracle:thin:", "secret=".
void scan_url(StructureScan& scan, std::size_t at, std::size_t size);
void scan_go_data_source(StructureScan& scan, std::size_t at, std::size_t size);
void scan_oracle_login(StructureScan& scan, std::size_t at, std::size_t size);
// Behind names of parts such as "password" and "AccountKey", and behind those of signatures in the
// query of an address.
void scan_connection_password(StructureScan& scan, std::size_t at, std::size_t size);
void scan_connection_key(StructureScan& scan, std::size_t at, std::size_t size);
void scan_signature(StructureScan& scan, std::size_t at, std::size_t size);

// header_secrets.cpp: behind names of headers and of schemes, and options of curl.
void scan_authorization(StructureScan& scan, std::size_t at, std::size_t size);
void scan_scheme(StructureScan& scan, std::size_t at, std::size_t size);
void scan_key_header(StructureScan& scan, std::size_t at, std::size_t size);
void scan_curl_login(StructureScan& scan, std::size_t at, std::size_t size);
// Behind "cookie" and " -b".
void scan_cookie(StructureScan& scan, std::size_t at, std::size_t size);
void scan_curl_cookie(StructureScan& scan, std::size_t at, std::size_t size);

// known_files.cpp
void scan_netrc(StructureScan& scan, std::size_t at, std::size_t size);
void scan_login(StructureScan& scan, std::size_t at, std::size_t size);
void scan_ansible_vault(StructureScan& scan, std::size_t at, std::size_t size);
void scan_docker_auth(StructureScan& scan, std::size_t at, std::size_t size);

// spoken_secrets.cpp: after what a password or a key, by its `name` in English, is called in other
// languages, before "is the password", and after "seed phrase". In English only what a preposition
// or "is" parts from the word: "password for staging: HERE".
void scan_spoken(StructureScan& scan, std::size_t at, std::size_t size, std::string_view name,
                 bool is_english = false);
void scan_password_before(StructureScan& scan, std::size_t at, std::size_t size);
// After "password": what is drawn and parted from it by signs alone.
void scan_named_password(StructureScan& scan, std::size_t at, std::size_t size);
void scan_seed_phrase(StructureScan& scan, std::size_t at, std::size_t size);

// Below the head of a column.
void scan_column(StructureScan& scan, std::size_t at, std::size_t size);

/// Where the value begins that a name which ends at `name_end` is given: behind quotes, brackets
/// and one of ": = => , >"; npos when there is none near.
std::size_t value_after_name(std::string_view text, std::size_t name_end);

/// Whether "curl" stands before `at` in its line.
bool is_in_curl_command(std::string_view text, std::size_t at);

/// Looks for a token at a keyword of its rule. token_rules.cpp
class TokenScan {
 public:
  TokenScan(std::string_view text, Detections& out) : text_(text), out_(out) {}

  /// Files the words of tokens under the numbers of their rules.
  static void add_keywords(KeywordIndex& index);
  void operator()(std::size_t at, std::string_view word, std::uint16_t index);

 private:
  std::string_view text_;
  Detections& out_;
  std::size_t long_end_ = 0;  ///< Behind a token in which no other is looked for.
};

}  // namespace bmad_mem
