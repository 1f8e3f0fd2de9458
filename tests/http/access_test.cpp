#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "http/guard.hpp"

namespace bmad_mem::test::access_test {
namespace {

using bmad_mem::cli::Access;
using std::chrono::hours;
using std::chrono::minutes;

const Access::Time kNow = Access::Time() + hours(100);

}  // namespace

TEST_CASE("a token has 256 bits, and each server its own") {
  std::set<std::string> tokens;
  for (int i = 0; i < 20; ++i) {
    const Access access;
    CHECK(access.token().size() == 43);  // 256 bits in base64 without padding.
    CHECK(access.is_token(access.token()));
    CHECK_FALSE(access.is_token(access.token() + "x"));
    CHECK_FALSE(access.is_token(""));
    tokens.insert(access.token());
  }
  CHECK(tokens.size() == 20);
}

TEST_CASE("a code is worth a secret once, for ten minutes") {
  Access access;
  const std::string code = access.new_code(kNow);
  CHECK_FALSE(access.page_secret_for("", kNow));
  CHECK_FALSE(access.page_secret_for(access.token(), kNow));
  const auto secret = access.page_secret_for(code, kNow + minutes(9));
  REQUIRE(secret);
  CHECK(access.is_page_secret(*secret, kNow));
  CHECK_FALSE(access.is_page_secret(code, kNow));
  CHECK_FALSE(access.page_secret_for(code, kNow + minutes(9)));
  const std::string late = access.new_code(kNow);
  CHECK_FALSE(access.page_secret_for(late, kNow + minutes(10)));
}

TEST_CASE("codes that nobody uses make room for new ones") {
  Access access;
  std::vector<std::string> codes;
  for (std::size_t i = 0; i <= Access::kCodesMax; ++i) {
    codes.push_back(access.new_code(kNow));
  }
  CHECK_FALSE(access.page_secret_for(codes.front(), kNow));
  CHECK(access.page_secret_for(codes[1], kNow));
  CHECK(access.page_secret_for(codes.back(), kNow));
}

TEST_CASE("the secret of a page ends after twelve hours, or when its page says so") {
  Access access;
  const std::string secret = access.page_secret_for(access.new_code(kNow), kNow).value_or("");
  CHECK(access.is_page_secret(secret, kNow + hours(12) - minutes(1)));
  CHECK_FALSE(access.is_page_secret(secret, kNow + hours(12)));
  CHECK_FALSE(access.is_page_secret("", kNow));
  access.forget_page_secret(secret);
  CHECK_FALSE(access.is_page_secret(secret, kNow));
}

}  // namespace bmad_mem::test::access_test
