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
constexpr Oid kSmallintType = 21;
constexpr Oid kIntType = 23;
constexpr Oid kTextType = 25;
constexpr Oid kMomentType = 1184;
constexpr Oid kUuidType = 2950;
constexpr Oid kByteaArrayType = 1001;
constexpr Oid kSmallintArrayType = 1005;
constexpr Oid kTextArrayType = 1009;
constexpr Oid kBigintArrayType = 1016;

// The logs by their numbers in the tables, which never change: a new one goes to the end.
constexpr std::array<EntryType, kEntryTypeCount> kLogs = {
    EntryType::kConversation, EntryType::kDecision, EntryType::kFinding,    EntryType::kPreference,
    EntryType::kFact,         EntryType::kEvent,    EntryType::kAgentState, EntryType::kArtifact,
};

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

std::pair<Oid, Oid> types_of(ArrayParam::Of type) {
  switch (type) {
    case ArrayParam::Of::kSmallint:
      return {kSmallintArrayType, kSmallintType};
    case ArrayParam::Of::kBigint:
      return {kBigintArrayType, kBigintType};
    case ArrayParam::Of::kText:
      return {kTextArrayType, kTextType};
    case ArrayParam::Of::kBytes:
      break;
  }
  return {kByteaArrayType, kByteaType};
}

}  // namespace

Param int_param(std::int32_t value) { return {.type = kIntType, .bytes = number_bytes(value)}; }

Param bigint_param(std::uint64_t value) {
  return {.type = kBigintType, .bytes = number_bytes(value)};
}

Param bigint_param(const std::optional<std::uint64_t>& value) {
  return value ? bigint_param(*value) : Param{.type = kBigintType};
}

Param text_param(std::string_view value) {
  return {.type = kTextType, .bytes = std::string(value)};
}

Param text_param(const std::optional<std::string>& value) {
  return {.type = kTextType, .bytes = value};
}

Param bytes_param(std::string_view value) {
  return {.type = kByteaType, .bytes = std::string(value)};
}

Param uuid_param(const std::string& value) {
  if (value.empty()) {
    return {.type = kUuidType};
  }
  return {.type = kUuidType, .bytes = value, .is_binary = false};
}

Param moment_param(std::string raw) { return {.type = kMomentType, .bytes = std::move(raw)}; }

ArrayParam::ArrayParam(Of type, std::size_t count, std::size_t bytes) {
  assert(count <= std::numeric_limits<std::int32_t>::max());
  const auto [array, element] = types_of(type);
  param_.type = array;
  std::string& head = param_.bytes.emplace();
  head.reserve(20 + 12 * count + bytes);
  append_number(head, std::int32_t{1});
  append_number(head, std::int32_t{1});
  append_number(head, static_cast<std::int32_t>(element));
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

void ArrayParam::add(std::string_view value) {
  append_number(*param_.bytes, static_cast<std::int32_t>(value.size()));
  *param_.bytes += value;
}

void ArrayParam::add(const std::optional<std::string>& value) {
  if (value) {
    add(std::string_view(*value));
  } else {
    append_number(*param_.bytes, std::int32_t{-1});
  }
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

std::int16_t number_of_log(EntryType log) {
  for (std::size_t i = 0; i < kLogs.size(); ++i) {
    if (kLogs[i] == log) {
      return static_cast<std::int16_t>(i);
    }
  }
  assert(false);
  return 0;
}

std::optional<EntryType> log_of_number(std::int16_t number) {
  if (number < 0 || static_cast<std::size_t>(number) >= kLogs.size()) {
    return std::nullopt;
  }
  return kLogs[static_cast<std::size_t>(number)];
}

FeedRow feed_row(const Rows& rows, int row) {
  const std::uint16_t op = static_cast<std::uint16_t>(rows.smallint(row, 2));
  FeedRow feed{
      .seq = rows.bigint(row, 0),
      .replica = rows.uuid(row, 1),
      .op = static_cast<FeedOp>(std::min<std::uint16_t>(op, 0xFF)),
      .session_id = std::string(rows.raw(row, 3)),
      .log = log_of_number(rows.smallint(row, 4)).value_or(static_cast<EntryType>(0xFF)),
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
