// database.hpp - rows of a SQLite database that another program keeps, perhaps just now.
//
//   file alone         immutable: nothing is made beside it
//   file and its -wal  read only, with SQLite's own locks: what the program wrote last counts
//
// A row is handed out as one JSON object, {"id":7,"title":"…"}; NULL is left out, and bytes that
// are no text are replaced. Nothing in a database is trusted: its views and triggers run no
// functions, and a value has 32 MiB at most.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"

struct sqlite3;

namespace bmad_mem::cli {

/// Whether a file that begins so is a database of SQLite.
bool is_database(std::string_view beginning);

class Database {
 public:
  /// Errors: E_STORAGE_IO when it can't be opened; E_INVALID_FORMAT when it is none.
  static Result<Database> open(const std::string& path);

  [[nodiscard]] Result<bool> has_table(std::string_view name) const;

  /// One row: its members, and the number of the row from 1.
  using Take = std::function<Status(JsonValue row, std::uint64_t number)>;
  /// Calls `take` with each row of `sql`, a constant query whose ?1, ?2, … are `values`.
  /// Errors: those of `take`; E_INVALID_FORMAT for damage and for a query that doesn't fit.
  Status rows(const char* sql, const std::vector<std::string>& values, const Take& take) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  [[nodiscard]] Error problem() const;

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace bmad_mem::cli
