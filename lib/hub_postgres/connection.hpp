// connection.hpp - one connection to PostgreSQL, which is opened when it is needed.
//
// How long an answer may take is counted here, and the server is asked to stop when it has passed.
// Telling the server beforehand would not do: as a parameter of the connection it is refused by
// pgbouncer, by SET it would stay with the connection of the pool, which others get next, and a
// server that can't be reached any more would not count at all.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hub_postgres/postgres_hub.hpp"
#include "values.hpp"

namespace bmad_mem::hub_postgres {

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
  Result<std::vector<Rows>> answers(std::size_t count, Deadline deadline, std::string& state);
  /// Waits until the socket has something to read, or also can be written.
  Status wait(bool to_write, Deadline deadline);
  /// Closes the connection. The error says that it was lost, and why.
  Error lose();
  Error give_up();

  PostgresOptions options_;
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_{nullptr, PQfinish};
  bool was_lost_ = false;
};

}  // namespace bmad_mem::hub_postgres
