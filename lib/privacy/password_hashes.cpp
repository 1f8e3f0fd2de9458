// password_hashes.cpp - hashes of passwords as .htpasswd, /etc/shadow and databases have them.
//
//   $2y$10$<53>   $6$rounds=5000$salt$<86>   $argon2id$v=19$m=…$salt$hash   {SSHA}<base64>
//   pbkdf2_sha256$600000$salt$hash           root:$y$j9T$salt$hash:19000:0:99999:7:::
//
// A hash is a secret as long as weak passwords can be guessed from it.
#include <algorithm>
#include <array>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kHashRule = "password-hash";

bool is_crypt_byte(char c) { return is_alnum(c) || c == '.' || c == '/'; }

/// A byte of the fields behind the name of a method: parameters, salt and hash.
bool is_field_byte(char c) { return is_crypt_byte(c) || std::string_view("+=,-_").contains(c); }

/// Method and the sizes that its hash, the last field, may have.
struct Method {
  std::string_view prefix;
  std::size_t hash_size_min;
  std::size_t hash_size_max;
  std::size_t fields;  ///< Least number of fields behind the prefix.
};
constexpr std::array<Method, 22> kMethods = {{
    {"$2a$", 53, 53, 2},      {"$2b$", 53, 53, 2},     {"$2x$", 53, 53, 2},
    {"$2y$", 53, 53, 2},      {"$1$", 22, 22, 2},      {"$5$", 43, 43, 2},
    {"$6$", 86, 86, 2},       {"$y$", 43, 43, 3},      {"$gy$", 43, 43, 3},
    {"$7$", 43, 43, 2},       {"$apr1$", 22, 22, 2},   {"$argon2", 22, 128, 4},
    {"$scrypt$", 22, 128, 3}, {"$pbkdf2", 22, 128, 3}, {"$bcrypt-sha256$", 31, 31, 3},
    {"$sha1$", 28, 28, 3},    {"$md5", 22, 22, 2},     {"$P$", 31, 31, 1},
    {"$H$", 31, 31, 1},       {"$S$", 52, 52, 1},      {"$8$", 43, 43, 2},
    {"$9$", 43, 43, 2},
}};

const Method* method_at(std::string_view rest) {
  for (const Method& method : kMethods) {
    if (rest.starts_with(method.prefix)) {
      return &method;
    }
  }
  return nullptr;
}

}  // namespace

void scan_password_hash(StructureScan& scan, std::size_t at, std::size_t /*size*/) {
  constexpr std::size_t kFieldMax = 160;
  constexpr std::size_t kFieldsMax = 6;
  const Method* method = method_at(scan.text.substr(at));
  if (method == nullptr) {
    return;
  }
  std::size_t field = at + method->prefix.size();
  std::size_t end = run_end(scan.text, field, is_field_byte, kFieldMax);
  std::size_t count = 1;
  while (count < kFieldsMax && byte_at(scan.text, end) == '$') {
    field = end + 1;
    end = run_end(scan.text, field, is_field_byte, kFieldMax);
    ++count;
  }
  while (end > field && scan.text[end - 1] == ',') {
    --end;
  }
  const std::size_t sentence_end = end > field && scan.text[end - 1] == '.' ? end - 1 : end;
  const auto fits = [&](std::size_t stop) {
    const std::size_t size = stop - field;
    return count >= method->fields && size >= method->hash_size_min &&
           size <= method->hash_size_max;
  };
  if (fits(end)) {
    scan.add(at, end, kHashRule);
  } else if (fits(sentence_end)) {
    scan.add(at, sentence_end, kHashRule);
  }
}

void scan_labelled_hash(StructureScan& scan, std::size_t at, std::size_t size) {
  constexpr std::size_t kHashMin = 20;
  constexpr std::size_t kHashMax = 512;
  const auto is_inside = [](char c) { return is_field_byte(c) || c == '$' || c == ':'; };
  if (is_word_byte(byte_before(scan.text, at))) {
    return;
  }
  // Behind "{SSHA": "256}". What stands in braces is a method, not a variable.
  std::size_t begin = at + size;
  if (scan.text[at] == '{') {
    begin =
        run_end(scan.text, begin, [](char c) { return is_alnum(c) || c == '-' || c == '_'; }, 16);
    if (byte_at(scan.text, begin) != '}') {
      return;
    }
    ++begin;
  }
  std::size_t end = run_end(scan.text, begin, is_inside, kHashMax);
  while (end > begin && std::string_view(",.:").contains(scan.text[end - 1])) {
    --end;
  }
  const std::string_view hash = scan.text.substr(begin, end - begin);
  if (hash.size() >= kHashMin && looks_random(hash.substr(hash.rfind('$') + 1)) &&
      !is_stand_in(hash)) {
    scan.add(at, end, kHashRule);
  }
}

void scan_shadow(StructureScan& scan, std::size_t at, std::size_t /*size*/) {
  // name:HASH:days:days:99999:7::: - the word found is ":99999:".
  const std::string_view text = scan.text;
  std::size_t end = at;
  for (int i = 0; i < 2; ++i) {
    end = run_begin(text, end, is_digit, 8);
    if (byte_before(text, end) != ':') {
      return;
    }
    --end;
  }
  const std::size_t begin =
      run_begin(text, end, [](char c) { return is_field_byte(c) || c == '$'; }, 256);
  constexpr std::size_t kHashMin = 13;
  if (end - begin >= kHashMin && byte_before(text, begin) == ':') {
    scan.add(begin, end, kHashRule);
  }
}

}  // namespace bmad_mem
