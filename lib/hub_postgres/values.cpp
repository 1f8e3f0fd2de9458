// values.cpp - converts parameters and results to and from the binary form of PostgreSQL.
#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "connection.hpp"

namespace bmad_mem::hub_postgres {
namespace {

// Of pg_type, the same wherever its protocol is spoken.
constexpr Oid kByteaType = 17;
constexpr Oid kBigintType = 20;
constexpr Oid kIntType = 23;
constexpr Oid kTextType = 25;
constexpr Oid kMomentType = 1184;
constexpr Oid kUuidType = 2950;

template <typename Number>
void append_number(std::string& bytes, Number value) {
  const auto bits = static_cast<std::uint64_t>(value);
  for (std::size_t i = sizeof(Number); i-- > 0;) {
    bytes.push_back(static_cast<char>((bits >> (8 * i)) & 0xFFU));
  }
}

template <typename Number>
std::string number_bytes(Number value) {
  std::string bytes;
  append_number(bytes, value);
  return bytes;
}

std::uint64_t read_number(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) {
    value = (value << 8U) | static_cast<unsigned char>(c);
  }
  return value;
}

}  // namespace

Param int_param(std::int32_t value) { return {.type = kIntType, .bytes = number_bytes(value)}; }

Param bigint_param(std::optional<std::uint64_t> value) {
  return {.type = kBigintType, .bytes = value.transform(number_bytes<std::uint64_t>)};
}

Param text_param(std::optional<std::string_view> value) {
  return {.type = kTextType, .bytes = std::optional<std::string>(value)};
}

Param bytes_param(std::string_view value) {
  return {.type = kByteaType, .bytes = std::string(value)};
}

Param uuid_param(const std::string& value) {
  return {.type = kUuidType,
          .bytes = value.empty() ? std::nullopt : std::optional(value),
          .is_binary = false};
}

Param moment_param(std::string raw) { return {.type = kMomentType, .bytes = std::move(raw)}; }

ArrayParam::ArrayParam(Of type, std::size_t count, std::size_t bytes) {
  assert(count <= std::numeric_limits<std::int32_t>::max());
  param_.type = type.array;
  std::string& head = param_.bytes.emplace();
  head.reserve(20 + 12 * count + bytes);
  append_number(head, std::int32_t{1});
  append_number(head, std::int32_t{1});
  append_number(head, static_cast<std::int32_t>(type.element));
  append_number(head, static_cast<std::int32_t>(count));
  append_number(head, std::int32_t{1});
}

void ArrayParam::add(std::int16_t value) {
  append_number(*param_.bytes, std::int32_t{sizeof value});
  append_number(*param_.bytes, value);
}

void ArrayParam::add(std::uint64_t value) {
  append_number(*param_.bytes, std::int32_t{sizeof value});
  append_number(*param_.bytes, value);
}

void ArrayParam::add(std::optional<std::string_view> value) {
  append_number(*param_.bytes, value ? static_cast<std::int32_t>(value->size()) : -1);
  *param_.bytes += value.value_or("");
}

Param ArrayParam::finish() && { return std::move(param_); }

bool Rows::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) == 1;
}

std::string_view Rows::raw(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

bool Rows::boolean(int row, int column) const { return read_number(raw(row, column)) != 0; }

std::int16_t Rows::smallint(int row, int column) const {
  return static_cast<std::int16_t>(read_number(raw(row, column)));
}

std::int32_t Rows::integer(int row, int column) const {
  return static_cast<std::int32_t>(read_number(raw(row, column)));
}

std::uint64_t Rows::bigint(int row, int column) const { return read_number(raw(row, column)); }

std::string Rows::uuid(int row, int column) const {
  std::string text;
  for (const char c : raw(row, column)) {
    if (text.size() == 8 || text.size() == 13 || text.size() == 18 || text.size() == 23) {
      text.push_back('-');
    }
    fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

Timestamp Rows::moment(int row, int column) const {
  using std::chrono::microseconds;
  constexpr std::chrono::sys_days kFirst{std::chrono::January / 1 / 2000};
  const auto passed = static_cast<std::int64_t>(bigint(row, column));
  return std::chrono::floor<std::chrono::milliseconds>(kFirst + microseconds(passed));
}

FeedRow feed_row(const Rows& rows, int row) {
  static_assert(kEntryTypeCount == 8 && static_cast<int>(EntryType::kArtifact) == 7,
                "the numbers of logs in the tables are those of the types, and never change");
  const auto kind = [&](int column) {  // Of 8 bits; one beyond stays none.
    return std::min<std::uint16_t>(static_cast<std::uint16_t>(rows.smallint(row, column)), 0xFF);
  };
  FeedRow feed{
      .seq = rows.bigint(row, 0),
      .replica = rows.uuid(row, 1),
      .op = static_cast<FeedOp>(kind(2)),
      .session_id = std::string(rows.raw(row, 3)),
      .log = static_cast<EntryType>(kind(4)),
      .target = rows.bigint(row, 5),
      .entry_id = std::string(rows.raw(row, 6)),
      .who = std::string(rows.raw(row, 8)),
  };
  if (!rows.is_null(row, 7)) {
    feed.line = rows.raw(row, 7);
  }
  return feed;
}

}  // namespace bmad_mem::hub_postgres
