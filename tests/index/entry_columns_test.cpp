// entry_columns_test.cpp - columns as digits: what goes in comes out, and what is damaged doesn't.
#include "index/entry_columns.hpp"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "model/entry.hpp"

namespace bmad_mem::test::entry_columns_test {
namespace {

EntryRow random_row(std::mt19937& random) {
  return {.offset = random() % (1U << 30U),
          .size = static_cast<std::uint32_t>(random() % (1U << 24U)),
          .line = static_cast<std::uint32_t>(random() % (1U << 24U)),
          .line_hash = static_cast<std::uint32_t>(random() % (1U << 30U))};
}

std::string encoded(const EntryRow& row) {
  std::string text;
  encode_rows({row}, text);
  return text;
}

}  // namespace

TEST_CASE("a column has the same number of digits for each value, extremes too") {
  for (const std::size_t digits : {2U, 3U, 4U, 5U}) {
    CAPTURE(digits);
    const std::uint32_t largest = (std::uint32_t{1} << (6 * digits)) - 1;
    const std::vector<std::uint32_t> values = {0, 1, 63, 64, largest, largest - 1, 0};
    std::string text;
    encode_column(values, digits, text);
    CHECK(text.size() == values.size() * digits);
    CHECK(text.find_first_not_of(
              "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
          std::string::npos);
    CHECK(decode_column(text, digits) == values);
  }
  std::string text;
  encode_column({1, 64}, 3, text);
  CHECK(text == "AABABA");
}

TEST_CASE("times before 1970 and far beyond any date come back; what is beyond is bounded") {
  const std::int64_t limit = std::int64_t{1} << (6 * kTimestampDigits - 1);
  const std::vector<std::int64_t> values = {0, -1, 1, 1'768'125'600'000, -limit, limit - 1};
  std::string text;
  encode_timestamps(values, text);
  CHECK(text.size() == values.size() * kTimestampDigits);
  CHECK(decode_timestamps(text) == values);
  for (Ordinal ordinal = 0; ordinal < values.size(); ++ordinal) {
    CHECK(timestamp_at(text, ordinal) == values[ordinal]);
  }
  text.clear();
  encode_timestamps(
      {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}, text);
  CHECK(decode_timestamps(text) == std::vector<std::int64_t>{-limit, limit - 1});
}

TEST_CASE("an empty column has no values; one that is not whole or holds other bytes is none") {
  CHECK(decode_column("", 3) == std::vector<std::uint32_t>());
  CHECK(decode_timestamps("") == std::vector<std::int64_t>());
  CHECK_FALSE(decode_column("AAAA", 3).has_value());
  CHECK_FALSE(decode_column("AAAAA", 3).has_value());
  CHECK_FALSE(decode_column("AAA", 1).has_value());
  CHECK_FALSE(decode_column("AAAAAA", 6).has_value());
  CHECK_FALSE(decode_timestamps("AAAAAAA").has_value());
  std::string text;
  encode_column({5, 6}, 3, text);
  std::string times;
  encode_timestamps({5, 6}, times);
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool is_digit = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_';
    for (const std::size_t at : {0U, 2U, 5U}) {
      text[at] = c;
      CHECK(decode_column(text, 3).has_value() == is_digit);
      text[at] = 'A';
      times[at] = c;
      CHECK(decode_timestamps(times).has_value() == is_digit);
      times[at] = 'A';
    }
  }
}

TEST_CASE("rows come back, extremes too") {
  std::mt19937 random(3);
  std::vector<EntryRow> rows = {{},
                                {.offset = (1U << 30U) - 1,
                                 .size = (1U << 24U) - 1,
                                 .line = (1U << 24U) - 1,
                                 .line_hash = (1U << 30U) - 1}};
  for (int i = 0; i < 500; ++i) {
    rows.push_back(random_row(random));
  }
  std::string text;
  encode_rows(rows, text);
  REQUIRE(text.size() == rows.size() * kRowDigits);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(decode_row(std::string_view(text).substr(i * kRowDigits, kRowDigits)) == rows[i]);
  }
}

TEST_CASE("a row with any byte changed is refused") {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    const std::string good = encoded(random_row(random));
    REQUIRE(decode_row(good).has_value());
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (int change = 1; change < 256; ++change) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ change);
        CHECK_FALSE(decode_row(bad).has_value());
      }
    }
  }
}

TEST_CASE("the hash of an id tells types apart, and the hash of a line its bytes") {
  CHECK(entry_id_hash(EntryType::kFact, "x") != entry_id_hash(EntryType::kDecision, "x"));
  CHECK(entry_id_hash(EntryType::kFact, "x") != entry_id_hash(EntryType::kFact, "y"));
  CHECK(entry_id_hash(EntryType::kFact, "x") == entry_id_hash(EntryType::kFact, "x"));
  CHECK(entry_line_hash("{}") != entry_line_hash("{} "));
  CHECK(entry_line_hash("{}") < 1U << 30U);
}

TEST_CASE("flags keep type, role and what makes an entry important") {
  for (const EntryType type : kEntryTypes) {
    for (const std::uint32_t more : {0U, std::uint32_t{kFlagSevere}, std::uint32_t{kFlagApproved},
                                     std::uint32_t{kFlagSevere | kFlagApproved}}) {
      const std::uint32_t flags =
          static_cast<std::uint32_t>(type) | more | kFlagTombstone | (2U << kFlagRoleShift);
      CHECK(flag_type(flags) == type);
      CHECK(flag_role(flags) == EntryRole::kAssistant);
      CHECK(flag_importance(flags) ==
            importance_of(type, (more & kFlagSevere) != 0, (more & kFlagApproved) != 0));
    }
  }
}

}  // namespace bmad_mem::test::entry_columns_test
