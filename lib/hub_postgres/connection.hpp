// connection.hpp - one connection to PostgreSQL, which is opened when it is needed.
//
// How long an answer may take is counted here, and the server is asked to stop when it has passed.
// Telling the server beforehand would not do: as a parameter of the connection it is refused by
// pgbouncer, by SET it would stay with the connection of the pool, which others get next, and a
// server that can't be reached any more would not count at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/hub.hpp"
#include "bmad_mem/result.hpp"
#include "hub_postgres/postgres_hub.hpp"

namespace bmad_mem::hub_postgres {

// Parameters and results in PostgreSQL's binary form: big-endian numbers, raw bytes.
//
//   array   | dimensions 1 | has nulls | type | count | first index 1 | element … |
//             int4           int4        int4   int4    int4
//   element | size | bytes |   the size is -1, and no bytes follow, for null
//             int4
//
// Bytes need no escaping so, and nothing in a line is looked at.

/// One parameter: its type, and its bytes or null. A UUID goes as text.
struct Param {
  Oid type = 0;
  std::optional<std::string> bytes = {};
  bool is_binary = true;
};

Param int_param(std::int32_t value);
Param bigint_param(std::optional<std::uint64_t> value);
Param text_param(std::optional<std::string_view> value);
Param bytes_param(std::string_view value);
/// Null for an empty text. The server refuses what is no UUID.
Param uuid_param(const std::string& value);
/// A moment, as Rows::raw gave it.
Param moment_param(std::string raw);

/// Builds an array of `count` elements, which are appended one by one.
class ArrayParam {
 public:
  /// Types of pg_type: of the array, and of its elements.
  struct Of {
    Oid array;
    Oid element;
  };
  static constexpr Of kSmallints{1005, 21};
  static constexpr Of kBigints{1016, 20};
  static constexpr Of kTexts{1009, 25};
  static constexpr Of kByteas{1001, 17};

  ArrayParam(Of type, std::size_t count, std::size_t bytes = 0);
  void add(std::int16_t value);
  void add(std::uint64_t value);
  void add(std::optional<std::string_view> value);
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

/// A row of kPull and kRows. An operation or a log that is none stays none.
FeedRow feed_row(const Rows& rows, int row);

struct Statement {
  std::string_view text;
  std::vector<Param> params = {};
};

class Connection {
 public:
  explicit Connection(const PostgresOptions& options) : options_(options) {}

  /// Opens it when it is not open. Whether it was opened just now.
  Result<bool> open();
  void close() { connection_.reset(); }
  [[nodiscard]] bool is_open() const { return connection_ != nullptr; }
  [[nodiscard]] bool is_tls() const;
  /// Whether the last call failed because the connection was lost, not for want of time.
  [[nodiscard]] bool was_lost() const { return was_lost_; }

  /// All statements in one round trip and one transaction; the rows of each. What others were in
  /// the way of is done again, a few times.
  Result<std::vector<Rows>> run(std::span<const Statement> statements);
  /// Several statements without parameters, in one transaction unless they can't be.
  Status run_script(const std::string& text, std::chrono::milliseconds timeout);
  /// `name` in the quotes of an identifier.
  Result<std::string> quoted(std::string_view name);

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  Status send(std::span<const Statement> statements);
  Status flush(Deadline deadline);
  Result<Rows> next(Deadline deadline);
  /// All answers until there are no more, or to the end of a pipeline. `state`: of an error, if the
  /// server has said one.
  Result<std::vector<Rows>> answers(bool in_pipeline, Deadline deadline, std::string& state);
  /// Waits until the socket has something to read, or also can be written.
  Status wait(bool to_write, Deadline deadline);
  /// Closes the connection. The error says that it was lost, and why.
  Error lose();
  /// Nothing if `is_done`. Errors: as lose().
  Status expect(bool is_done) { return is_done ? Status() : Status(lose()); }
  Error give_up();

  PostgresOptions options_;
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_{nullptr, PQfinish};
  bool was_lost_ = false;
};

// What an error of the server means for a caller.

/// The code for an SQLSTATE, five characters; empty when libpq made the error itself, because the
/// connection is lost.
ErrorCode code_of_sql_state(std::string_view state);

/// The code for a connection that was not made, or is lost; `why` is what libpq says of it. A
/// server whose disk is full lets nobody in.
ErrorCode code_of_lost_connection(std::string_view why);

/// Whether the same statement may do on another try: others were in its way, and nothing of it
/// took effect.
bool is_worth_repeating(std::string_view state);

}  // namespace bmad_mem::hub_postgres
