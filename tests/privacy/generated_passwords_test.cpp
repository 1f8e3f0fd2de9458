// generated_passwords_test.cpp - random passwords with all signs are found wherever they stand.
#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem::test::generated_passwords_test {
namespace {

using std::string_view;

std::string password(std::mt19937& random) {
  constexpr std::size_t kSize = 16;
  constexpr int kPrinted = '~' - '!' + 1;
  std::string text;
  for (std::size_t i = 0; i < kSize; ++i) {
    text += static_cast<char>('!' + static_cast<int>(random() % kPrinted));
  }
  return text;
}

/// PLAIN is the password as it is; JSON, YAML and XML as the format writes it within quotes or
/// tags.
constexpr std::array kLayouts = std::to_array<string_view>({
    "{\"user\": \"ann\", \"password\": \"JSON\"}",
    "tool --user ann --password PLAIN --port 80",
    "tool --password=PLAIN --port 80",
    "DB_HOST=x\nDB_PASSWORD=PLAIN\nB=2\n",
    "the password is PLAIN and the port is 80",
    "The password for staging is PLAIN, keep it",
    "db:\n  password: PLAIN\n  port: 80\n",
    "db:\n  password: 'YAML'\n  port: 80\n",
    "password = \"JSON\";",
    "[db]\npassword = PLAIN\nport = 80\n",
    "- **Password:** PLAIN\n",
    "<password>XML</password>",
    "password: |\n  PLAIN\nport: 80\n",
});

std::string with_escapes(string_view text, string_view form) {
  std::string out;
  for (const char c : text) {
    if (form == "YAML" && c == '\'') {
      out += "''";
    } else if (form == "XML" && c == '&') {
      out += "&amp;";
    } else if (form == "XML" && c == '<') {
      out += "&lt;";
    } else if (form == "JSON" && (c == '"' || c == '\\')) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string filled(string_view layout, string_view value) {
  std::string text(layout);
  for (const string_view form : {"PLAIN", "JSON", "YAML", "XML"}) {
    if (const std::size_t at = text.find(form); at != std::string::npos) {
      return text.replace(at, form.size(), with_escapes(value, form));
    }
  }
  return text;
}

/// Whether five bytes of `value` in a row are left.
bool is_left(string_view text, string_view value) {
  constexpr std::size_t kSome = 5;
  for (std::size_t i = 0; i + kSome <= value.size(); ++i) {
    if (text.contains(value.substr(i, kSome))) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("of 600 generated passwords in every layout, two in a hundred stay at most") {
  constexpr unsigned kSeed = 22;
  constexpr int kCount = 600;
  const Redactor redactor = std::move(Redactor::make({}).value());
  std::mt19937 random(kSeed);
  int all = 0;
  int left = 0;
  for (const string_view layout : kLayouts) {
    int left_here = 0;
    for (int i = 0; i < kCount; ++i) {
      const std::string value = password(random);
      const std::string text = filled(layout, value);
      RedactionTally tally;
      left_here += is_left(redactor.redact(text, {}, tally).value_or(text), value) ? 1 : 0;
    }
    CHECK_MESSAGE(left_here * 100 <= kCount * 4, left_here << " stay in: " << layout);
    all += kCount;
    left += left_here;
  }
  CHECK_MESSAGE(left * 100 <= all * 2, left << " of " << all << " stay, seed " << kSeed);
}

TEST_CASE("a value in quotes under a strong name goes, and what stands for one stays") {
  const Redactor redactor = std::move(Redactor::make({}).value());
  const auto redacted = [&](const std::string& text) {
    RedactionTally tally;
    return redactor.redact(text, {}, tally).value_or(text);
  };
  CHECK(redacted(R"({"password":"32|D>n,3l3%7|K@k"})") == R"({"password":"[REDACTED:password]"})");
  CHECK(redacted(R"({"password":"aB<x>9!cD3${e}#fG7"})") ==
        R"({"password":"[REDACTED:password]"})");
  for (const std::string text :
       {R"("password": "${DB_PASSWORD}")", R"("password": "<your-key>")",
        R"("password": "{{ .Values.db.password }}")", R"x("password": "$(cat /run/secrets/db)")x",
        R"("password": "[REDACTED:password]")", R"x("password": "^(?=.*[A-Z])(?=.*\\d).{8,}$")x",
        R"("password": "user:${PASS}@host")", R"("token": "\x63\x6c\x69\x65\x6e\x74")",
        "token = Name.Class\n", "pass = &PerPassMap;\n"}) {
    CHECK(redacted(text) == text);
  }
}

}  // namespace bmad_mem::test::generated_passwords_test
