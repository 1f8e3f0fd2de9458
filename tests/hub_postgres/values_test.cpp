// values_test.cpp - the bytes of parameters, and the codes of the server's errors.
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "hub_postgres/connection.hpp"

namespace bmad_mem::test::hub_postgres_values_test {
namespace {

using namespace std::string_literals;
using namespace hub_postgres;

}  // namespace

TEST_CASE("a number has its highest byte first") {
  CHECK(int_param(258).bytes == "\0\0\x01\x02"s);
  CHECK(bigint_param(std::uint64_t{1}).bytes == "\0\0\0\0\0\0\0\x01"s);
  CHECK(!bigint_param(std::optional<std::uint64_t>()).bytes);
  CHECK(!uuid_param("").bytes);
}

TEST_CASE("an array has its head, and each element its size") {
  ArrayParam lines(ArrayParam::kByteas, 2);
  lines.add(std::optional<std::string>("a\0"s));
  lines.add(std::optional<std::string>());
  CHECK(std::move(lines).finish().bytes ==
        "\0\0\0\1\0\0\0\1\0\0\0\x11\0\0\0\2\0\0\0\1\0\0\0\2a\0\xff\xff\xff\xff"s);
  CHECK(ArrayParam(ArrayParam::kSmallints, 0).finish().bytes->size() == 20);
}

TEST_CASE("every log has a number of its own, and never another") {
  constexpr EntryType kInOrder[] = {EntryType::kConversation, EntryType::kDecision,
                                    EntryType::kFinding,      EntryType::kPreference,
                                    EntryType::kFact,         EntryType::kEvent,
                                    EntryType::kAgentState,   EntryType::kArtifact};
  std::int16_t number = 0;
  for (const EntryType log : kInOrder) {
    CHECK(static_cast<std::int16_t>(log) == number++);
  }
  CHECK(number == kEntryTypeCount);
}

TEST_CASE("an error of the server has a code of ours") {
  struct Row {
    std::string_view state;
    ErrorCode code;
  };
  static constexpr Row kRows[] = {
      {"", ErrorCode::E_HUB_AWAY},
      {"08006", ErrorCode::E_HUB_AWAY},
      {"57P01", ErrorCode::E_HUB_AWAY},
      {"57P03", ErrorCode::E_HUB_AWAY},
      {"57014", ErrorCode::E_HUB_AWAY},
      {"25006", ErrorCode::E_HUB_AWAY},
      {"40001", ErrorCode::E_HUB_AWAY},
      {"53100", ErrorCode::E_HUB_FULL},
      {"53300", ErrorCode::E_HUB_FULL},
      {"42501", ErrorCode::E_ACCESS_DENIED},
      {"28P01", ErrorCode::E_ACCESS_DENIED},
      {"42P01", ErrorCode::E_HUB_VERSION},
      {"3F000", ErrorCode::E_HUB_VERSION},
      {"42703", ErrorCode::E_HUB_VERSION},
      {"22021", ErrorCode::E_INVALID_FORMAT},
      {"54000", ErrorCode::E_SIZE_LIMIT},
      {"XX000", ErrorCode::E_STORAGE_IO},
      {"23502", ErrorCode::E_INVALID_FORMAT},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.state);
    CHECK(code_of_sql_state(row.state) == row.code);
  }
  CHECK(code_of_lost_connection("server closed the connection") == ErrorCode::E_HUB_AWAY);
  CHECK(code_of_lost_connection("FATAL:  could not write init file") == ErrorCode::E_HUB_FULL);
  CHECK(is_worth_repeating("40P01"));
  CHECK(!is_worth_repeating("57P01"));
}

}  // namespace bmad_mem::test::hub_postgres_values_test
