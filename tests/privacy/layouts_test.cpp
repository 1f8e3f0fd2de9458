// layouts_test.cpp - a secret is found in whatever a person or a program writes it, in any
// language.
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "marked_text.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem::test::layouts_test {
namespace {

using std::string_view;

const Redactor& redactor() {
  static const Redactor kRedactor = std::move(Redactor::make({}).value());
  return kRedactor;
}

/// What is taken out of `text`, as MarkedText has it.
std::string found_in(string_view text) {
  std::string found;
  for (const Detection& each : redactor().find(text)) {
    if (each.action == DetectionAction::kSecret) {
      found += std::to_string(each.begin) + ":" +
               std::string(text.substr(each.begin, each.end - each.begin)) + "|";
    }
  }
  return found;
}

std::string redacted(string_view text) {
  RedactionTally tally;
  return redactor().redact(text, {}, tally).value_or(std::string(text));
}

/// One text a line; what is between « and » is found in it, and nothing else.
void check_lines(string_view lines) {
  for (std::size_t at = 1; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    const MarkedText marked(lines.substr(at, end - at));
    CHECK_MESSAGE(found_in(marked.text) == marked.expected, marked.text);
    at = end + 1;
  }
}

/// Each is a text of several lines.
void check_each(std::initializer_list<string_view> texts) {
  for (const string_view text : texts) {
    const MarkedText marked(text);
    CHECK_MESSAGE(found_in(marked.text) == marked.expected, marked.text);
  }
}

std::string drawn(std::size_t size, unsigned seed = 1) {
  constexpr string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) {
    text += kLetters[random() % kLetters.size()];
  }
  return text;
}

}  // namespace

TEST_CASE("every operator that assigns is one") {
  check_lines(R"(
SIGNING_KEY = "«Rk8vWq2mZt5LxB»"
SIGNING_KEY := "«Rk8vWq2mZt5LxB»"
SIGNING_KEY ::= "«Rk8vWq2mZt5LxB»"
SIGNING_KEY :::= "«Rk8vWq2mZt5LxB»"
SIGNING_KEY ?= "«Rk8vWq2mZt5LxB»"
SIGNING_KEY .= "«Rk8vWq2mZt5LxB»"
SIGNING_KEY += "«Rk8vWq2mZt5LxB»"
SIGNING_KEY ||= "«Rk8vWq2mZt5LxB»"
SIGNING_KEY &&= "«Rk8vWq2mZt5LxB»"
SIGNING_KEY ??= "«Rk8vWq2mZt5LxB»"
SIGNING_KEY //= "«Rk8vWq2mZt5LxB»"
SIGNING_KEY ?= «Rk8vWq2mZt5LxB»
SIGNING_KEY=>"«Rk8vWq2mZt5LxB»"
$conf->signing_key->"«Rk8vWq2mZt5LxB»"
password：«Rk8vWq2mZt5L»
password＝«Rk8vWq2mZt5L»
NAME_TOKEN=«ab=Rk8vWq2mZt5L»
DB_PASSWORD=«ab=cd9Xw2»
)");
}

TEST_CASE("labels, blocks, elements and columns hold values") {
  check_lines(R"(
**Password:** «Rk8vWq2mZt5L»
- **Password**: «Rk8vWq2mZt5L»
__Password:__ «Rk8vWq2mZt5L»
| password | «Rk8vWq2mZt5L» |
: PSK "«Rk8vWq2mZt5L»"
psk="«Rk8vWq2mZt5L»"
pre-shared-key «Rk8vWq2mZt5LxB»
«Rk8vWq2mZt5L» is the password
use «Rk8vWq2mZt5L» as the password
my_«gh·p_Zk3Qw9Lm2Xv7Rt5Yb8Nc4Hd6Jf1Gs0PaUeTi» is glued
)");
  check_each({
      "password: |\n  «Rk8vWq2mZt5L»\nport: 80\n",
      "  password: >-\n    «Rk8vWq2mZt5L»\n",
      "passwords:\n  - «Rk8vWq2mZt5L»\n  - \"«Tk3vWq7mZt5L»\"\nport: 80\n",
      "<password>\n   «Rk8vWq2mZt5L»\n</password>",
      "name,password,mail\nann,«Rk8vWq2mZt5L»,x\nbob,«Tk3vWq7mZt5L»,y\n",
      "user;api_key\n\"ann\";\"«k8Zq2mXw9LtB4vRd7NcJ5hYs»\"\n",
      "host\tpassword\nweb\t«Rk8vWq2mZt5L»\n",
      "seed phrase: «ripple cabin ladder orbit velvet mango tiger cloud fossil amber noble zebra»",
      "my wallet's mnemonic is:\n\"«ripple cabin ladder orbit velvet mango tiger cloud fossil "
      "amber "
      "noble zebra»\"",
      "recovery phrase:\n1. «ripple 2. cabin 3. ladder 4. orbit 5. velvet 6. mango 7. tiger 8. "
      "cloud 9. fossil 10. amber 11. noble 12. zebra»",
  });
}

TEST_CASE("commands get passwords in options, pipes and places") {
  check_lines(R"(
tool --password «Rk8vWq2mZt5L» --user ann
tool --password '«Rk8vWq2mZt5L»'
keytool -storepass «Rk8vWq2mZt5L» -list
unzip -P «Rk8vWq2mZt5L» a.zip
sqlcmd -U sa -P «Rk8vWq2mZt5L»
mysql -p«Rk8vWq2mZt5L» app
smbclient -U ann%«Rk8vWq2mZt5L» //host/x
plink -pw «Rk8vWq2mZt5L» host
curl -u ann:«Rk8vWq2mZt5L» https://a.example.org
curl -u :«Rk8vWq2mZt5L» https://a.example.org
curl -u «Rk8vWq2mZt5LRk3T»: https://a.example.org
echo «Rk8vWq2mZt5L» | docker login -u ann --password-stdin
printf '%s' '«Rk8vWq2mZt5L»' | docker login --password-stdin
echo "ann:«Rk8vWq2mZt5L»" | chpasswd
chpasswd <<< "ann:«Rk8vWq2mZt5L»"
htpasswd -b /etc/web ann «Rk8vWq2mZt5L»
htpasswd -nbB ann «Rk8vWq2mZt5L»
echo $PASSWORD | docker login --password-stdin
{"args":["--password","«Rk8vWq2mZt5L»"]}
["curl","-u","ann:«Rk8vWq2mZt5L»"]
{"passwords":["«Rk8vWq2mZt5L»","«Tk3vWq7mZt5L»"]}
{"passwords":{"db1":"«Rk8vWq2mZt5L»"}}
)");
}

TEST_CASE("a password is known by its name in other languages") {
  check_lines(R"(
Le mot de passe est «Rk8vWq2mZt5L»
Mot de passe : «Rk8vWq2mZt5L»
La contraseña es «Rk8vWq2mZt5L»
La password è «Rk8vWq2mZt5L»
A senha é «Rk8vWq2mZt5L»
palavra-passe: «Rk8vWq2mZt5L»
Das Passwort lautet «Rk8vWq2mZt5L»
Het wachtwoord is «Rk8vWq2mZt5L»
lösenordet är «Rk8vWq2mZt5L»
adgangskode: «Rk8vWq2mZt5L»
salasana on «Rk8vWq2mZt5L»
hasło: «Rk8vWq2mZt5L»
heslo je «Rk8vWq2mZt5L»
jelszó: «Rk8vWq2mZt5L»
parola: «Rk8vWq2mZt5L»
пароль: «Rk8vWq2mZt5L»
Пароль от базы — «Rk8vWq2mZt5L»
κωδικός πρόσβασης: «Rk8vWq2mZt5L»
Şifreniz «Rk8vWq2mZt5L» olarak ayarlandı
密码：«Rk8vWq2mZt5L»
密码是«Rk8vWq2mZt5L»。
パスワードは«Rk8vWq2mZt5L»です
비밀번호는 «Rk8vWq2mZt5L» 입니다
كلمة المرور: «Rk8vWq2mZt5L»
סיסמה: «Rk8vWq2mZt5L»
पासवर्ड: «Rk8vWq2mZt5L»
รหัสผ่าน: «Rk8vWq2mZt5L»
mật khẩu là «Rk8vWq2mZt5L»
kata sandi: «Rk8vWq2mZt5L»
Забыл пароль от почты, что делать?
密码必须包含数字和字母
)");
}

TEST_CASE("a key is known by its name in other languages") {
  check_lines(R"(
clé d'API : «Rk8vWq2mZt5LxB7nQ4tY»
clave de API: «Rk8vWq2mZt5LxB7nQ4tY»
Der API-Schlüssel lautet «Rk8vWq2mZt5LxB7nQ4tY»
ключ API: «8f14e45fceea167a5a36dedd4bea2543»
API密钥：«Rk8vWq2mZt5LxB7nQ4tY»
API キー: «Rk8vWq2mZt5LxB7nQ4tY»
Der API-Schlüssel fehlt noch
API密钥必须保密
)");
}

TEST_CASE("a drawn value is known by the words near it") {
  check_lines(R"(
acme token - '«Rk8vWq2mZt5LxB7nQ4tY»'
use key «Rk8vWq2mZt5LxB7nQ4tY» for acme
[DEBUG] Using acme KEY=«Rk8vWq2mZt5LxB7nQ4tY»
<secret>{acme AQAAABAAA «Rk8vWq2mZt5LxB7nQ4tY»}</secret>
getDatadog("«Rk8vWq2mZt5LxB7nQ4tY»")
datadogTemplate := "«Rk8vWq2mZt5LxB7nQ4tY»"
creds.Secret != "«8f14e45fceea167a5a36dedd4bea2543»"
%define token «8f14e45fceea167a5a36dedd4bea2543»
algolia = "«1f7a2c90-5b3e-4c1d-9a77-0c2e8d4b6f11»"
8f14e45fceea167a5a36dedd4bea2543 is the sum
the id of the key is Rk8vWq2mZt5LxB7nQ4tY
see https://datadog.com/Rk8vWq2mZt5LxB7nQ4tY
commit 8f14e45fceea167a5a36dedd4bea25430bd5e812 for the token
rookTable = 00Rk8vWq2mZt5LxB7nQ4tYRk8vWq2mZt5LxB7nQ4tY
)");
  check_each({"API key:\n\n«Rk8vWq2mZt5LxB7nQ4tY»", "# datadog\n«Rk8vWq2mZt5LxB7nQ4tY»",
              "token=\"\"\"«8f14e45fceea167a5a36dedd4bea2543»\"\"\"",
              "api_key = \"\"\"\n«Rk8vWq2mZt5LxB7nQ4tY»\n\"\"\""});
}

TEST_CASE("a drawn password is known by its name when signs alone are between them") {
  check_lines(R"(
| password | «Rk8%Wq2mZt5L» |
|password|«Rk8%Wq2mZt5L»|
Ldap password   ----   «Rk8%Wq2mZt5L»
PASSWORD("«Rk8%Wq2mZt5L»")
user ann, pw «Rk8%Wq2mZt5L»
the pw is «Rk8%Wq2mZt5L»
PSSWD=«Rk8%Wq2mZt5L»
the password for user 'ann' is '«Rk8%Wq2mZt5L»'
| password | string | yes |
password-reset-2024-11.html
password (RFC2617)
passwd(5)
)");
  check_each({"password:\n  «Rk8%Wq2mZt5L»",
              "docker login x.io \\\n  -u ann \\\n  -p «Rk8vWq2mZt5L»",
              "curl x.io \\\n  -u ann:«Rk8vWq2mZt5L»"});
}

TEST_CASE("a member is judged by the one beside it, above it, and before it") {
  struct Row {
    string_view json;
    string_view expected;
  };
  constexpr Row kRows[] = {
      {R"({"category":"project_fact","key":"staging_db_password","content":"Rk8vWq2mZt5L!x"})",
       R"({"category":"project_fact","key":"staging_db_password","content":"[REDACTED:password]"})"},
      {R"({"key":"staging_db_password","content":"it is Rk8vWq2mZt5L!x since monday"})",
       R"({"key":"staging_db_password","content":"it is [REDACTED:password] since monday"})"},
      {R"({"key":"staging_db_password","content":"rotate it every ninety days"})", ""},
      {R"({"key":"editor","content":"Rk8vWq2mZt5L"})", ""},
      {R"({"args":["--password","Rk8vWq2mZt5L"]})",
       R"({"args":["--password","[REDACTED:password]"]})"},
      {R"({"args":["curl","-u","ann:Rk8vWq2mZt5L","https://x"]})",
       R"({"args":["curl","-u","ann:[REDACTED:password]","https://x"]})"},
      {R"({"args":["mysql","-pRk8vWq2mZt5L"]})", R"({"args":["mysql","-p[REDACTED:password]"]})"},
      {R"({"args":["sshpass","-p","Rk8vWq2mZt5L","ssh"]})",
       R"({"args":["sshpass","-p","[REDACTED:password]","ssh"]})"},
      {R"({"passwords":["Rk8vWq2mZt5L"]})", R"({"passwords":["[REDACTED:password]"]})"},
      {R"({"passwords":{"db1":"Rk8vWq2mZt5L"}})", R"({"passwords":{"db1":"[REDACTED:password]"}})"},
      {R"({"пароль":"Rk8vWq2mZt5L"})", R"({"пароль":"[REDACTED:password]"})"},
      {R"({"tokens":["The","cat","sat"]})", ""},
      {R"({"token":{"type":"Bearer","id":"7f3b9c1d-52ae-4c08-9e61-0b7d4a2f8c35"}})", ""},
  };
  JsonParser parser;
  for (const Row& row : kRows) {
    RedactionTally tally;
    const auto root = parser.parse(row.json);
    REQUIRE(root);
    const auto result = redactor().redact_json(*root, row.json, {}, tally);
    CHECK_MESSAGE(result.value_or("") == row.expected, row.json);
  }
}

TEST_CASE("a secret is taken to its end, however long it is") {
  const std::string value = drawn(9000);
  for (const string_view layout :
       {"TOKEN=VALUE\n", "password = \"VALUE\"\n", "api_key: VALUE\n", "{\"api_key\":\"VALUE\"}",
        "Authorization: Bearer VALUE\n", "the password is VALUE ok", "tool --password VALUE ok",
        "Cookie: session=VALUE; a=b", "//registry.npmjs.org/:_authToken=VALUE\n",
        "Server=db;Password=VALUE;User Id=ann", "https://ann:VALUE@a.example.org/"}) {
    std::string text(layout);
    text.replace(text.find("VALUE"), 5, value);
    const std::string left = redacted(text);
    CHECK_MESSAGE(left.size() < layout.size() + 40, layout);
    CHECK_MESSAGE(left.contains("[REDACTED:"), layout);
  }
  const std::string member = "{\"access_token\":\"" + value + "\"}";
  JsonParser parser;
  RedactionTally tally;
  const auto result = redactor().redact_json(*parser.parse(member), member, {}, tally);
  CHECK(result.value_or("").size() < 60);
}

TEST_CASE("a quoted password is one, though it is made of words") {
  check_lines(R"(
password: "«correct-horse-battery-staple»"
{"api_key":"k","password":"«purple-monkey-dishwasher»"}
DB_PASSWORD='«summer-in-the-city»'
password = '«violet_anchor»'
the password is "«rRzgiQXbhGLb»"
the password is "«banana»"
make sure the password is "«centipede»" first
the db password is «Zx9kQ2vLmT7pQ81», please
don't ask, the password is «Hx7'kLm9», bye
password for staging: «Xk29mTq8», root password: «hunter2»
the password is «monkey».
the password is ``None``, the password to oracle.
the password is "«Harbour-Lantern»"
password: "user-login-field"
password: "too-short-error"
password: "change-me"
password: "${DB_PASSWORD}"
password: "string"
password: "form-input"
type: "correct-horse-battery-staple"
the password is "invalid"
the password is "string"
)");
}

TEST_CASE("what stands in where a secret is not set is one") {
  check_lines(R"(
const k = process.env.API_KEY || "«TvMUHo7TBzy3»"
const k = process.env.API_KEY ?? "«TvMUHo7TBzy3»"
k = ENV['API_KEY'] || '«TvMUHo7TBzy3»'
$k = getenv('API_KEY') ?: '«TvMUHo7TBzy3»';
k = os.getenv("API_KEY") or '«TvMUHo7TBzy3»'
x: {{ db_password | default("«TvMUHo7TBzy3»") }}
const k = process.env.NODE_ENV || "TvMUHo7TBzy3"
const k = process.env.API_KEY ?? "your-api-key"
k = os.getenv("HOME") or '/home/ann'
)");
}

TEST_CASE("a column of a table below its name is found") {
  check_each({
      "| user | password |\n|---|---|\n| bob | «TvMUHo7TBzy3» |\n| ann | `«hunter2x!»` |\n",
      " user | password \n------+----------\n bob  | «TvMUHo7TBzy3»\n eve  | «q8RwZ2pLm5Vt»\n",
      "+----+----------+\n| id | password |\n+----+----------+\n| b1 | «TvMUHo7TBzy3» |\n",
      "| option | password |\n|---|---|\n| -p | the password of the user |\n",
      "cat users | password | sort\nbob | TvMUHo7TBzy3\n",
  });
}

TEST_CASE("what commands read is found, and a name of several words") {
  check_lines(R"(
echo «TvMUHo7TBzy3» | wrangler secret put NAME
echo "«TvMUHo7TBzy3»" | gh secret set NAME
echo $TOKEN | gh secret set NAME
wpa_passphrase harbour «TvMUHo7TBzy3»
senha do banco = «TvMUHo7TBzy3»
)");
}

TEST_CASE("what can't be judged whole makes its entry sensitive") {
  const std::string json = "{\"password\":\"" + std::string(6000, 'a') + "b\"}";
  JsonParser parser;
  RedactionTally tally;
  CHECK_FALSE(redactor().redact_json(*parser.parse(json), json, {}, tally).has_value());
  CHECK_FALSE(tally.comes_near);  // One letter is a mask.
  const std::string words = "{\"password\":\"" + [] {
    std::string text;
    while (text.size() < 6000) {
      text += "correct-horse-";
    }
    return text;
  }() + "\"}";
  CHECK_FALSE(redactor().redact_json(*parser.parse(words), words, {}, tally).has_value());
  CHECK(tally.comes_near);
}

}  // namespace bmad_mem::test::layouts_test
