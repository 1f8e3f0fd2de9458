// values.hpp - parameters and results in PostgreSQL's binary form: big-endian numbers, raw bytes.
//
//   array   | dimensions 1 | has nulls | type | count | first index 1 | element … |
//             int4           int4        int4   int4    int4
//   element | size | bytes |   the size is -1, and no bytes follow, for null
//             int4
//
// Bytes need no escaping so, and nothing in a line is looked at.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <libpq-fe.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/hub.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::hub_postgres {

/// One parameter: its type, and its bytes or null. A UUID goes as text.
struct Param {
  Oid type = 0;
  std::optional<std::string> bytes = {};
  bool is_binary = true;
};

Param int_param(std::int32_t value);
Param bigint_param(std::uint64_t value);
Param bigint_param(const std::optional<std::uint64_t>& value);
Param text_param(std::string_view value);
Param text_param(const std::optional<std::string>& value);
Param bytes_param(std::string_view value);
/// Null for an empty text. The server refuses what is no UUID.
Param uuid_param(const std::string& value);
/// A moment, as Rows::raw gave it.
Param moment_param(std::string raw);

/// Builds an array of `count` elements, which are appended one by one.
class ArrayParam {
 public:
  enum class Of : std::uint8_t { kSmallint, kBigint, kText, kBytes };

  ArrayParam(Of type, std::size_t count, std::size_t bytes = 0);
  void add(std::int16_t value);
  void add(std::uint64_t value);
  void add(std::string_view value);
  void add(const std::optional<std::string>& value);
  Param finish() &&;

 private:
  Param param_;
};

/// The rows of an answer. Columns are counted from 0; their types are the statement's matter.
class Rows {
 public:
  explicit Rows(PGresult* result) : result_(result, PQclear) {}

  [[nodiscard]] PGresult* result() const { return result_.get(); }
  [[nodiscard]] int size() const { return PQntuples(result_.get()); }
  [[nodiscard]] bool is_null(int row, int column) const;
  /// The bytes as they came; a text. They live as long as the rows.
  [[nodiscard]] std::string_view raw(int row, int column) const;
  [[nodiscard]] bool boolean(int row, int column) const;
  [[nodiscard]] std::int16_t smallint(int row, int column) const;
  [[nodiscard]] std::int32_t integer(int row, int column) const;
  [[nodiscard]] std::uint64_t bigint(int row, int column) const;
  [[nodiscard]] std::string uuid(int row, int column) const;
  [[nodiscard]] Timestamp moment(int row, int column) const;

 private:
  std::unique_ptr<PGresult, void (*)(PGresult*)> result_;
};

/// The number of a log in the tables, and the log of a number.
std::int16_t number_of_log(EntryType log);
std::optional<EntryType> log_of_number(std::int16_t number);

/// A row of kPull and kRows. An operation or a log that is none stays none.
FeedRow feed_row(const Rows& rows, int row);

}  // namespace bmad_mem::hub_postgres
