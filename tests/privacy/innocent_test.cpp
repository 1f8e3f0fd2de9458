// innocent_test.cpp - what looks random, and is public or stands for nothing.
#include "privacy/innocent.hpp"

#include <string_view>

#include <doctest/doctest.h>

namespace bmad_mem::test::innocent_test {

using std::string_view;

TEST_CASE("public shapes are known by themselves") {
  for (const string_view value :
       {"3f8a1c9",
        "3f8a1c9e7b2d4056a8c1e3f59b7d20643f8a1c9e",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "7f3b9c1d-52ae-4c08-9e61-0b7d4a2f8c35",
        "{7f3b9c1d-52ae-4c08-9e61-0b7d4a2f8c35}",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "dec-01kaxx8v04q7m2s",
        "msg-01kaxx8v04q7m2s",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6==",
        "W/\"5f2a-18c9e\"",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "4bf92f3577b34da6a3ce929d0e0e4736",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg",
        "getAccessToken",
        "access_token_provider",
        "MAX_RETRY_COUNT",
        "user.password",
        "/usr/share/doc/libc6/copyright",
        "./lib/privacy/innocent.cpp",
        "https://example.org/a/b",
        "git@github.com:ann/tools.git",
        "ann@example.org",
        "db.internal.example.org",
        "#ff8800",
        "2026-01-11",
        "2026-01-11T08:30:00Z",
        "3.14159",
        "v1.24.3",
        "1.2.3-beta.4",
        "12345678",
        "0xdeadbeef",
        "10.0.0.1",
        "application/json",
        "en_US.UTF-8"}) {
    CHECK_MESSAGE(is_public_shape(value), value);
  }
}

TEST_CASE("what was drawn at random has no public shape") {
  for (const string_view value :
       {"k8Zq2mXw9LtB4vRd7NcJ5hYs", "xq7zk2vw9mtb4rhd8njc5ysp", "vR7kqZ2mXw!",
        "uV8/kQ2+zXw9mLt4BvRd7NcJ5hYs1pGf6aTe3oIu0E==", "https://ann:k8Zq2mXw@example.org/"}) {
    CHECK_MESSAGE(!is_public_shape(value), value);
  }
}

TEST_CASE("placeholders stand for a value") {
  for (const string_view value : {"",
                                  "  ",
                                  "${X}",
                                  "$X",
                                  "$DB_PASSWORD",
                                  "{{x}}",
                                  "{{ .Values.key }}",
                                  "%X%",
                                  "%(key)s",
                                  "<your-key>",
                                  "<token>",
                                  "Bearer <token>",
                                  "xxxx",
                                  "XXXX-XXXX",
                                  "sk-xxxxxxxx",
                                  "****",
                                  "changeme",
                                  "EXAMPLE",
                                  "example-key",
                                  "null",
                                  "None",
                                  "undefined",
                                  "process.env.X",
                                  "os.environ['X']",
                                  "[REDACTED:x]",
                                  "[REDACTED:github-pat]",
                                  "your_api_key",
                                  "my-secret",
                                  "test",
                                  "fake-token",
                                  "TODO",
                                  "…",
                                  "abc…",
                                  "...",
                                  "$(pass show x)",
                                  "${{ secrets.X }}",
                                  "#{key}",
                                  "var.key",
                                  "System.getenv(\"X\")",
                                  "ENC[AES256_GCM,data:x]",
                                  "0000000000",
                                  "0123456789abcdef"}) {
    CHECK_MESSAGE(is_placeholder(value), value);
  }
}

TEST_CASE("a secret is no placeholder though a word stands in it") {
  for (const string_view value :
       {"sk_test_k8Zq2mXw9LtB4vRd7NcJ5hYs", "my-k8Zq2mXw9LtB4vRd", "vR7kqZ2mXw", "hunter2",
        "$2b$12$k8Zq2mXw9LtB4vRd7NcJ5h", "Pa$$w0rd!x"}) {
    CHECK_MESSAGE(!is_placeholder(value), value);
  }
}

TEST_CASE("the model tells what was drawn from what was written") {
  for (const string_view drawn : {"k8Zq2mXw9LtB", "xq7zk2vw9mtb4rhd", "3f8a1c9e7b2d4056"}) {
    CHECK_MESSAGE(randomness_bits(drawn) > kRandomBits, drawn);
  }
  for (const string_view written :
       {"AccessTokenProvider", "current_password", "internationalization", "src/lib/main.cpp"}) {
    CHECK_MESSAGE(randomness_bits(written) < 0, written);
  }
  CHECK(randomness_bits("") == 0);
}

}  // namespace bmad_mem::test::innocent_test
