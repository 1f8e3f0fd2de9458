// postgres_server.hpp - a PostgreSQL of a program's own, and connections to it past the engine.
//
// It is made in a temporary folder, by a user that is not root, with a socket in that folder and no
// port. It ends with the program, however that ends. Its programs are those of $BMAD_POSTGRES_BIN,
// or of the newest package of Debian's that is installed, or what './dev' has unpacked in
// build/deps.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace bmad_mem::test {

/// Where initdb is; empty when there is none.
std::string postgres_programs();

/// Runs a command of the shell, as the user who has the server. Its exit status; -1 for a signal.
int run_as_server(const std::string& command);

class PostgresServer {
 public:
  /// Makes a server with these lines in its postgresql.conf, and starts it. Throws
  /// std::runtime_error with the log when it can't.
  explicit PostgresServer(std::string_view settings = "fsync = off\n");
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  /// That of this test program; nothing where there is no PostgreSQL.
  static PostgresServer* shared();

  void start();
  /// How: "fast" or "immediate", which is as if the power had failed but for the disk.
  void stop(std::string_view how = "fast");
  /// "host=… dbname=… user=…".
  [[nodiscard]] std::string conninfo(std::string_view database, std::string_view role) const;
  /// The folder of the server, which its user owns: sockets, "data", what a test puts there.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string path(std::string_view name) const;

 private:
  std::string folder_;
  std::string programs_;
  std::FILE* guard_ = nullptr;  ///< What stops the server when we end, however we do.
};

/// What a statement gave: the SQLSTATE of its error or nothing, its rows, and its first value.
struct SqlAnswer {
  std::string state;
  int rows = 0;  ///< Of a statement that changes some: how many.
  std::string value;
};

/// A connection of libpq's own, past what is tested.
class SqlConnection {
 public:
  /// Throws std::runtime_error when it can't connect.
  explicit SqlConnection(const std::string& conninfo);
  SqlAnswer run(const std::string& text);

 private:
  std::shared_ptr<void> connection_;
};

/// One statement over a connection of its own.
SqlAnswer run_sql(const std::string& conninfo, const std::string& text);

}  // namespace bmad_mem::test
