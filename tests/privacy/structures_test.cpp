// structures_test.cpp - secrets that are known by what surrounds them, and what only looks like it.
#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "marked_text.hpp"
#include "privacy/finders.hpp"

namespace bmad_mem::test::structures_test {
namespace {

/// What is found in `text`, in the order of the places, each once, in the form of MarkedText.
/// `rule` empty: by any rule.
std::string found_in(std::string_view text, std::string_view rule = {}) {
  Detections detections;
  find_keywords(text, detections);
  std::set<std::pair<std::size_t, std::size_t>> places;
  for (const Detection& each : detections) {
    REQUIRE(each.begin < each.end);
    REQUIRE(each.end <= text.size());
    if (rule.empty() || each.rule == rule) {
      places.emplace(each.begin, each.end);
    }
  }
  std::string found;
  for (const auto& [begin, end] : places) {
    found += std::to_string(begin) + ":" + std::string(text.substr(begin, end - begin)) + "|";
  }
  return found;
}

struct Row {
  std::string_view rule;
  std::string_view marked;
};

template <std::size_t kCount>
void check_found(const Row (&rows)[kCount]) {
  for (const Row& row : rows) {
    const MarkedText marked(row.marked);
    CHECK_MESSAGE(found_in(marked.text, row.rule) == marked.expected,
                  row.rule << ": " << row.marked);
  }
}

template <std::size_t kCount>
void check_innocent(const std::string_view (&rows)[kCount]) {
  for (const std::string_view row : rows) {
    CHECK_MESSAGE(found_in(MarkedText(row).text).empty(), row);
  }
}

}  // namespace

TEST_CASE("a private key is found as a whole block") {
  static constexpr Row kRows[] = {
      {"private-key",
       "a\n«-----BEGIN RSA PRIVATE· KEY-----\nMIIEowIBAAKCAQEAx3Z\nabc=\n"
       "-----END RSA PRIVATE KEY-----»\nb"},
      {"private-key",
       "«-----BEGIN EC PRIVATE· KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf\n"
       "-----END EC PRIVATE KEY-----»"},
      {"private-key",
       "«-----BEGIN DSA PRIVATE· KEY-----\nMIIBugIBAAKBgQDLxa7s\n"
       "-----END DSA PRIVATE KEY-----»"},
      {"private-key",
       "«-----BEGIN PRIVATE· KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"
       "-----END PRIVATE KEY-----»"},
      {"private-key",
       "«-----BEGIN OPENSSH PRIVATE· KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n"
       "-----END OPENSSH PRIVATE KEY-----» tail"},
      {"private-key",
       "«-----BEGIN ENCRYPTED PRIVATE· KEY-----\nMIIFHDBOBgkqhkiG9w0BBQ0w\n"
       "-----END ENCRYPTED PRIVATE KEY-----»"},
      {"private-key",
       "«-----BEGIN RSA PRIVATE· KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: "
       "AES-128-CBC,0F0E0D\n\nq2w3e4r5t6Y7U8I9o0pA\n-----END RSA PRIVATE KEY-----»"},
      {"private-key",
       "«-----BEGIN PGP PRIVATE· KEY BLOCK-----\nVersion: GnuPG v2\nComment: mine\n\n"
       "lQOYBFz1b2kBCADV1a\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----»"},
      {"private-key",
       "«---- BEGIN SSH2 ENCRYPTED PRIVATE· KEY ----\nComment: \"rsa-key\"\n"
       "P2/56wAAA+4AAAA3aWYt\n---- END SSH2 ENCRYPTED PRIVATE KEY ----»"},
      {"private-key", R"({"private_key": "«-----BEGIN PRIVATE· KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n)"
                      R"(-----END PRIVATE KEY-----»\n"})"},
      {"private-key", R"("{\"key\": \"«-----BEGIN PRIVATE· KEY-----\\nMIIEvQIBADANBgkqh9w0\\n)"
                      R"(-----END PRIVATE KEY-----»\\n\"}")"},
      {"private-key",
       "key: «-----BEGIN PRIVATE· KEY----- MIIEvQIBADANBgkqhkiG9w0BAQEF "
       "-----END PRIVATE KEY-----»"},
      {"private-key",
       "k = \"«-----BEGIN EC PRIVATE· KEY-----\\n\" +\n  \"MHcCAQEEIIrYSSNQFa\\n\" +\n"
       "  \"-----END EC PRIVATE KEY-----»\""},
      {"private-key",
       "    «-----BEGIN RSA PRIVATE· KEY-----\n    MIIEowIBAAKCAQEAx3Z\n"
       "    -----END RSA PRIVATE KEY-----»"},
      {"private-key",
       "> «-----BEGIN RSA PRIVATE· KEY-----\n> MIIEowIBAAKCAQEAx3Z\n"
       "> -----END RSA PRIVATE KEY-----»"},
      {"private-key",
       "x «-----BEGIN RSA PRIVATE· KEY-----\nMIIEowIBAAKCAQEAx3ZabcDEF012345\n"
       "and all of the rest»"},
      {"private-key",
       "«-----BEGIN RSA PRIVATE· KEY-----\r\nMIIEowIBAAKCAQEAx3Z\r\n"
       "-----END RSA PRIVATE KEY-----»\r\n"
       "«-----BEGIN EC PRIVATE· KEY-----\r\nMHcCAQEEIIrYSSNQFa\r\n"
       "-----END EC PRIVATE KEY-----»"},
      {"private-key",
       "«PuTTY-User-·Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 1\nAAAAB3\n"
       "Private-Lines: 1\nAAABAQCf\nPrivate-MAC: 0123456789abcdef»\nrest"},
  };
  check_found(kRows);
}

TEST_CASE("a text that only speaks of keys is spared") {
  static constexpr std::string_view kRows[] = {
      "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBg\n-----END CERTIFICATE-----",
      "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
      "-----BEGIN PGP PUBLIC KEY BLOCK-----\nmQENBFz1b2kBCADV1a\n-----END PGP PUBLIC KEY "
      "BLOCK-----",
      "-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQAAADMAAAALc3No\n-----END SSH SIGNATURE-----",
      "-----BEGIN CERTIFICATE REQUEST-----\nMIICijCCAXICAQAwRTELMAkGA1UE\n-----END CERTIFICATE "
      "REQUEST-----",
      "if (text.contains(\"-----BEGIN PRIVATE· KEY-----\")) { return parsePrivateKeyFromText1(x); "
      "}",
      "pem = \"-----BEGIN PRIVATE· KEY-----\\n\" + base64EncodedKey1 + \"\\n-----END PRIVATE "
      "KEY-----\"",
      "re.compile(r'-----BEGIN[ A-Z]*PRIVATE KEY( BLOCK)?-----')",
      "-----BEGIN PRIVATE· KEY-----\n<your key here>\n-----END PRIVATE KEY-----",
      "-----BEGIN PRIVATE· KEY-----\n...\n-----END PRIVATE KEY-----",
      "-----BEGIN RSA PRIVATE· KEY-----\nYOUR_PRIVATE_KEY\n-----END RSA PRIVATE KEY-----",
      "-----BEGIN RSA PRIVATE· KEY-----\n${PRIVATE_KEY}\n-----END RSA PRIVATE KEY-----",
      "The file starts with -----BEGIN PRIVATE· KEY----- and is base64 after that.",
      "Never share your PRIVATE KEY with anyone.",
      "PuTTY-User-·Key-File-2 is the first line of such a file",
      "[REDACTED:private-key]",
  };
  check_innocent(kRows);
}

TEST_CASE("a JSON web token is found") {
  static constexpr Row kRows[] = {
      {"jwt",
       "x «ey·JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey·JzdWIiOiIxMjM0NTY3ODkwIn0."
       "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c» y"},
      {"jwt", "token=«ey·JhbGciOiJSUzI1NiJ9.ey·JpZCI6MX0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P»."},
      {"jwt", "\"«ey·JhbGciOiJSUzI1NiJ9.ey·JpZCI6MX0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P»\""},
      {"jwt", "unsigned «ey·JhbGciOiJub25lIn0.ey·JpZCI6MX0.»"},
      {"jwt", "detached «ey·JhbGciOiJIUzI1NiJ9..dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P»"},
      {"jwt", "JWE «ey·JhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..aXZpdml2aXZpdg.Y2lwaGVy.dGFndGFn»"},
      {"jwt", "a\\n«ey·JhbGciOiJSUzI1NiJ9.ey·JpZCI6MX0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P»"},
      {"jwt", "Bearer%20«ey·JhbGciOiJSUzI1NiJ9.ey·JpZCI6MX0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P»"},
      {"jwt", "id-«ey·JhbGciOiJSUzI1NiJ9.ey·JpZCI6MX0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P»&x=1"},
      {"jwt", "v1_«ey·JhbGciOiJSUzI1NiJ9.ey·JpZCI6MX0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P»"},
  };
  check_found(kRows);
  static constexpr std::string_view kInnocents[] = {
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9...",
      "eyJhbGciOi.eyJzdWIi.SflK",
      "the token begins with eyJ",
      "eyJ0aXRsZSI6ImhlbGxvIn0=",
      "data:application/json;base64,eyJ2ZXJzaW9uIjozLCJmaWxlIjoieC5qcyJ9",
      "eyJ2ZXJzaW9uIjozfQ.eyJ2ZXJzaW9uIjozfQ.dozjgNryP4J3jVmNHl0w5N",
      "keyJson.parse.somethingVeryLongIndeed",
      "heyJude.tomorrowNeverKnows.strawberryFieldsForever",
  };
  check_innocent(kInnocents);
}

TEST_CASE("a password in an address is found") {
  static constexpr Row kRows[] = {
      {"url-credentials", "postgres://ann:«s3cr3t·Pw»@db.local:5432/app"},
      {"url-credentials", "git clone https://ann:«hunter·2»@github.com/org/repo.git"},
      {"url-credentials", "postgresql://ann:«secr·et»@localhost:5433/app"},
      {"url-credentials", "postgres://postgres:«postg·res»@localhost/app"},
      {"url-credentials", "Server=db;User Id=ann;Password=«mypass·word»;"},
      {"url-credentials", "redis://:«p4ss·W0rd»@cache:6379/0"},
      {"url-credentials", "rediss://default:«Ab·Cd123»@cache"},
      {"url-credentials",
       "mongodb+srv://app:«q1w2·e3»@cluster0.abcd.mongodb.net/?retryWrites=true"},
      {"url-credentials", "amqp://svc:«pa%40ss%·3Aword»@mq/vhost"},
      {"url-credentials", "postgres://ann:«pa/ss·1?x#y»@db/app"},
      {"url-credentials", "postgres://ann:«p@ss·12»@db/app"},
      {"url-credentials", "\"DATABASE_URL\": \"mysql2://root:«toor·99»@127.0.0.1/x\""},
      {"url-credentials", "(see https://ann:«hunter·2»@x.org)"},
      {"url-credentials", "https:\\/\\/ann:«hunter·2»@x.org\\/"},
      {"url-credentials", "ftp://ann:«123·456»@files.local/a"},
      {"url-credentials", "https://«a8Bf93kd·02LsmQ71xZp4»@github.com/org/repo"},
      {"url-credentials", "https://«a8Bf93kd·02LsmQ71xZp4»:x-oauth-basic@github.com/org/repo"},
      {"url-credentials", "https://x-access-token:«gh_a8Bf93·kd02»@github.com/org/repo"},
      {"url-credentials", "https://oauth2:«q8Bf93·kd02»@gitlab.com/org/repo"},
      {"url-credentials", "ann:«hunter·2»@tcp(127.0.0.1:3306)/app?parseTime=true"},
      {"url-credentials", "jdbc:oracle:thin:scott/«tig·3r!»@db:1521:orcl"},
      {"url-credentials", "jdbc:mysql://db/app?user=ann&password=«hunter·2»&ssl=true"},
      {"url-credentials", "jdbc:sqlserver://db:1433;databaseName=x;user=ann;password=«hunter·2»;"},
      {"url-credentials", "Server=db;Database=x;User Id=ann;Password=«hunt er·2;»"},
      {"url-credentials", "host=db port=5432 user=ann password=«hunter·2» dbname=x"},
      {"url-credentials", "password=«hunter·2» user=ann"},
      {"url-credentials", "Pwd=«hunter·2»;Server=db;Uid=ann"},
      {"url-credentials", "Driver={SQL Server};Server=db;UID=ann;PWD={«hun;ter·2»};"},
      {"url-credentials",
       "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«Zm9vYmFyQmF6·"
       "UXV4MTIzNDU2Nzg5MA==»;EndpointSuffix=core.windows.net"},
      {"url-credentials",
       "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;"
       "SharedAccessKey=«Zm9vYmFyQmF6·UXV4MTIzNDU2Nzg5MA=»"},
      {"url-credentials", "otpauth://totp/Acme:ann?secret=«JBSWY3DP·EHPK3PXP»&issuer=Acme"},
  };
  for (const Row& row : kRows) {
    // The last ';' of a connection string is no part of the password.
    std::string text(row.marked);
    if (const std::size_t at = text.find(";»"); at != std::string::npos) {
      text.replace(at, 3, "»;");
    }
    const MarkedText marked(text);
    CHECK_MESSAGE(found_in(marked.text, row.rule) == marked.expected, row.marked);
  }
}

TEST_CASE("an address without a password is spared") {
  static constexpr std::string_view kRows[] = {
      "git@github.com:org/repo.git",
      "ssh://git@github.com/org/repo",
      "https://ann@bitbucket.org/org/repo.git",
      "http://host:8080/@scope/pkg",
      "http://localhost:3000/users/@me?x=a:b@c",
      "https://unpkg.com/pkg@1.2.3/dist/x.js",
      "https://cdn.jsdelivr.net/npm/@scope/pkg@1.2.3",
      "docker://ghcr.io/org/image@sha256:0123456789abcdef0123456789abcdef",
      "oci://image@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
      "postgres://user:password@localhost/db",
      "postgres://user:pass@localhost/db",
      "postgres://username:<password>@localhost/db",
      "postgres://user:${PW}@host/db",
      "postgres://${USER}:${PASS}@${HOST}/db",
      "postgres://$USER:$DB_PASSWORD@$HOST/db",
      "f\"postgres://{user}:{password}@{host}\"",
      "\"postgres://\" + user + \":\" + pw + \"@host\"",
      "mysql://user:xxx@host/db",
      "redis+unix://[[USERNAME:]PASSWORD@localhost]SOCKET",
      "http://abc:xyz@host/",
      "mysql://user:****@host/db",
      "redis://user:[REDACTED:url-credentials]@host",
      "https://%s:%s@github.com/org/repo",
      "https://your-username:your-password@github.com",
      "https://medium.com/@ann/story-1:2",
      "mailto:ann@x.org",
      "2024-01-01T10:00:00 ann@x.org",
      "http://[::1]:8080/@x",
      "https://x.org/a?time=12:30&mail=ann@x.org",
      "https://0123456789abcdef0123456789abcdef@o12345.ingest.sentry.io/1234",
      "ftp://anonymous:ann@files.local/a",
      "std::map<k, v>://",
      "host=db port=5432 user=ann password=<password> dbname=x",
      "Server=db;User Id=ann;Password=${PASSWORD};",
      "user=ann password == other",
      "AccountKey=<your-account-key>;",
      "jdbc:mysql://db/app?user=ann&password=password",
      "jdbc:oracle:thin:@//host:1521/service",
      "jdbc:oracle:thin:@host:1521:orcl",
      "otpauth://totp/x?secret=SECRET",
  };
  check_innocent(kRows);
}

TEST_CASE("a signature in an address is found") {
  static constexpr Row kRows[] = {
      {"signed-url",
       "https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=«0a1b2c3d4e5f6·"
       "07182930a1b2c3d4e5f6071829»&x=1"},
      {"signed-url",
       "https://storage.googleapis.com/b/o?X-Goog-Signature=«0a1b2c3d4e5f6·"
       "07182930a1b2c3d4e5f6071829»"},
      {"signed-url",
       "https://x.blob.core.windows.net/c/b?sv=2022-11-02&se=2024-01-01&sp=r&sig="
       "«aB3dE5gH7·jK9mN1pQ3sT5vX7zB9dF1hJ3%2Bx%3D»"},
      {"signed-url", "SAS: sig=«aB3dE5gH7·jK9mN1pQ3sT5vX7zB9dF1hJ3%3D»&se=2024-01-01&sv=2020"},
      {"signed-url",
       "https://d1.cloudfront.net/x?Expires=1700000000&Signature=«aB3dE5gH7·"
       "jK9mN1pQ3sT5vX7z~B9dF1»&Key-Pair-Id=K123"},
      {"signed-url",
       "https://b.s3.amazonaws.com/k?AWSAccessKeyId=x&Signature=«aB3dE5gH7·"
       "jK9mN1pQ3s%3D»&Expires=1700000000"},
      {"signed-url", "?X-Amz-Security-Token=«IQoJb3JpZ2luX2VjE·DoaCXVzLWVhc3QtMSJ»&X=1"},
  };
  check_found(kRows);
  static constexpr std::string_view kInnocents[] = {
      "https://x.org/?sig=aB3dE5gH7jK9mN1pQ3sT5vX7zB9dF1hJ3",
      "https://x.org/?sv=1&sig=short",
      "X-Amz-Signature=<signature>",
      "X-Amz-Signature=EXAMPLE1234567890123456",
      "signature=compute_signature_of_request(Expires=1)",
      "def f(sig=None, se=1): pass",
  };
  check_innocent(kInnocents);
}

TEST_CASE("credentials in headers are found") {
  static constexpr Row kRows[] = {
      {"authorization", "Authorization: Bearer «a8Bf93kd·02LsmQ71xZp4»"},
      {"authorization", "authorization: bearer «a8Bf93·kd»\r\nHost: x"},
      {"authorization", "AUTHORIZATION: BEARER «a8Bf93kd·02LsmQ71»"},
      {"authorization", "aUtHoRiZaTiOn: Token «a8Bf93kd·02LsmQ71»"},
      {"authorization", "Proxy-Authorization: Basic «dXNlcjpo·dW50ZXIy»"},
      {"authorization", "Authorization: Basic «QWxhZGRpbjpv·cGVuIHNlc2FtZQ==»"},
      {"authorization", "curl -H 'Authorization: Bearer «a8Bf93kd·02LsmQ71»' https://x"},
      {"authorization", "curl -H \"Authorization: token «a8Bf93kd·02LsmQ71»\" https://x"},
      {"authorization", "{\"Authorization\": \"Bearer «a8Bf93kd·02LsmQ71»\"}"},
      {"authorization", "\"{\\\"Authorization\\\": \\\"Bearer «a8Bf93kd·02LsmQ71»\\\"}\""},
      {"authorization", "headers[\"Authorization\"] = \"Bearer «a8Bf93kd·02LsmQ71»\""},
      {"authorization", "req.Header.Set(\"Authorization\", \"token «a8Bf93kd·02LsmQ71»\")"},
      {"authorization", "'Authorization' => 'Bearer «a8Bf93kd·02LsmQ71»'"},
      {"authorization",
       "  authorization: \"ApiKey «VnVhQ2ZHY0JDZGJrUW0tZTVh·T3g6dWkybHAyYXhUTm1z»\""},
      {"authorization", "Authorization: «a8Bf93kd02·LsmQ71xZp4»"},
      {"authorization", "Authorization: Token token=\"«a8Bf93kd·02LsmQ71»\""},
      {"authorization",
       "Authorization: Digest «username=\"ann\", realm=\"x\", nonce=\"dcd98b71\", "
       "uri=\"/\", response=\"6629fae49393·a05397450978507c4ef1\"»\nHost: x"},
      {"authorization",
       "Authorization: AWS4-HMAC-SHA256 «Credential=AKIAX1Y2Z3/20240101/us-east-1/"
       "s3/aws4_request, SignedHeaders=host, Signature=0a1b2c3d4e5·f60718»"},
      {"authorization",
       "-H 'Authorization: OAuth «oauth_consumer_key=\"x1\", oauth_token=\"y2z3\", "
       "oauth_signature=\"a8Bf93kd·02Lsm\"»' x"},
      {"authorization", "the log has Bearer «a8Bf93kd02·LsmQ71xZp4» in it"},
      {"authorization", "const auth = `Bearer «a8Bf93kd02·LsmQ71xZp4»`;"},
      {"authorization", "\"value\": \"Basic «dXNlcjpo·dW50ZXIy»\""},
      {"authorization", "X-Api-Key: «a8Bf93kd·02LsmQ71»"},
      {"authorization", "\"x-api-key\": \"«a8Bf93kd·02LsmQ71»\","},
      {"authorization", "PRIVATE-TOKEN: «a8Bf93kd·02LsmQ71»"},
      {"authorization", "X-Vault-Token: «s.a8Bf93kd·02LsmQ71»"},
      {"authorization", "curl -u ann:«hunter·2» https://x.org"},
      {"authorization", "curl --user ann:'«hunter·2 x»' https://x.org"},
      {"authorization", "curl --user \"ann\":\"«hunter·2x»\" https://x.org"},
      {"authorization", "curl -u \"«d7Lk·V78zLx!t»:\" https://x.org"},
      {"authorization", "curl -s \\\n  --user 'ann:«hunter 2·!»' https://x.org"},
      {"authorization", "curl https://x.org -uann:«hunter·2»"},
  };
  check_found(kRows);
}

TEST_CASE("what only speaks of headers is spared") {
  static constexpr std::string_view kRows[] = {
      "Authorization: Bearer <token>",
      "Authorization: Bearer ${TOKEN}",
      "Authorization: Bearer $TOKEN",
      "Authorization: Bearer {token}",
      "Authorization: Bearer {{ token }}",
      "Authorization: Bearer YOUR_ACCESS_TOKEN",
      "Authorization: Bearer your-api-key",
      "Authorization: Bearer token123",
      "Authorization: Bearer xxxxxxxxxxxx",
      "Authorization: Bearer [REDACTED:authorization]",
      "Authorization: [REDACTED:authorization]",
      "Authorization: Basic authentication is used",
      "Authorization: Basic <base64>",
      "Authorization: required for all requests",
      "\"Authorization\": \"Bearer \" + accessTokenProvider2",
      "headers.Authorization = `Bearer ${token}`",
      "the bearer of news",
      "Bearer authentication",
      "Bearer token authentication is described in RFC 6750",
      "Basic authentication",
      "basic understanding of things",
      "WWW-Authenticate: Bearer realm=\"example\"",
      "WWW-Authenticate: Basic realm=\"x\"",
      "Authorization: Digest username=<user>, response=<hash>",
      "authorization: whether the call was allowed",
      "authorization = require('./authorization')",
      "class AuthorizationService2 { }",
      "x-api-key: YOUR_API_KEY",
      "\"x-api-key\": process.env.API_KEY",
      "X-Auth-Token: <token>",
      "curl -u user:password https://x.org",
      "curl -u $USER:$PASSWORD https://x.org",
      "curl -u \"${USER}\":\"${PASSWORD}\" https://x.org",
      "sort -u a:b c",
      "docker run -u 1000:1000 image",
      "useradd -u 1000 --user a:b",
  };
  check_innocent(kRows);
}

TEST_CASE("values of cookies are found") {
  static constexpr Row kRows[] = {
      {"cookie", "Cookie: session=«a8Bf93·kd02»; lang=en; csrftoken=«Qw3·rTy9»"},
      {"cookie", "cookie: sid=«s%3Aa8Bf93·kd02.x1»"},
      {"cookie", "Set-Cookie: session=«a8Bf93·kd02»; Path=/; Expires=Wed, 01 Jan 2025; HttpOnly"},
      {"cookie", "Set-Cookie: PHPSESSID=«0a1b2c3d4e5f·6a7b8c9d»; path=/"},
      {"cookie", "\"Cookie\": \"JSESSIONID=«0A1B2C3D·4E5F»\""},
      {"cookie", "curl -b 'session=«a8Bf93·kd02»' https://x"},
      {"cookie", "curl --cookie \"session=«a8Bf93·kd02»; theme=dark-mode\" https://x"},
      {"cookie", "curl -H 'Cookie: _app=«a8Bf93kd02·LsmQ71xZp4»' https://x"},
      {"cookie", "document.cookie = \"auth=«a8Bf93·kd02»; path=/\""},
      {"cookie", "set-cookie: remember_token=«1|a8Bf93·kd02»; Secure"},
  };
  check_found(kRows);
  static constexpr std::string_view kInnocents[] = {
      "Cookie: lang=en; theme=dark",
      "Cookie: session=<session>; x=${Y}",
      "Cookie: session=[REDACTED:cookie]",
      "Set-Cookie: session=deleted; Path=/; Max-Age=0",
      "Set-Cookie: theme=solarized-dark; Expires=Wed, 01 Jan 2025 10:00:00 GMT",
      "Set-Cookie: session=; Path=/",
      "cookie: string;",
      "cookies.get('session')",
      "const cookie = req.headers.cookie",
      "cookie => cookie.name === 'sessionid12345'",
      "Cookie: name=value",
      "cookie = name + '=' + value1234567",
      "Cookie: locale=en_US.UTF8x1; timezone=Europe/Berlin1",
  };
  check_innocent(kInnocents);
}

TEST_CASE("secrets in files of tools are found") {
  static constexpr Row kRows[] = {
      {"npmrc", "//registry.npmjs.org/:_authToken=«a8Bf93kd·02LsmQ71»\n"},
      {"npmrc", "//npm.x.org/:_authToken = \"«a8Bf93kd·02LsmQ71»\""},
      {"npmrc", "_auth=«dXNlcjpo·dW50ZXIy»"},
      {"npmrc", "//npm.x.org/:_password=«aHVudGVy·Mg==»"},
      {"npmrc", "npm config set //npm.x.org/:_authToken=«a8Bf93kd·02LsmQ71» -g"},
      {"npmrc", "npmAuthToken: \"«a8Bf93kd·02LsmQ71»\""},
      {"netrc", "machine api.github.com login ann password «hunter·2»"},
      {"netrc", "machine api.github.com\n  login ann\n  password «hunter·2»\nmachine b"},
      {"netrc", "default login ann password «hunter·2»"},
      {"pgpass", "db.local:5432:app:ann:«hunter·2»"},
      {"pgpass", "*:*:*:ann:«hunt\\:er·2»\nlocalhost:5432:*:bob:«qwe·rt1»"},
      {"pypirc", "[pypi]\nusername = ann\npassword = «hunter·2»\n"},
      {"password", "user = ann\n# of the server\npassword = «open·sesame»\n"},
      {"password", "db => {\n  user => 'ann',\n  password => '«opensesame·hill»',\n}\n"},
      {"password", "credentials {\n  username 'ann'\n  password '«secr·et»'\n}\n"},
      {"password-hash", "$ANSIBLE_VAULT;1.1;AES256\n«61323365393932·313636\n6136376136613337»\n"},
      {"docker-auth", "{\"auths\": {\"ghcr.io\": {\"auth\": \"«YW5uOmh1·bnRlcjI=»\"}}}"},
      {"docker-auth", "{\\\"auth\\\":\\\"«YW5uOmh1·bnRlcjI=»\\\"}"},
      {"docker-auth", "\"identitytoken\": \"«a8Bf93kd02·LsmQ71xZp4»\""},
      {"password-hash", "ann:«$2y$10$abcdefghijklmnopqrstuO·1.x/ABCDEFGHIJKLMNOPQRSTUVWXYZ0»"},
      {"password-hash", "ann:«$apr1$salt1234$abcdefghijklmno·pqrst1/»"},
      {"password-hash",
       "root:«$6$rounds=5000$saltsalt$ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklm"
       "nopqrstuvwxyz./ABCDEFGHIJKLMNO·PQRSTUV»:19000:0:99999:7:::"},
      {"password-hash", "«$1$saltsalt$abcdefghijklmnop·qrstu1»"},
      {"password-hash",
       "root:«$y$j9T$abcdefghijklmnopqrstu/$abcdefghijklmnopqrstuvwxyz0123456789·"
       "ABCDEF1»:19000:0:99999:7:::"},
      {"password-hash",
       "«$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b9·dWRWJTmaaJObG»"},
      {"password-hash", "cn=ann: «{SSHA}W6ph5Mm5Pz8GgiULbPgzG37·mj9gd1x2y»"},
      {"password-hash", "«pbkdf2_sha256$600000$abcSALT1$Zm9vYmFyMTIzNDU2Nzg5·MFFhWndTeA8=»"},
      {"password-hash", "«scrypt:32768:8:1$abcSALT1$0a1b2c3d4e5f60718293·a4b5c6d7e8f9»"},
      {"password-hash", "«$P$B1234567aBcDeFgHiJkLmNoP·qRsTuV1»"},
      {"shadow-hash", "ann:«abJnggxhB·/yWI»:18000:0:99999:7:::"},
  };
  check_found(kRows);
  static constexpr std::string_view kInnocents[] = {
      "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
      "//registry.npmjs.org/:_authToken=<token>",
      "npm reads _authToken from .npmrc",
      "the _auth option",
      "machine learning login password x",
      "machine api.github.com login ann password <password>",
      "machine api.github.com\nlogin ann\n",
      "default login password",
      "hostname:port:database:username:password",
      "localhost:5432:app:ann:${PASSWORD}",
      "main.c:5432:12:error:something",
      "zstyle ':completion:*:(ssh|scp):*:users'",
      "the default password callback is called",
      "username = x\n    password = self.password",
      "password = x",
      "username = ann\npassword = <password>\n",
      "\"auth\": \"required\"",
      "\"auth\": \"none\"",
      "auth: basic",
      "replace with $1$2 and $6$",
      "s/(a)(b)/$2$1$5$x/",
      "$2y$10$short",
      "{SHA}",
      "{sha256} is a digest",
      "root:!:19000:0:99999:7:::",
      "root:*:19000:0:99999:7:::",
      "pbkdf2_sha256 is the default hasher",
  };
  check_innocent(kInnocents);
}

TEST_CASE("a text that was redacted has nothing left to find") {
  const std::string_view marked =
      "postgres://ann:s3cr3t·Pw@db/x\nAuthorization: Bearer a8Bf93kd·02LsmQ71\n"
      "Cookie: session=a8Bf93·kd02; id=Qw3·rTy9x\nmachine h login a password hunter·2\n"
      "ann:$apr1$salt1234$abcdefghijklmno·pqrst1/ ey·JhbGciOiJub25lIn0.ey·JpZCI6MX0. x\n"
      "curl -u ann:hunter·2 https://x.org/?sv=1&sig=aB3dE5gH7·jK9mN1pQ3sT5vX7zB9dF1hJ3\n";
  std::string text = MarkedText(marked).text;
  Detections detections;
  find_keywords(text, detections);
  CHECK(detections.size() >= 8);
  std::ranges::sort(detections, {}, &Detection::begin);
  for (std::size_t i = detections.size(); i-- > 0;) {
    if (i == 0 || detections[i - 1].end <= detections[i].begin) {
      const std::string mark = "[REDACTED:" + std::string(detections[i].rule) + "]";
      text.replace(detections[i].begin, detections[i].end - detections[i].begin, mark);
    }
  }
  CHECK(found_in(text) == "");
}

TEST_CASE("time is linear in the size of a hostile text") {
  static constexpr std::string_view kPieces[] = {
      "-----BEGIN ",
      "-----BEGIN RSA PRIVATE KEY-----\n",
      "-----BEGIN PRIVATE KEY----- AbC1",
      "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
      "PRIVATE KEY",
      "eyJ",
      "eyJ.",
      "-eyJ",
      "eyJhbGciOiJub25lIn0.",
      "-eyJhbGciOiJub25lIn0",
      "://",
      "a://b:c",
      "a://b:c/",
      "a://b@",
      "a@tcp(",
      "@@@@",
      "a",
      " ",
      "password=",
      ";password=",
      "user=a password=b ",
      "&sig=a1B2c3D4",
      "&sig=a1B2c3D4e5F6g7H8i9J0",
      "authorization=",
      "authorization: a b=",
      "Bearer ",
      "bearer-",
      "basic dXNl",
      "cookie=",
      "cookie=a=b;",
      "cookie: a=",
      "machine ",
      "default login a ",
      "_authToken=",
      "a:5432:b:",
      "$2y$10$",
      "$6$",
      "$argon2$",
      "{SSHA}a1",
      "pbkdf2_sha",
      ":99999:",
      "curl -u ",
      "curl -b a=",
      "PuTTY-User-Key-File-",
      "\"auth\": \"",
      "AccountKey=a1B2",
      "username=a\npassword=b\n",
      "jdbc:oracle:thin:",
      "otpauth://a",
      "\\",
      "\"",
      "1",
      "A",
  };
  // A scanner that reads to the end from each of its words would take minutes here.
  constexpr std::size_t kSize = 512U << 10U;
  constexpr auto kBound = std::chrono::seconds(30);
  for (const std::string_view piece : kPieces) {
    std::string text;
    while (text.size() < kSize) {
      text += piece;
    }
    Detections detections;
    const auto begin = std::chrono::steady_clock::now();
    find_keywords(text, detections);
    CHECK_MESSAGE(std::chrono::steady_clock::now() - begin < kBound, piece);
  }
}

}  // namespace bmad_mem::test::structures_test
