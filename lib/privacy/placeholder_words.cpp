#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "randomness.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

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
  if (is_enclosed(text, "<", ">") || is_enclosed(text, "[", "]") || is_enclosed(text, "%", "%") ||
      is_enclosed(text, "@", "@") || is_enclosed(text, "__", "__") || is_enclosed(text, "{", "}")) {
    return true;
  }
  if (has_enclosed(text, "${", "}") || has_enclosed(text, "{{", "}}") ||
      has_enclosed(text, "$(", ")") || has_enclosed(text, "#{", "}") ||
      has_enclosed(text, "<%", "%>") || has_enclosed(text, "%(", ")s") ||
      text.contains("[REDACTED") || has_angle_name(text)) {
    return true;
  }
  if (text.starts_with("${") || text.starts_with("{{") || text.starts_with("$(")) {
    return true;  // What a blank cut off: "${{ secrets.X }}".
  }
  if (text.starts_with('$')) {
    const std::string_view name = text.substr(1);
    const bool is_variable = all_are(name, [](char c) { return is_upper(c) || c == '_'; });
    if (is_variable || name.size() == 1 || is_reference_name(name)) {
      return true;
    }
  }
  return text == "%s" || text == "%d" || text == "%v" || text == "%w" || text == "{}" ||
         text == "?";
}

/// What is read from elsewhere.
bool is_reference(std::string_view text) {
  static constexpr auto kPrefixes = std::to_array<std::string_view>({"process.env",
                                                                     "os.environ",
                                                                     "os.getenv",
                                                                     "getenv(",
                                                                     "System.get",
                                                                     "ENV[",
                                                                     "ENV.",
                                                                     "env.",
                                                                     "env(",
                                                                     "env:",
                                                                     "$env:",
                                                                     "$ENV",
                                                                     "$_",
                                                                     "import.meta",
                                                                     "Deno.env",
                                                                     "Bun.env",
                                                                     "std::env",
                                                                     "std::getenv",
                                                                     "Environment.Get",
                                                                     "var.",
                                                                     "local.",
                                                                     "data.",
                                                                     "module.",
                                                                     "secrets.",
                                                                     "vault:",
                                                                     "vault(",
                                                                     "op://",
                                                                     "arn:aws:",
                                                                     "arn:aws-",
                                                                     "ssm:",
                                                                     "sm://",
                                                                     "secretsmanager:",
                                                                     "keyring:",
                                                                     "keychain:",
                                                                     "file:",
                                                                     "ENC[",
                                                                     "ENC(",
                                                                     "!vault",
                                                                     "!Ref",
                                                                     "!Sub",
                                                                     "!secret",
                                                                     "ref+"});
  return std::ranges::any_of(kPrefixes, [&](auto each) { return text.starts_with(each); });
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

bool has_mask(std::string_view lower) {
  for (const std::string_view mask :
       {"xxxx", "****", "....", "...", "\u2026", "\u2022\u2022", "____", "----", "####"}) {
    if (lower.contains(mask)) {
      return true;
    }
  }
  return false;
}

/// What stands for a value as a whole; sorted here, so that it can be written by subject.
constexpr auto kPlaceholderWords = [] {
  auto words = std::to_array<std::string_view>({"none",
                                                "null",
                                                "nil",
                                                "undefined",
                                                "true",
                                                "false",
                                                "yes",
                                                "no",
                                                "on",
                                                "off",
                                                "string",
                                                "str",
                                                "text",
                                                "number",
                                                "int",
                                                "integer",
                                                "bool",
                                                "boolean",
                                                "object",
                                                "array",
                                                "bytes",
                                                "byte",
                                                "char",
                                                "any",
                                                "unknown",
                                                "void",
                                                "required",
                                                "optional",
                                                "default",
                                                "empty",
                                                "hidden",
                                                "masked",
                                                "removed",
                                                "redacted",
                                                "unset",
                                                "set",
                                                "missing",
                                                "invalid",
                                                "valid",
                                                "n/a",
                                                "na",
                                                "tbd",
                                                "todo",
                                                "fixme",
                                                "secret",
                                                "secrets",
                                                "password",
                                                "passwd",
                                                "passphrase",
                                                "pwd",
                                                "pass",
                                                "token",
                                                "tokens",
                                                "apikey",
                                                "api_key",
                                                "api-key",
                                                "api key",
                                                "key",
                                                "keys",
                                                "credential",
                                                "credentials",
                                                "user",
                                                "username",
                                                "login",
                                                "admin",
                                                "auth",
                                                "authorization",
                                                "authentication",
                                                "bearer",
                                                "basic",
                                                "digest",
                                                "oauth",
                                                "oauth2",
                                                "jwt",
                                                "ldap",
                                                "kerberos",
                                                "plain",
                                                "plaintext",
                                                "value",
                                                "values",
                                                "this",
                                                "self",
                                                "that",
                                                "it",
                                                "input",
                                                "output",
                                                "field",
                                                "prompt",
                                                "type",
                                                "name",
                                                "nan",
                                                "nothing",
                                                "blank",
                                                "enabled",
                                                "disabled",
                                                "enable",
                                                "disable",
                                                "always",
                                                "never",
                                                "auto",
                                                "automatic",
                                                "manual",
                                                "ask",
                                                "prompted",
                                                "generated",
                                                "random",
                                                "encrypted",
                                                "hashed",
                                                "optional[str]",
                                                "std::string",
                                                "const char*",
                                                "private",
                                                "public",
                                                "internal",
                                                "foo",
                                                "bar",
                                                "baz",
                                                "qux",
                                                "foobar",
                                                "foo_bar",
                                                "abc",
                                                "xyz",
                                                "abcd",
                                                "lorem",
                                                "ipsum",
                                                "hello",
                                                "world",
                                                "test",
                                                "testing",
                                                "tests",
                                                "local",
                                                "localhost",
                                                "development",
                                                "production",
                                                "staging",
                                                "here",
                                                "varchar",
                                                "changed",
                                                "expired",
                                                "revoked",
                                                "rotated"});
  std::ranges::sort(words);
  return words;
}();

bool is_placeholder_word(std::string_view lower) {
  return std::ranges::binary_search(kPlaceholderWords, lower);
}

/// Specimens of documents, even inside of what looks random: AKIAIOSFODNN7EXAMPLE.
bool has_specimen_word(std::string_view lower) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"example", "changeme", "change_me", "change-me", "placeholder", "redacted", "notreal",
       "not-a-real", "not_a_real", "not-real", "replaceme", "replace_me", "replace-me", "deadbeef",
       "insecure"});
  return std::ranges::any_of(kWords, [&](auto each) { return lower.contains(each); });
}

/// "test-token", "my_api_key", "your key here": one of these words, and nothing random beside.
bool has_sample_word(std::string_view value, std::string_view lower) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"test",   "dummy",  "sample", "fake",    "mock",     "your",  "here",   "todo",    "insert",
       "demo",   "foobar", "foo",    "replace", "enter",    "my",    "some",   "specify", "paste",
       "change", "fill",   "stub",   "secret",  "password", "token", "apikey", "dein"});
  bool has_word = false;
  for (std::size_t begin = 0; begin < lower.size();) {
    std::size_t end = begin;
    while (end < lower.size() && is_alnum(lower[end])) {
      ++end;
    }
    const std::string_view part = lower.substr(begin, end - begin);
    if (part.size() >= 8 && randomness_bits(value.substr(begin, end - begin)) >= kRandomBits) {
      return false;
    }
    has_word = has_word || std::ranges::any_of(kWords, [&](std::string_view word) {
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

}  // namespace

bool is_placeholder(std::string_view value) {
  std::string_view text = trimmed(value);
  if (text.empty() || is_mask(text)) {
    return true;
  }
  if (text.size() > kPlaceholderSizeMax) {
    return text.starts_with("ENC[") || text.starts_with("${");
  }
  const std::string lower = lower_ascii(text);
  return is_template(text) || is_reference(text) || has_mask(lower) || is_placeholder_word(lower) ||
         has_specimen_word(lower) || has_sample_word(text, lower) || is_sequence(text);
}

}  // namespace bmad_mem
