// disguised_test.cpp - what a reader sees as a secret is one, whatever signs are between its bytes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "privacy/byte_places.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem::test::disguised_test {
namespace {

using std::string_view;
using namespace std::string_literals;

std::string redacted(string_view text) {
  static const Redactor kRedactor = std::move(Redactor::make({}).value());
  RedactionTally tally;
  return kRedactor.redact(text, {}, tally).value_or(std::string(text));
}

/// Put together here, so that other scanners stay quiet.
const std::string kBegin = "gh"s + "p_Zk3Qw9Lm2Xv7";
const std::string kEnd = "Rt5Yb8Nc4Hd6Jf1Gs0PaUeTi";
const std::string kToken = kBegin + kEnd;
constexpr string_view kPlace = "[REDACTED:github-pat]";

std::string wide(string_view text) {
  std::string all;
  for (const char c : text) {
    all += c;
    all += '\0';
  }
  return all;
}

}  // namespace

TEST_CASE("signs around and within a secret go with it or stay outside") {
  struct Row {
    std::string text;
    std::string expected;
  };
  const std::string place(kPlace);
  const Row rows[] = {
      {"\x1b[31m" + kToken + "\x1b[0m", "\x1b[31m" + place + "\x1b[0m"},
      {"a\x1b[1;32m" + kToken + "\x1b[m b", "a\x1b[1;32m" + place + "\x1b[m b"},
      {"+" + kBegin + "\x1b[7m" + kEnd + "\x1b[27m", "+" + place + "\x1b[27m"},
      {"\x1b]8;;https://x\x1b\\" + kToken + "\x1b]8;;\x1b\\",
       "\x1b]8;;https://x\x1b\\" + place + "\x1b]8;;\x1b\\"},
      {"\xc2\x9b"
       "31m" +
           kToken,
       "\xc2\x9b"
       "31m" +
           place},
      {kBegin + "\u200b" + kEnd, place},
      {kBegin + "\u00ad" + kEnd + " b", place + " b"},
      {"x \u202a" + kBegin + "\u2060" + kEnd + "\u202c", "x \u202a" + place + "\u202c"},
      {"\ufeff" + kToken, "\ufeff" + place},
      {"\\u0067" + kToken.substr(1), place},
      {"&#103;" + kToken.substr(1) + "&nbsp;", place + "&nbsp;"},
      {"&#x67;" + kToken.substr(1), place},
      {"{&quot;password&quot;:&quot;Rk8vWq2mZt5L&quot;}",
       "{&quot;password&quot;:&quot;[REDACTED:password]&quot;}"},
      {"k = \"" + kBegin + "\" + \"" + kEnd + "\"", "k = \"" + place + "\""},
      {"k = '" + kBegin + "' +\n    '" + kEnd + "';", "k = '" + place + "';"},
      {"x_" + kToken, "x_" + place},
      {wide("a " + kToken + " b"), wide("a ") + place + wide(" b")},
      {wide("DB_PASSWORD=Rk8vWq2mZt5L\n"),
       wide("DB_PASSWORD=") + "[REDACTED:password]" + wide("\n")},
      {"\x1b[33mDB_PASSWORD\x1b[0m=\x1b[32mRk8vWq2mZt5L\x1b[0m",
       "\x1b[33mDB_PASSWORD\x1b[0m=\x1b[32m[REDACTED:password]\x1b[0m"},
  };
  for (const Row& row : rows) {
    CHECK_MESSAGE(redacted(row.text) == row.expected, row.text);
    CHECK_MESSAGE(redacted(row.expected) == row.expected, "again: " << row.expected);
  }
}

TEST_CASE("a token is read in parts, in lists, and in letters that look alike") {
  const std::string place(kPlace);
  for (const string_view between : {"\ufe0f", "\u034f", "\u061c", "\u115f", "\u3164", "\U000e0041",
                                    "x\b", "ab\b\b", "\r\n", "\\\n  ", "\n+", "\n  43  ", "\n12:",
                                    "\" .. \"", "' . '", "\" & \"", "${x}", "{{ x }}", "=\n"}) {
    CHECK_MESSAGE(redacted(std::string(kBegin).append(between) + kEnd) == place, between);
  }
  const auto each = [](string_view form, string_view end) {
    std::string text;
    for (const char c : kToken) {
      text += (text.empty() ? "" : std::string(end)) + fmt::format(fmt::runtime(form), c);
    }
    return text;
  };
  CHECK(redacted(each("\\x{:02x}", "")) == place);
  CHECK(redacted(each("\\{:03o}", "")) == place);
  CHECK(redacted(each("={:02X}", "")) == place);
  CHECK(redacted(each("%25{:02x}", "")) == place);
  CHECK(redacted(each("{:d}", ", ")) == place);
  CHECK(redacted(each("0x{:02x}", ",")) == place);
  CHECK(redacted(each("'{:c}'", ", ")) == place);
  CHECK(redacted("\uff47\uff48\uff50" + kToken.substr(3)) == place);
  CHECK(redacted("gh\u0440" + kToken.substr(3)) == place);
  CHECK(redacted("abc" + kToken) == "abc" + place);
  for (const std::string& text :
       {"a line\nand another one with 1234567"s, "one, two, three, four"s,
        "1, 2, 3, 4, 5, 6, 7, 8"s, "a \xd1\x81 b"s, "x \\\n  y"s, "=41=42"s, "{ a }"s}) {
    CHECK(redacted(text) == text);
  }
}

TEST_CASE("what has no secret keeps its signs") {
  for (const std::string& text :
       {"\x1b[31merror\x1b[0m: no such file"s, "caf\u00e9 \u200b \u2026"s, "a &amp; b &lt;c&gt;"s,
        "\\u4f60\\u597d"s, "\"a\" + \"b\""s, "\x1b"s, "\x1b["s, "\x1b]0;title"s, "\\u12"s, "&#;"s,
        "\xe2"s, "\xe2\x80"s, "\xc2"s, "+\""s, wide("hello")}) {
    CHECK(redacted(text) == text);
  }
}

TEST_CASE("base64 over several lines is one") {
  // "export DB_PASSWORD=Rk8vWq2mZt5LxB; more text in here to fill a line or two"
  const string_view lines =
      "data:\n  ZXhwb3J0IERCX1BBU1NXT1JEPVJrOHZXcTJtWnQ1THhC\n"
      "  OyBtb3JlIHRleHQgaW4gaGVyZSB0byBmaWxsIGEgbGlu\n  ZSBvciB0d28=\nend\n";
  CHECK(redacted(lines) == "data:\n  [REDACTED:password]\nend\n");
  // The value stands over the break.
  const string_view broken =
      "eHggeHh4eHh4eHh4eHh4IERCX1BBU1NXT1JEPVJrOHZX\ncTJtWnQ1THhCIHh4eHggeHh4eHh4eHh4eA==\n";
  CHECK(redacted(broken) == "[REDACTED:password]\n");
}

TEST_CASE("places of bytes are found in texts of each size") {
  using Places = BytePlaces<ByteSet<true, 0x00, '+', 0xef>>;
  constexpr string_view kBytes(
      "ab\0cdefgh+\xef"
      "1",
      12);
  std::uint32_t random = 1;
  for (std::size_t size = 0; size < 300; ++size) {
    std::string text;
    std::vector<std::size_t> wanted;
    while (text.size() < size) {
      random = random * 1664525U + 1013904223U;
      const char c = (random >> 16U) % 3 == 0 ? kBytes[(random >> 20U) % kBytes.size()] : 'x';
      if (c == '\0' || c == '+' || c == '\xef' || c == '1') {
        wanted.push_back(text.size());
      }
      text += c;
    }
    std::vector<std::size_t> found;
    Places(text).for_each([&](std::size_t at) {
      found.push_back(at);
      return at + 1;
    });
    CHECK(found == wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      std::size_t first = size;
      Places(text).for_each([&](std::size_t at) { return first = at, size; }, wanted[i]);
      CHECK(first == wanted[i]);
    }
  }
}

}  // namespace bmad_mem::test::disguised_test
