#include "bmad_mem/result.hpp"

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <doctest/doctest.h>

namespace bmad_mem::test::result_test {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT, .message = "odd"};
  }
  return number / 2;
}

Status check_even(int number) {
  BMAD_TRY(half_of(number));
  return {};
}

Result<int> quarter_of(int number) {
  BMAD_TRY_ASSIGN(const int half, half_of(number));
  BMAD_TRY_ASSIGN(const int quarter, half_of(half));
  return quarter;
}

Result<std::unique_ptr<int>> boxed(int number) {
  BMAD_TRY_ASSIGN(const int half, half_of(number));
  BMAD_TRY_ASSIGN(std::unique_ptr<int> box,
                  Result<std::unique_ptr<int>>(std::make_unique<int>(half)));
  return box;
}

}  // namespace

TEST_CASE("every code is printed as the specification spells it") {
  constexpr std::string_view kNames[] = {
      "E_STORAGE_IO",        "E_STORAGE_FULL",     "E_STORAGE_CORRUPT", "E_LOCK_TIMEOUT",
      "E_CONCURRENT_MOD",    "E_INVALID_FORMAT",   "E_SCHEMA_INVALID",  "E_SIZE_LIMIT",
      "E_SESSION_NOT_FOUND", "E_SESSION_ARCHIVED", "E_SESSION_CORRUPT", "E_QUERY_TIMEOUT",
      "E_INVALID_QUERY",     "E_ACCESS_DENIED",    "E_RESOURCE_LIMIT",  "E_NEWER_VERSION",
      "E_HUB_AWAY",          "E_HUB_FULL",         "E_HUB_VERSION",     "E_ENTRY_NOT_FOUND",
      "E_HUB_NOT_FOUND",     "E_KEY_NOT_FOUND"};
  static_assert(std::size(kNames) == kErrorCodeCount);
  for (std::size_t i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    CHECK(error_code_name(code) == kNames[i]);
  }
  CHECK(error_code_name(ErrorCode::E_INVALID_QUERY) == "E_INVALID_QUERY");
  CHECK(error_code_name(ErrorCode::E_LOCK_TIMEOUT) == "E_LOCK_TIMEOUT");
}

TEST_CASE("what a process runs out of is an error with a way out") {
  const Error memory = error_of_exception(std::bad_alloc());
  CHECK(memory.code == ErrorCode::E_RESOURCE_LIMIT);
  CHECK(memory.message.contains("ulimit -v"));
  const Error threads = error_of_exception(
      std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)));
  CHECK(threads.code == ErrorCode::E_RESOURCE_LIMIT);
  CHECK(threads.message.contains("ulimit -u"));
  CHECK(error_of_exception(std::runtime_error("odd")).message.contains("odd"));
}

TEST_CASE("an error is shown with what is known of its place") {
  struct Row {
    Error error;
    const char* expected;
  };
  const Row rows[] = {
      {{.message = "no"}, "no"},
      {{.message = "no", .path = "a.jsonl"}, "a.jsonl: no"},
      {{.message = "no", .path = "a.jsonl", .line = 3}, "a.jsonl:3: no"},
      {{.message = "no", .path = "a.jsonl", .line = 3, .column = 7}, "a.jsonl:3:7: no"},
      {{.message = "no", .path = "a.jsonl", .column = 7}, "a.jsonl: no"},
      {{.message = "no", .line = 3}, "line 3: no"},
      {{.message = "no", .line = 3, .column = 7}, "line 3:7: no"},
      {{.message = "no", .field = "context.topic"}, "context.topic: no"},
      {{.message = "no", .path = "a.jsonl", .line = 3, .column = 7, .field = "id"},
       "a.jsonl:3:7: id: no"},
      {{.path = "a.jsonl"}, "a.jsonl"},
      {{}, ""},
  };
  for (const Row& row : rows) {
    CHECK(row.error.to_string() == row.expected);
  }
}

TEST_CASE("a failed step ends the function that tries it, with the step's error") {
  CHECK(check_even(4).has_value());
  CHECK(check_even(3).error().message == "odd");
  CHECK(quarter_of(8).value() == 2);
  CHECK(quarter_of(7).error().message == "odd");
  CHECK(quarter_of(6).error().code == ErrorCode::E_INVALID_FORMAT);
}

TEST_CASE("a result may hold what can only be moved") {
  CHECK(*boxed(4).value() == 2);
  CHECK_FALSE(boxed(5).has_value());
}

}  // namespace bmad_mem::test::result_test
