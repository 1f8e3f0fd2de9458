// innocent_texts_test.cpp - texts in which nothing is secret: logs, lock files, code, documents.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "privacy/finders.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem::test::innocent_texts_test {
namespace {

using std::string_view;

/// One text a line.
/// One text a line: what looked like a secret once.
constexpr string_view kLookAlikes = R"text(
"x-passwd-check": "^2.1.0",
"password-generator": ">=1.4.2",
"token-types": "~4.2.0-beta.1",
h:"X-XSRF-TOKEN",maxLength:-1
var e={headers:"X-Api-Key",timeout:3e4,xsrf:"X-CSRF-Token",v:2}
6606 50A2 508D 5085 51F1 5272 5274 5275 5269 52DE 52DD 52DB
00000010: 4111 1111 1111 1111 8f3a 9c01 22d4 7f10
this.tokens=t;for(let n=0;n<this.tokens.length;n++){r.token=n<3?a[n]:b(n)}
DebugInfoBeforePass = &PerPassMap;
key_password=certs[0][2],
token = Name.Class
#define SN_id_regCtrl_regToken "id-regCtrl-regToken"
#define TLS_MD_MASTER_SECRET_CONST "\x6d\x61\x73\x74\x65\x72\x20\x73\x65\x63\x72\x65\x74"
jsonnet_token = r'[^\W\d]\w*'
"password": "^(?=.*[A-Z])(?=.*\\d).{8,}$"
private_key = "/home/ann/.ssh/id_ed25519"
secret: op://team/item/field2
password: user:${DB_PASS}@host
+  "lodash": "^4.17.21" + "x"
-    "token": "a" + "b"
user, password, host = read_login(path)
user,password,mail
Забыл пароль от почты, что делать с SHA256?
密码必须包含数字和字母
le mot de passe est obligatoire
parola d'ordine: pazienza
the seed phrase has twelve words that you write down and keep in a safe place at home
echo $DB_PASSWORD | docker login --password-stdin
echo "$USER:$PASS" | chpasswd
htpasswd -b /etc/web ann $PASSWORD
mysql -p
tar -xpf a.tar && cp -p a1 b2
curl -u "$USER:$TOKEN" https://a.example.org
{"args":["--password","$PASSWORD"]}
{"tokens":["The","cat","sat"],"passwords":[]}
--token-color: #a1b2c3;
passwd:x:0:0:root:/root:/bin/bash
)text";

constexpr string_view kVersionControl = R"text(
commit 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
commit: 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
Merge: 3f8a1c9 7b2d405
index 3f8a1c9..7b2d405 100644
    Rotate the API token (3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e)
fix(auth): token refresh in 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
Reverts 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e, password check
GIT_COMMIT=3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
git_sha: "3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e"
"sha": "3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e",
uses: actions/checkout@3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
+      rev: 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
tree 9e7b2d4056a8c1e3f59b7d20643f8a1c9e3f8a1c
"resolved": "https://registry.npmjs.org/js-tokens/-/js-tokens-4.0.0.tgz",
"integrity": "sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbzg4CausW/PKQ==",
"js-tokens": "^3.0.0 || ^4.0.0"
checksum = "3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e3f8a1c9e7b2d4056a8c1e3f5"
github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=
digest: sha256:3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e3f8a1c9e7b2d4056a8c1e3f5
image: app@sha256:3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e3f8a1c9e7b2d4056a8c1e3f5
ETag: W/"5f2a-18c9e7b2d4056a8c"
ETag: "3f8a1c9e7b2d4056a8c1e3f59b7d2064"
If-None-Match: "k8Zq2mXw9LtB4vRd7NcJ5hYs"
traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7
X-Request-Id: 7f3b9c1d-52ae-4c08-9e61-0b7d4a2f8c35
"id": "7f3b9c1d-52ae-4c08-9e61-0b7d4a2f8c35",
user_id=01ARZ3NDEKTSV4RRFFQ69G5FAV
"entry": "dec-01kaxx8v04q7m2s"
MD5 (a.txt) = 9e107d9d372bb6826bd81d3542a419d6
sha256sum: 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e3f8a1c9e7b2d4056a8c1e3f5
password_hash_commit: 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
cache_key: node-modules-3f8a1c9e7b2d4056a8c1e3f59b7d2064
key: linux-build-3f8a1c9e7b2d4056
fingerprint: 3f:8a:1c:9e:7b:2d:40:56:a8:c1:e3:f5:9b:7d:20:64
src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
url(data:font/woff2;base64,d09GMgABAAAAAAZ4AA8AAAAADawAAAYiAAEAAAAAAAAAAAAA)
Downloading https://example.org/v/k8Zq2mXw9LtB4vRd7NcJ5hYs.tgz
build-id: 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
"buildHash": "k8Zq2mXw9LtB4vRd7NcJ"
revision = 3f8a1c9e7b2d
chunk.3f8a1c9e.js: 12 kB, chunk-k8Zq2mXw.css: 4 kB
)text";

constexpr string_view kCode = R"text(
password = getPassword()
password = user.password
password = os.environ["DB_PASSWORD"]
password: string;
password: String,
password?: string | undefined;
def login(user: str, password: str) -> Token:
token = token
self.token = token
token = tokens[i]
const token = await getToken(user, options);
const token = req.headers["x-access-token"];
const apiKey = process.env.API_KEY;
const apiKey = config.get("apiKey");
let secret = std::env::var("SECRET")?;
String apiKey = System.getenv("API_KEY");
api_key = settings.API_KEY
api_key: Optional[str] = None
api_key=os.getenv("OPENAI_API_KEY")
secret = hashlib.sha256(seed).hexdigest()
Token token = lexer.next();
Token(kind=TokenKind::Identifier, text=name)
case Token::kColon: return "colon";
token_type = TokenType.BEARER
if (token == nullptr) {
if (token.type == "identifier") {
while ((token = next_token()) != kEnd)
for token in text.split():
tokens = tokenizer.encode(text, max_tokens=4096)
max_tokens: 4096
"max_tokens": 16384,
"token_count": 123456789,
prompt_tokens=1532 completion_tokens=20480
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
bos_token = "<s>"
"eos_token": "<|endoftext|>"
pad_token_id: 50256
next_token = "k8Zq2mXw9LtB4vRd7NcJ5hYs"
"nextPageToken": "k8Zq2mXw9LtB4vRd7NcJ5hYs"
assert password != ""
validates :password, presence: true, length: { minimum: 8 }
has_secure_password
<input type="password" name="password" id="password">
<input type="password" placeholder="Enter your password">
<label for="password">Password</label>
autocomplete="current-password"
autoComplete: 'new-password'
password_field = "user_password"
PASSWORD_MIN_LENGTH = 12
password_regex = "^(?=.*[A-Z])(?=.*[0-9]).{8,64}$"
password_reset_url = "https://example.org/reset?step=2"
secret_name = "prod/db/main-2"
secretKeyRef: { name: db-secret, key: password-1 }
secretName: tls-secret-2024
private_key_path: /etc/ssl/private/server.key
ssl_key = /etc/nginx/certs/site1.key
private_key = "/home/ann/.ssh/id_ed25519"
public_key = "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"
api_key_header = "X-Api-Key-V2"
API_KEY_ENV = "SERVICE_API_KEY_2"
primary_key = "user_id_2"
sort_key: createdAt2
foreign_key => "account_id_1"
auth = HTTPBasicAuth(user, password)
auth: { type: "oauth2", scheme: "bearer" }
authentication = "scram-sha-256"
auth_method: md5
author = "Ann Smith <ann@example.org>"
authorization_endpoint: https://a.example.org/oauth2/v2.0/authorize
grant_type=refresh_token&scope=read2
"scope": "token:read secret:write2"
salt = os.urandom(16)
seed = 42
seed: 1234567890123
rng.seed(0x9e3779b97f4a7c15)
uint64_t seed = 0x9e3779b97f4a7c15ULL;
np.random.seed(20240611)
pin = 13
const int led_pin = 2;
gpio_pin: 17
otp = generate_otp()
pass = 0
pass: 1024, fail: 3
pass = true
passed=128 failed=0 skipped=12
PASS: test_token_2 (0.12 s)
--- PASS: TestToken2 (0.00s)
compass = "N42E"
#define TOKEN_STRING 258
TOKEN_EOF = 0x1A
%token <str> IDENTIFIER 258
keyword = "token"
token: "keyword.control.cpp"
type: 'password',
kind: "Secret"
env: DB_PASSWORD
password: ${DB_PASSWORD}
password: "{{ db_password }}"
password = "<your password here>"
DB_PASSWORD=changeme
DB_PASSWORD=
API_KEY=your_api_key_here
API_KEY="sk-xxxxxxxxxxxxxxxx"
TOKEN=$(cat /run/secrets/token)
token: ${{ secrets.GITHUB_TOKEN }}
password = var.db_password
password = module.db.password2
client_secret = data.vault_secret.main["secret2"]
password: !vault |
secret: vault:secret/data/app#key2
secret: op://team/item/field2
secretArn: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf
password: [REDACTED:password]
"token": "[REDACTED:github-pat]"
"password": "********"
"password": null,
"password": {"type": "string", "minLength": 8},
"password": ["required", "min:8"],
"token": "string",
{ "password": "password", "token": "token" },
throw new Error("Invalid token: expected 2 arguments");
log.info("token expired after %d s", 3600)
raise ValueError("password must have 8 characters")
message: "Your password has been changed"
errors.password = "Password is too short (minimum is 8 characters)"
export function isToken(x: unknown): x is Token2
def set_password(self, raw_password):
user.setPassword(encoder.encode(raw))
setToken(response.data.token2)
client.secrets.read("kv/app2")
const {password, token2} = body;
password = password1 if ok else password2
pwd = os.getcwd()
PWD=/home/ann/project2
OLDPWD=/tmp
cd "$(pwd)" && ls
key = f"{prefix}:{token2}"
key: "user.password.reset2"
names = ["password", "token", "secret", "utf8", "sha256"]
ALGORITHMS = ("bearer", "hs256")
session_key = request.session.session_key
DISPLAY_TOKEN_LIMIT: 200_000
)text";

constexpr string_view kProse = R"text(
The password is stored as a bcrypt hash with 12 rounds.
The password is sha256 of the file.
The token is base64 encoded, and the secret is 32 bytes long.
The token is valid for 3600 seconds.
Passwords must have at least 12 characters, one digit and one symbol.
A password is required.
Enter your password: 
Password: the user's password
Token: an opaque string
Token: 3
API key: see the settings page
Secret: do not share
The secret is to keep it simple.
Use a token to call the API (see RFC6749).
The access token is returned by POST /oauth2/token.
Pass utf8mb4 to the driver.
Do not pass both this and --htmldir to pod2html; pass `asn1Spec` to guide it.
Pass http2 as the first argument, or pass libxml2.
What is the password for the admin account?
We rotate the key every 90 days.
The token was issued by auth2.example.org.
The tokenizer is SentencePiece32k.
password reset link is AbC12345
The API token belongs to ann; commit 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e has it.
The secret was removed in commit 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e.
The hash of the password is 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
The sha of the token fix is 3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e
Set `password` to `null` to disable it.
`--password <value>`: the password
tool --password "$PASSWORD"
tool --token-file /run/secrets/token2
tool --password-stdin < file2
mysql -u root -p db
mkdir -p build/release2
cp -p a1.txt b2.txt
ssh -p 2222 ann@host
curl -u "$USER:$TOKEN" https://a.example.org
docker run -p 8080:80 nginx:1.25
| password | string | required |
| token | 128 | max length |
| secret | The shared secret, at least 32 bytes |
| `API_KEY` | none | see below |
Mot de passe : obligatoire
Das Passwort ist zu kurz (mindestens 8 Zeichen).
Der Token ist abgelaufen.
user story 12: as a user I want to change my password, version 2.
Token budget: 200000 tokens. Used: 15321.
Decision: we use JWT with RS256; the signing key lives in the vault.
Decision: session tokens expire after 15m; refresh tokens after 30d.
Author: ann; keywords: token, secret, password1
)text";

void check_spared(string_view texts, std::size_t count_min) {
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < texts.size();) {
    const std::size_t end = std::min(texts.find('\n', begin), texts.size());
    const std::string text(texts.substr(begin, end - begin));
    begin = end + 1;
    count += text.empty() ? 0 : 1;
    Detections detections;
    find_assigned(text, detections);
    for (const Detection& each : detections) {
      CHECK_MESSAGE(each.action != DetectionAction::kSecret,
                    each.rule << " in: " << text << " at " << each.begin);
    }
  }
  CHECK(count >= count_min);
}

void check_spared_by_all(string_view texts) {
  const Redactor redactor = std::move(Redactor::make({}).value());
  for (std::size_t begin = 0; begin < texts.size();) {
    const std::size_t end = std::min(texts.find('\n', begin), texts.size());
    for (const Detection& each : redactor.find(texts.substr(begin, end - begin))) {
      CHECK_MESSAGE(each.action != DetectionAction::kSecret,
                    each.rule << " in: " << texts.substr(begin, end - begin));
    }
    begin = end + 1;
  }
}

}  // namespace

TEST_CASE("what looks like a secret of any kind is spared") {
  check_spared_by_all(kLookAlikes);
  check_spared_by_all(kVersionControl);
}

TEST_CASE("logs, lock files and ids lose nothing") { check_spared(kVersionControl, 40); }

TEST_CASE("code about secrets loses nothing") { check_spared(kCode, 140); }

TEST_CASE("documents about secrets lose nothing") { check_spared(kProse, 45); }

}  // namespace bmad_mem::test::innocent_texts_test
