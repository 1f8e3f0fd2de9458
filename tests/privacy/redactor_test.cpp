// redactor_test.cpp - the tiers together: what goes, what stays, and that once is enough.
#include "privacy/redactor.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem::test::redactor_test {
namespace {

// Split, so that other people's scanners stay quiet.
const std::string kPat = std::string("gh") + "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";

const RedactionScope kScope{.key = {1, 2, 3}, .session_id = "s1"};

Redactor redactor(const RedactionConfig& config = {}) { return Redactor::make(config).value(); }

std::string redacted(const Redactor& rules, std::string_view text) {
  RedactionTally tally;
  return rules.redact(text, kScope, tally).value_or(std::string(text));
}

std::string redacted_json(const Redactor& rules, std::string_view json) {
  RedactionTally tally;
  JsonParser parser;
  return rules.redact_json(parser.parse(json).value(), json, kScope, tally)
      .value_or(std::string(json));
}

}  // namespace

TEST_CASE("a secret becomes a placeholder that names its rule") {
  CHECK(redacted(redactor(), "push with " + kPat + " today") ==
        "push with [REDACTED:github-pat] today");
}

TEST_CASE("the replacement is as configured") {
  CHECK(redacted(redactor({.replacement = "***"}), kPat) == "***");
  CHECK(redacted(redactor({.replacement = "<{rule}>"}), kPat) == "<github-pat>");
  CHECK(Redactor::make({.replacement = "{rule}"}).error().code == ErrorCode::E_SCHEMA_INVALID);
}

TEST_CASE("a linkable placeholder is the same for the same secret of a session only") {
  const Redactor rules = redactor({.linkable = true});
  RedactionTally tally;
  const std::string once = rules.redact(kPat, kScope, tally).value();
  const RedactionScope elsewhere{.key = kScope.key, .session_id = "s2"};
  const RedactionScope other_key{.key = {9}, .session_id = "s1"};
  CHECK(once.starts_with("[REDACTED:github-pat:"));
  CHECK(rules.redact(kPat, kScope, tally) == once);
  CHECK(rules.redact(kPat, elsewhere, tally) != once);
  CHECK(rules.redact(kPat, other_key, tally) != once);
  CHECK_FALSE(rules.redact(once, kScope, tally).has_value());
}

TEST_CASE("every string of an entry is looked at") {
  const Redactor rules = redactor();
  for (const std::string& json : std::vector<std::string>{
           R"({"content":"a )" + kPat + R"("})", R"({"tags":["x",")" + kPat + R"("]})",
           R"({"metadata":{"tool":{"args":["--token",")" + kPat + R"("]}}})",
           R"({")" + kPat + R"(":1})", R"({"path":"/home/x/)" + kPat + R"("})",
           R"({"id":")" + kPat + R"("})", R"({"references":{"decisions":[")" + kPat + R"("]}})"}) {
    CAPTURE(json);
    CHECK_FALSE(redacted_json(rules, json).contains(kPat));
  }
}

TEST_CASE("an id that is a secret becomes another id, the same in references") {
  const Redactor rules = redactor();
  const std::string id = redacted_json(rules, R"({"id":")" + kPat + R"("})");
  CHECK(id.starts_with(R"({"id":"REDACTED:github-pat:)"));
  const std::string reference =
      redacted_json(rules, R"({"references":{"facts":[")" + kPat + R"("]}})");
  CHECK(reference.contains(id.substr(6, id.size() - 7)));
}

TEST_CASE("an id names a rule of one's own by what may stand in an id") {
  const Redactor rules = redactor({.patterns = {{.type = "door code", .regex = "D-[0-9]+"}}});
  CHECK(redacted_json(rules, R"({"id":"D-4711"})").starts_with(R"({"id":"REDACTED:door-code:)"));
}

TEST_CASE("a string is judged by the member it belongs to") {
  CHECK(redacted_json(redactor(), R"({"metadata":{"db_password":"vR7#kk2pQz"}})") ==
        R"({"metadata":{"db_password":"[REDACTED:password]"}})");
  CHECK(redacted_json(redactor(), R"({"env":[{"name":"DB_PASSWORD","value":"vR7#kk2pQz"}]})") ==
        R"({"env":[{"name":"DB_PASSWORD","value":"[REDACTED:password]"}]})");
}

TEST_CASE("patterns of one's own are applied, and name what they took") {
  const Redactor rules =
      redactor({.patterns = {{.type = "ticket", .regex = "TICKET-[0-9]+"},
                             {.type = "door", .regex = "door code ([0-9]{4})"}}});
  CHECK(redacted(rules, "see TICKET-4711") == "see [REDACTED:ticket]");
  CHECK(redacted(rules, "the door code 0815 works") == "the door code [REDACTED:door] works");
}

TEST_CASE("a pattern that does not compile is named") {
  const Error error =
      Redactor::make({.patterns = {{.type = "ok", .regex = "a"}, {.type = "bad", .regex = "("}}})
          .error();
  CHECK(error.code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(error.field == "memory_config.privacy.redaction.patterns[1].regex");
  CHECK(error.message.contains("\"bad\""));
}

TEST_CASE("the specification's pattern for keys needs a word that speaks of secrets beside it") {
  const std::string word = "Zq8Lw3Nx7Rv2Tb6Yk1Pm5Hd9Gs4Fj0Cu";
  RedactionConfig config{.patterns = {{.type = "api_key", .regex = R"(\b[A-Za-z0-9]{32,}\b)"}}};
  CHECK(redacted(redactor(config), "build " + word) == "build " + word);
  CHECK_FALSE(redacted(redactor(config), "the key was " + word).contains(word));
  config.aggressive = true;
  CHECK_FALSE(redacted(redactor(config), "build " + word).contains(word));
}

TEST_CASE("a secret behind one layer of encoding is found") {
  CHECK(redacted(redactor(), "https://h/?next=%67%68p_" + kPat.substr(4)) ==
        "https://h/?next=[REDACTED:github-pat]");
}

TEST_CASE("a git hash is never taken out") {
  CHECK(rc::check("a git hash is never taken out", [] {
    const auto digits =
        *rc::gen::container<std::string>(40, rc::gen::elementOf(std::string("0123456789abcdef")));
    const auto size = *rc::gen::elementOf(std::vector<std::size_t>{7, 8, 10, 12, 40});
    const std::string hash = digits.substr(0, size);
    for (const std::string& text :
         {hash, "commit " + hash, "Merge: " + hash + " " + hash, hash + " fix the token parser",
          "parent " + hash + "\nauthor", "sha: " + hash, R"({"commit":")" + hash + R"("})",
          "git checkout " + hash, "https://github.com/o/r/commit/" + hash}) {
      RC_ASSERT(redacted(redactor(), text) == text);
    }
    RC_ASSERT(redacted_json(redactor(), R"({"commit":")" + hash + R"("})") ==
              R"({"commit":")" + hash + R"("})");
  }));
}

TEST_CASE("redacting twice equals once, and keeps UTF-8 valid") {
  const Redactor rules = redactor({.linkable = true});
  const std::vector<std::string> pieces = {kPat,
                                           "password=",
                                           "api_key: ",
                                           "\"",
                                           "'",
                                           "vR7#kk2pQz1",
                                           "Zq8Lw3Nx7Rv2Tb6Yk1Pm5Hd9Gs4",
                                           "\u00e9",
                                           "\u65e5\u672c",
                                           " ",
                                           "\n",
                                           "=",
                                           ":",
                                           "https://user:",
                                           "@host.example.org",
                                           "Bearer ",
                                           "Authorization: ",
                                           "Cookie: a=",
                                           "; ",
                                           "[REDACTED:x]",
                                           "[REDACTED:",
                                           "]",
                                           "jane@corp.de",
                                           "+49 30 1234567",
                                           "%41",
                                           "%",
                                           "-----BEGIN PRIVATE KEY-----",
                                           "-----END PRIVATE KEY-----",
                                           "4111 1111 1111 1111",
                                           "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.",
                                           "DE89370400440532013000",
                                           "{",
                                           "}",
                                           "\\n",
                                           "\\\"",
                                           "token",
                                           "secret"};
  CHECK(rc::check("redacting twice equals once", [&] {
    const auto parts = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces));
    std::string text;
    for (const std::string& part : parts) {
      text += part;
    }
    const std::string once = redacted(rules, text);
    RC_ASSERT(redacted(rules, once) == once);
    RC_ASSERT(utf8_valid_size(once) == once.size());
  }));
}

TEST_CASE("a long text is free of secrets after one call, and a second changes nothing") {
  const Redactor rules = redactor();
  std::string text;
  std::size_t count = 0;
  for (int i = 0; i < 4000; ++i) {
    text += "line of a log without anything in it, number " + std::to_string(i) + "\n";
    if (i % 7 == 0) {
      text += "x=" + std::string(kPat) + ";password='Rk8vWq2mZt" + std::to_string(i) + "'" +
              (i % 2 == 0 ? "\n" : " ");
      ++count;
    }
  }
  RedactionTally tally;
  const std::optional<std::string> once = rules.redact(text, {}, tally);
  REQUIRE(once);
  CHECK_FALSE(once->contains("Rk8vWq2mZt"));
  CHECK_FALSE(once->contains(kPat));
  CHECK(tally.by_rule["github-pat"] == count);
  CHECK_FALSE(rules.redact(*once, {}, tally).has_value());
}

TEST_CASE("any bytes at all are survived") {
  const Redactor rules = redactor();
  CHECK(rc::check("any bytes", [&] {
    const auto text = *rc::gen::arbitrary<std::string>();
    static_cast<void>(redacted(rules, text));
    JsonParser parser;
    if (parser.parse(text)) {
      static_cast<void>(redacted_json(rules, text));
    }
  }));
}

TEST_CASE("JSON stays JSON") {
  const Redactor rules = redactor();
  JsonParser parser;
  CHECK(rc::check("JSON stays JSON", [&] {
    const auto key = *rc::gen::elementOf(
        std::vector<std::string>{"password", "id", "content", kPat, "a\\nb", "token"});
    const auto value = *rc::gen::elementOf(std::vector<std::string>{
        kPat, "vR7#kk2pQz", "line\\nnext " + kPat, "\\u00e9" + kPat, "", "plain"});
    const std::string json =
        "{ \"" + key + "\" : [ \"" + value + "\", {\"x\":\"" + value + "\"} ], \"n\": 1.50 }";
    RC_ASSERT(parser.parse(redacted_json(rules, json)).has_value());
  }));
}

}  // namespace bmad_mem::test::redactor_test
