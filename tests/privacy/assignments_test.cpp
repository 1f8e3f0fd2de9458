// assignments_test.cpp - values under names that say secret, in every layout; and what looks alike.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "privacy/finders.hpp"

namespace bmad_mem::test::assignments_test {
namespace {

using std::string_view;

/// What is taken out of `text`.
std::vector<std::string> secrets_in(string_view text) {
  Detections detections;
  find_assigned(text, detections);
  std::vector<std::string> secrets;
  for (const Detection& each : detections) {
    if (each.action == DetectionAction::kSecret) {
      secrets.emplace_back(text.substr(each.begin, each.end - each.begin));
    }
  }
  return secrets;
}

bool finds(string_view text, string_view secret) {
  const std::vector<std::string> secrets = secrets_in(text);
  return std::ranges::find(secrets, secret) != secrets.end();
}

std::string replaced(std::string text, string_view what, string_view with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

/// NAME, Name and VALUE stand for those of a pair.
std::string filled(string_view layout, string_view name, string_view value) {
  std::string capital(name);
  if (capital.front() >= 'a' && capital.front() <= 'z') {
    capital.front() = static_cast<char>(capital.front() - 'a' + 'A');
  }
  return replaced(replaced(replaced(std::string(layout), "NAME", name), "Name", capital), "VALUE",
                  value);
}

constexpr std::array kLayouts = std::to_array<string_view>({
    "NAME=VALUE",
    "export NAME=VALUE",
    "export NAME='VALUE'",
    "NAME=`VALUE`",
    "A=1\nNAME=VALUE\nB=2\n",
    "NAME = VALUE",
    "NAME = \"VALUE\"",
    "NAME     =   'VALUE'",
    "NAME\t=\tVALUE",
    "[server]\nNAME = VALUE ; the new one",
    "\"NAME\": \"VALUE\"",
    R"({"a": 1, "NAME":"VALUE", "b": [2]})",
    R"("{\"a\": 1, \"NAME\": \"VALUE\"}")",
    R"("{\\\"NAME\\\": \\\"VALUE\\\"}")",
    "NAME: VALUE",
    "server:\n  NAME: VALUE\n  port: 80",
    "  NAME: \"VALUE\"",
    "  - NAME: 'VALUE' # staging",
    "- name: NAME\n  value: \"VALUE\"",
    R"({"name":"NAME","value":"VALUE"})",
    "<NAME>VALUE</NAME>",
    "<user NAME=\"VALUE\"/>",
    "<add key=\"NAME\" value=\"VALUE\" />",
    "<string name=\"NAME\">VALUE</string>",
    "const NAME = \"VALUE\";",
    "let NAME: &str = \"VALUE\";",
    "const NAME: string = 'VALUE';",
    "var NAME string = \"VALUE\"",
    "NAME := \"VALUE\"",
    "private static final String NAME = \"VALUE\";",
    "char NAME[] = \"VALUE\";",
    "std::string NAME{\"VALUE\"};",
    "#define NAME \"VALUE\"",
    "'NAME' => 'VALUE',",
    "self.NAME = \"VALUE\"",
    "config['NAME'] = 'VALUE'",
    "os.environ[\"NAME\"] = \"VALUE\"",
    "connect(user=\"ann\", NAME=\"VALUE\")",
    "setName(\"VALUE\")",
    "client.NAME(\"VALUE\")",
    "map.put(\"NAME\", \"VALUE\");",
    "define('NAME', 'VALUE');",
    "key = NAME || \"none\"; NAME = read() || \"VALUE\"",
    "if (NAME == \"VALUE\") {",
    "$env:NAME = \"VALUE\"",
    "ENV NAME=VALUE",
    "java -DNAME=VALUE -jar a.jar",
    "tool --NAME=VALUE --verbose",
    "tool --NAME VALUE --verbose",
    "tool --NAME 'VALUE'",
    "https://a.example.org/x?page=2&NAME=VALUE&z=1",
    "curl -H 'NAME: VALUE' https://a.example.org",
    "Server=db;User Id=ann;NAME=VALUE;Timeout=30",
    "| NAME | VALUE |",
    "**NAME**: `VALUE`",
    "the NAME is VALUE",
    "The NAME for the staging server is VALUE.",
    "NAME is now \"VALUE\"",
});

struct Pair {
  string_view name;
  string_view value;
};

constexpr std::array kPairs = std::to_array<Pair>({
    {"password", "vR7kqZ2mXw"},
    {"DB_PASSWORD", "t9Lx4QpW8zGf"},
    {"smtp-passwd", "k3Vd8sQ1nB"},
    {"userPassword", "Zq84mLw2Rk7x"},
    {"api_key", "k8Zq2mXw9LtB4vRd7NcJ5hYs"},
    {"apiKey", "9b1f7c3e5a2d8f60417be93ac5d2704f"},
    {"X-Api-Key", "QmZ7xK2vN9pLr4TtWc8B"},
    {"client_secret", "tJ4nW8cX1vB6yM3qZ9rK5hDp7sLf2gQa"},
    {"ACCESS_TOKEN", "7f3b9c1d-52ae-4c08-9e61-0b7d4a2f8c35"},
    {"authToken", "xq7zk2vw9mtb4rhd8njc5ysp"},
    {"WEBHOOK_SECRET", "Lk3x-Vq9_Zm2Rt7wBn5cHy8d"},
    {"signing_key", "uV8/kQ2+zXw9mLt4BvRd7NcJ5hYs1pGf6aTe3oIu0E=="},
});

}  // namespace

TEST_CASE("a secret is found under its name in every layout") {
  for (const string_view layout : kLayouts) {
    for (const Pair& pair : kPairs) {
      const std::string text = filled(layout, pair.name, pair.value);
      CHECK_MESSAGE(finds(text, pair.value), "must find its value: " << text);
    }
  }
}

TEST_CASE("what was redacted is not found again") {
  for (const string_view layout : kLayouts) {
    for (const Pair& pair : kPairs) {
      const std::string text = filled(layout, pair.name, "[REDACTED:secret]");
      CHECK_MESSAGE(secrets_in(text).empty(), "must spare: " << text);
    }
  }
}

TEST_CASE("a secret is found where only its surroundings name it") {
  constexpr auto kRows = std::to_array<Pair>({
      {"mysql -u root -pQz7xK2vN db", "Qz7xK2vN"},
      {"mysqldump -p'Qz7x K2!vN' db", "Qz7x K2!vN"},
      {"sshpass -p 'Vk3x!9qL' ssh ann@host", "Vk3x!9qL"},
      {"sshpass -p Vk3x9qLw ssh ann@host", "Vk3x9qLw"},
      {"curl -u ann:Vk3x9qLw https://a.example.org", "Vk3x9qLw"},
      {"curl -s -u 'ann:Vk3x9qLw' https://a.example.org", "Vk3x9qLw"},
      {"redis-cli -h host -a Vk3x9qLw ping", "Vk3x9qLw"},
      {"PGPASSWORD=Vk3x9qLw psql -h host", "Vk3x9qLw"},
      {"CREATE USER ann IDENTIFIED BY 'Vk3x9qLw';", "Vk3x9qLw"},
      {"ALTER ROLE ann WITH PASSWORD 'Vk3x9qLw';", "Vk3x9qLw"},
      {"Das Passwort lautet Vk3x9qLw", "Vk3x9qLw"},
      {"Der Token ist k8Zq2mXw9LtB4vRd7NcJ", "k8Zq2mXw9LtB4vRd7NcJ"},
      {"Passwort: Vk3x9qLw", "Vk3x9qLw"},
      {"I changed the password to Vk3x9qLw!", "Vk3x9qLw!"},
      {"log in with password Vk3x9qLw please", "Vk3x9qLw"},
      {"API key: k8Zq2mXw9LtB4vRd7NcJ5hYs", "k8Zq2mXw9LtB4vRd7NcJ5hYs"},
      {"Client Secret: k8Zq2mXw9LtB4vRd7NcJ5hYs", "k8Zq2mXw9LtB4vRd7NcJ5hYs"},
      {"The password is hunter2", "hunter2"},
      {"Connect-Server -User ann -Password Kmware7!", "Kmware7!"},
      {"ENV BEAMER_KEY b_Zt4kWq9vRm2XyL7pBn3Hs8", "b_Zt4kWq9vRm2XyL7pBn3Hs8"},
      {"new Telegraf(\"a1\"); new Mailgun(\"Zt4kWq9vRm2XyL7pBn3Hs8\")", "Zt4kWq9vRm2XyL7pBn3Hs8"},
      {"\"passphrase\": \"correct horse battery staple\"", "correct horse battery staple"},
      {"\"pin\": \"4821\"", "4821"},
      {"\"mnemonic\": \"ripple cabin ladder orbit velvet mango tiger cloud fossil amber noble "
       "zebra\"",
       "ripple cabin ladder orbit velvet mango tiger cloud fossil amber noble zebra"},
      {"password: p@ss!word", "p@ss!word"},
      {"DD_API_KEY=3f8a1c9e7b2d4056a8c1e3f59b7d2064", "3f8a1c9e7b2d4056a8c1e3f59b7d2064"},
      {"env: \"A=1\\nDB_PASSWORD=Vk3x9qLw\\nB=2\"", "Vk3x9qLw"},
      {"secret_id: 7f3b9c1d-52ae-4c08-9e61-0b7d4a2f8c35", "7f3b9c1d-52ae-4c08-9e61-0b7d4a2f8c35"},
      {"String password =\n    \"Vk3x9qLw\";", "Vk3x9qLw"},
      {"auth = \"k8Zq2mXw9LtB4vRd7NcJ5hYs\"", "k8Zq2mXw9LtB4vRd7NcJ5hYs"},
  });
  for (const Pair& row : kRows) {
    CHECK_MESSAGE(finds(row.name, row.value), "must find its value: " << row.name);
  }
}

TEST_CASE("a word that people chose is a password, and a label is near the line") {
  for (const string_view value : {"letmein", "Sunshine", "dragonfly", "Marmalade", "GooseBerry"}) {
    const std::optional<ValueVerdict> verdict = judge_assignment("password", value);
    REQUIRE(verdict.has_value());
    const bool may_be_label = value == "Marmalade" || value == "GooseBerry";
    CHECK_MESSAGE((verdict->action == DetectionAction::kNear) == may_be_label, value);
    CHECK(verdict->rule == "password");
  }
}

TEST_CASE("the verdict names the kind of secret") {
  struct Row {
    string_view name, value, rule;
  };
  constexpr auto kRows = std::to_array<Row>({
      {"dbPassword", "vR7kqZ2mXw", "password"},
      {"api_key", "k8Zq2mXw9LtB4vRd7NcJ5hYs", "api-key"},
      {"accessToken", "k8Zq2mXw9LtB4vRd7NcJ5hYs", "token"},
      {"client_secret", "k8Zq2mXw9LtB4vRd7NcJ5hYs", "secret"},
      {"signingKey", "k8Zq2mXw9LtB4vRd7NcJ5hYs", "private-key"},
      {"credentials", "k8Zq2mXw9LtB4vRd7NcJ5hYs", "credential"},
      {"salt", "k8Zq2mXw9LtB4vRd7NcJ5hYs", "generic-secret"},
      {"connectionString", "k8Zq2mXw9LtB4vRd7NcJ5hYs", "connection-string"},
      {"datadog_api_key", "3f8a1c9e7b2d4056a8c1e3f59b7d2064", "datadog-key"},
  });
  for (const Row& row : kRows) {
    const std::optional<ValueVerdict> verdict = judge_assignment(row.name, row.value);
    REQUIRE_MESSAGE(verdict.has_value(), row.name);
    CHECK_MESSAGE(verdict->rule == row.rule, row.name);
  }
}

TEST_CASE("a name that tells about a secret, or about something else, makes no secret") {
  constexpr string_view kHash = "3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e";
  constexpr string_view kDrawn = "k8Zq2mXw9LtB4vRd7NcJ5hYs";
  for (const string_view name : {"commit",
                                 "sha",
                                 "sha1",
                                 "sha256",
                                 "hash",
                                 "checksum",
                                 "digest",
                                 "etag",
                                 "md5",
                                 "fingerprint",
                                 "revision",
                                 "integrity",
                                 "uuid",
                                 "trace_id",
                                 "spanId",
                                 "request-id",
                                 "correlation_id",
                                 "version",
                                 "token_count",
                                 "max_tokens",
                                 "tokens",
                                 "token_type",
                                 "tokenizer",
                                 "password_policy",
                                 "password_min_length",
                                 "password_reset_url",
                                 "passwordField",
                                 "password_label",
                                 "passwordHint",
                                 "secret_name",
                                 "key_id",
                                 "keyid",
                                 "public_key",
                                 "publicKey",
                                 "primary_key",
                                 "foreign_key",
                                 "key_name",
                                 "cache_key",
                                 "sort_key",
                                 "api_key_header",
                                 "api_key_env",
                                 "next_page_token",
                                 "nextToken",
                                 "continuation_token",
                                 "password_hash",
                                 "token_digest",
                                 "secret_arn",
                                 "tokenUrl",
                                 "token_endpoint",
                                 "git_sha",
                                 "commit_token_hash",
                                 "password_changed_at",
                                 "key",
                                 "keys",
                                 "keyboard",
                                 "monkey",
                                 "author",
                                 "authority",
                                 "compass",
                                 "bypass",
                                 "passenger",
                                 "secretary",
                                 "tokenize",
                                 "image",
                                 "id",
                                 "partition_key",
                                 "object_key",
                                 "site_key",
                                 "host_key",
                                 "session_id",
                                 "client_id"}) {
    CHECK_MESSAGE(!judge_assignment(name, kHash).has_value(), name);
    CHECK_MESSAGE(!judge_assignment(name, kDrawn).has_value(), name);
  }
}

TEST_CASE("a sequence, a word or an example is a secret where its name says so") {
  struct Row {
    string_view name;
    string_view value;
  };
  static constexpr Row kRows[] = {
      {"api_key", "abcdef0123456789abcdef0123456789"},
      {"CLIENT_SECRET", "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123"},
      {"auth_token", "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"},
      {"password", "EXAMPLEm0untain17"},
      {"AdminPassword", "thisisthewaytoit"},
      {"password", "mysecretpassword"},
      {"password", "Password123"},
      {"db_password_token", "H7z!Q2"},
      {"presharedKey", "kW3vT8mQ1zX6rB9nC4yL7pD2sF5gH0jA8uE3iO6wK1M="},
      // Names of services, and keys of unknown ones.
      {"beamer", "b_Zt4kWq9vRm2XyL7pBn3Hs8Dc5Jf1Gt6"},
      {"bitbucket_key", "Zt4kWq9vRm2XyL7pBn3Hs8Dc5"},
      {"ado_pat", "q7wz4kvr2mxy5lpbn3hs8dc6jf"},
      {"CLOUDFLARE_X_KEY", "f3a9c1e7b5d20846f3a9c1e7b5d20846"},
      {"acme_key", "Zt4kWq9vRm2XyL7pBn3Hs8Dc5"},
  };
  for (const Row& row : kRows) {
    const std::optional<ValueVerdict> verdict = judge_assignment(row.name, row.value);
    CHECK_MESSAGE((verdict && verdict->action == DetectionAction::kSecret),
                  row.name << " = " << row.value);
  }
}

TEST_CASE("what a service publishes, or names otherwise, is no key of it") {
  struct Row {
    string_view name;
    string_view value;
  };
  static constexpr Row kRows[] = {
      {"cloudflare_zone_id", "f3a9c1e7b5d20846f3a9c1e7b5d20846"},
      {"github", "f3a9c1e7b5d20846f3a9c1e7b5d20846f3a9c1e7"},
      {"stripe_public_key", "Zt4kWq9vRm2XyL7pBn3Hs8Dc5"},
      {"cache_key", "Zt4kWq9vRm2XyL7pBn3Hs8Dc5"},
      {"sentry_url", "Zt4kWq9vRm2XyL7pBn3Hs8Dc5"},
      {"acme_key", "a_name_of_a_column_2"},
  };
  for (const Row& row : kRows) {
    CHECK_MESSAGE(!judge_assignment(row.name, row.value), row.name << " = " << row.value);
  }
}

TEST_CASE("a placeholder is no secret under any name") {
  for (const string_view name : {"password", "api_key", "token", "client_secret"}) {
    for (const string_view value : {"",
                                    "none",
                                    "null",
                                    "true",
                                    "string",
                                    "your-api-key-here",
                                    "<your-key>",
                                    "${API_KEY}",
                                    "$API_KEY",
                                    "$(cat secret)",
                                    "{{ api_key }}",
                                    "%API_KEY%",
                                    "xxxxxxxxxxxx",
                                    "************",
                                    "[REDACTED:token]",
                                    "[redacted]",
                                    "changeme",
                                    "CHANGE_ME",
                                    "EXAMPLEKEY123456",
                                    "AKIAIOSFODNN7EXAMPLE",
                                    "test-token",
                                    "dummy_password",
                                    "sk-…",
                                    "abc...xyz",
                                    "process.env.API_KEY",
                                    "os.environ[\"X\"]",
                                    "vault:secret/data/x#key",
                                    "op://vault/item",
                                    "${{ secrets.TOKEN }}",
                                    "var.api_key",
                                    "placeholder",
                                    "undefined",
                                    "1234567890",
                                    "REPLACE_ME_WITH_KEY",
                                    "insert-token-here",
                                    "00000000-0000-0000-0000-000000000000",
                                    "arn:aws:secretsmanager:eu-west-1:1:secret:x",
                                    "!Ref ApiKey",
                                    "@password@",
                                    "<%= key %>"}) {
      const std::optional<ValueVerdict> verdict = judge_assignment(name, value);
      CHECK_MESSAGE(!verdict.has_value(), name << " = " << value);
    }
  }
}

TEST_CASE("words are passwords where settings have them") {
  for (const string_view text :
       {"APP_MAIL_PASSWORD=gooseberry", "# WEB_AUTH_PASS=gooseberry", "PGPASSWORD=gooseberry psql",
        "smtpPassword: \"gooseberry\"", "$conf['db_pass'] = 'gooseberry';",
        "define('DB_PASSWORD', 'gooseberry');", "mailPassword = \"Gooseberries$\"",
        "secret: \"staging#billing\""}) {
    CHECK_MESSAGE(!secrets_in(text).empty(), text);
  }
  for (const string_view text :
       {"RESET_PASSWORD = \"gooseberry\"", "GIT_ASKPASS=gooseberry", "smtpPassword: \"Kennwort\"",
        "db_password: \"dbPassword\"", "APP_PASSWORD_LINK=$BASE_URL/account/#/forgot-password",
        "const password = gooseberry;"}) {
    CHECK_MESSAGE(secrets_in(text).empty(), text);
  }
}

TEST_CASE("a service's name is enough for a value of the form of its keys") {
  const string_view hex = "3f8a1c0e7b92d4565e0a9c17b83d2f64a1c5e790";
  for (const std::string& text :
       {"deepgram = " + std::string(hex), "the datadog app key " + std::string(hex),
        "sonarqube: \"" + std::string(hex) + "\"",
        std::string("message-birdToken,k3m9z1qx8v5t2b7n4c6w0r8ya,"),
        std::string("acmeToken,q7wz4kvr2mxy5lpbn3hs8dc6,\n")}) {
    Detections found;
    find_keywords(text, found);
    find_assigned(text, found);
    find_encoded(text, find_assigned, found);  // What is drawn is found there.
    CHECK_MESSAGE(!found.empty(), text);
  }
  for (const std::string& text :
       {"github = " + std::string(hex), "deepgram_commit = " + std::string(hex)}) {
    Detections found;
    find_assigned(text, found);
    CHECK_MESSAGE(found.empty(), text);
  }
}

TEST_CASE("doubling the text at most doubles the time, whatever the text is") {
  constexpr std::size_t kSize = 1U << 14U;  // Four times the longest value that is looked at.
  // The processor's time of this process alone, and twice what is promised: others run here too.
  constexpr double kGrowthMax = 4.4;
  for (const string_view unit : {"=",
                                 "a",
                                 "\"",
                                 "a=",
                                 "password=",
                                 "password=\"",
                                 "token: ",
                                 "is ",
                                 " -p",
                                 "=\\\"",
                                 "key ",
                                 "password='",
                                 "| ",
                                 "> ",
                                 "<password>",
                                 "name=\"password\" value=",
                                 "\"token\",",
                                 "'",
                                 "token is is ",
                                 "password (",
                                 "{\"",
                                 " ",
                                 "a:b",
                                 "\\",
                                 "mysql -p",
                                 "passwords: [\"a1\",",
                                 "password: |\n  a\n",
                                 "passwords:\n- a\n"}) {
    const auto seconds = [&](std::size_t size) {
      std::string text;
      while (text.size() < size) {
        text += unit;
      }
      double best = 1e9;
      for (int i = 0; i < 3; ++i) {
        Detections detections;
        const std::clock_t begin = std::clock();
        find_assigned(text, detections);
        best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
      }
      return best;
    };
    const double once = seconds(kSize);
    const double twice = seconds(2 * kSize);
    CHECK_MESSAGE(twice <= (kGrowthMax * once) + 0.002, "repeated: " << unit);
  }
}

}  // namespace bmad_mem::test::assignments_test
