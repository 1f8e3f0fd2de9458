// database.cpp - opens SQLite databases of other programs, and reads their rows as JSON.
#include "exchange/import/database.hpp"

#include <sqlite3.h>

#include <cassert>
#include <cmath>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr int kValueSizeMax = 32 << 20;
constexpr int kBusyMs = 2000;

/// `path` as a URI of SQLite.
std::string database_uri(const std::string& path, std::string_view options) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool is_plain = is_alnum(c) || c == '/' || c == '.' || c == '-' || c == '_';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + std::string(options);
}

/// Whether a program has written what is not in the file yet.
bool has_pending(const std::string& path, std::string_view suffix) {
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path + std::string(suffix), none);
  return !none && size > 0;
}

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

void write_column(JsonWriter& json, sqlite3_stmt* statement, int column) {
  const char* const raw_name = sqlite3_column_name(statement, column);
  if (raw_name == nullptr) {
    return;
  }
  const std::string name = utf8_repaired(raw_name);
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return;
    case SQLITE_INTEGER:
      json.key(name).integer(sqlite3_column_int64(statement, column));
      return;
    case SQLITE_FLOAT:
      // SQLite has infinite numbers (9e999), JSON has not.
      if (const double number = sqlite3_column_double(statement, column); std::isfinite(number)) {
        json.key(name).real(number);
      }
      return;
    default: {
      const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      std::string text = utf8_repaired(std::string_view(bytes == nullptr ? "" : bytes, size));
      std::erase(text, '\0');
      json.key(name).string(text);
    }
  }
}

}  // namespace

bool is_database(std::string_view beginning) {
  return beginning.starts_with(std::string_view("SQLite format 3\0", 16));
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close(handle); }

Error Database::problem() const {
  return {
      .code = ErrorCode::E_INVALID_FORMAT,
      .message = fmt::format("cannot read the database: {}; close the program that uses it, and "
                             "try again",
                             sqlite3_errmsg(handle_.get())),
      .path = path_};
}

Result<Database> Database::open(const std::string& path) {
  const bool is_written = has_pending(path, "-wal") || has_pending(path, "-journal");
  const std::string uri = database_uri(path, is_written ? "?mode=ro" : "?mode=ro&immutable=1");
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open_v2(
      uri.c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(path, handle);
  if (opened != SQLITE_OK) {
    return database.problem();
  }
  sqlite3_busy_timeout(handle, kBusyMs);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kValueSizeMax);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  BMAD_TRY(database.rows("SELECT count(*) AS tables FROM sqlite_master", {},
                         [](JsonValue, std::uint64_t) { return Status(); }));
  return database;
}

Result<bool> Database::has_table(std::string_view name) const {
  bool found = false;
  BMAD_TRY(rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?1",
                {std::string(name)}, [&](JsonValue, std::uint64_t) {
                  found = true;
                  return Status();
                }));
  return found;
}

Status Database::rows(const char* sql, const std::vector<std::string>& values,
                      const Take& take) const {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql, -1, &made, nullptr) != SQLITE_OK) {
    return problem();
  }
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(made);
  assert(static_cast<std::size_t>(sqlite3_bind_parameter_count(made)) <= values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    sqlite3_bind_text(made, static_cast<int>(i) + 1, values[i].data(),
                      static_cast<int>(values[i].size()), SQLITE_STATIC);
  }
  JsonParser parser;
  std::uint64_t number = 0;
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(made)) == SQLITE_ROW) {
    JsonWriter json;
    json.begin_object();
    for (int column = 0; column < sqlite3_column_count(made); ++column) {
      write_column(json, made, column);
    }
    const std::string text = json.end_object().take();
    BMAD_TRY_ASSIGN(const JsonValue row, parser.parse(text));
    BMAD_TRY(take(row, ++number));
  }
  return step == SQLITE_DONE ? Status() : Status(problem());
}

}  // namespace bmad_mem::cli
