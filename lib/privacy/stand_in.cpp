#include "stand_in.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::array<std::string_view, 90> kStandInWords = {
    "placeholder", "credentials", "credential", "undefined", "passphrase", "password",
    "passwort",    "passwords",   "passwd",     "personal",  "private",    "pass",
    "pwd",         "pw",          "changeme",   "change",    "example",    "sample",
    "dummy",       "default",     "fake",       "secret",    "session",    "service",
    "some",        "access",      "account",    "admin",     "auth",       "authorization",
    "api",         "apikey",      "app",        "bearer",    "basic",      "bar",
    "baz",         "bad",         "client",     "code",      "cookie",     "data",
    "db",          "expired",     "false",      "foo",       "from",       "github",
    "goes",        "good",        "guest",      "hash",      "here",       "hidden",
    "id",          "insert",      "invalid",    "is",        "jwt",        "key",
    "license",     "login",       "me",         "mock",      "my",         "new",
    "none",        "null",        "oauth",      "put",       "redacted",   "refresh",
    "removed",     "replace",     "root",       "string",    "stub",       "test",
    "the",         "this",        "token",      "true",      "user",       "username",
    "abc",         "xyz",         "valid",      "value",     "your",       "to",
};

std::size_t word_at(std::string_view rest) {
  std::size_t longest = 0;
  for (const std::string_view word : kStandInWords) {
    if (word.size() > longest && starts_folded(rest, word)) {
      longest = word.size();
    }
  }
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

bool is_variable(std::string_view value) {
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

bool holds_mark(std::string_view value) {
  for (const std::string_view mark : {"${", "{{", "$(", "#{", "%(", "...", "\u2026", "***",
                                      "[REDACTED", "<", ">", "\u2022\u2022"}) {
    if (value.contains(mark)) {
      return true;
    }
  }
  for (const std::string_view word : {"example", "placeholder", "xxxx", "changeme", "redacted"}) {
    if (contains_folded(value, word)) {
      return true;
    }
  }
  return starts_folded(value, "your-") || starts_folded(value, "your_") || value == "%s" ||
         value == "%v" || value == "%d";
}

}  // namespace

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

bool is_example_word(std::string_view value) { return is_made_of_words(value, true); }

}  // namespace bmad_mem
