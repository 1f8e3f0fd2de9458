// base64_test.cpp - the vectors of RFC 4648, and what is written in no other way.
#include "base/base64.hpp"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace bmad_mem::test::base64_test {

TEST_CASE("bytes become the letters of RFC 4648, and come back") {
  struct Row {
    std::string_view bytes, padded, url;
  };
  constexpr Row kRows[] = {
      {"", "", ""},
      {"f", "Zg==", "Zg"},
      {"fo", "Zm8=", "Zm8"},
      {"foo", "Zm9v", "Zm9v"},
      {"foob", "Zm9vYg==", "Zm9vYg"},
      {"fooba", "Zm9vYmE=", "Zm9vYmE"},
      {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
      {"\xff\xfe\xfb", "//77", "__77"},
      {"\xfb\xef\xbe", "++++", "----"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.padded);
    CHECK(base64_encoded(row.bytes, Base64::kPadded) == row.padded);
    CHECK(base64_encoded(row.bytes, Base64::kUrl) == row.url);
    CHECK(base64_decoded(row.url) == std::string(row.bytes));
    CHECK(base64_decoded(row.padded.substr(0, row.padded.find('='))) == std::string(row.bytes));
    CHECK(base64url_decoded(row.url) == std::string(row.bytes));
  }
}

TEST_CASE("base64url has one way to be written; without that, spare bits are dropped") {
  for (const std::string_view text :
       {"Zg==", "Zh", "Zm9", "Z", "Zm9vY", "++++", "//77", "Zm 9", "Zm\n9v"}) {
    CAPTURE(text);
    CHECK_FALSE(base64url_decoded(text).has_value());
  }
  CHECK(base64_decoded("Zh") == "f");
  CHECK(base64_decoded("Zm9vY") == "foo");
  CHECK_FALSE(base64_decoded("Zg==").has_value());
  CHECK_FALSE(base64_decoded("Zm\xff"
                             "9")
                  .has_value());
}

}  // namespace bmad_mem::test::base64_test
