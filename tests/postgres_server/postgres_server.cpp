#include "postgres_server.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <libpq-fe.h>

namespace bmad_mem::test {
namespace {

void must_run(const std::string& command, const std::string& log) {
  if (run_as_server(command) != 0) {
    std::ifstream file(log);
    throw std::runtime_error(command + " failed:\n" +
                             std::string(std::istreambuf_iterator<char>(file), {}));
  }
}

// The same, run by another user when we are root.
std::string as_server(const std::string& command) {
  std::string quoted;
  for (const char c : command) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return fmt::format("{}/tests/postgres_server/as_server.sh sh -c '{}'", BMAD_SOURCE_DIR, quoted);
}

}  // namespace

std::string postgres_programs() {
  namespace fs = std::filesystem;
  if (const char* chosen = std::getenv("BMAD_POSTGRES_BIN"); chosen != nullptr && *chosen != 0) {
    return chosen;
  }
  std::string newest;
  int version = 0;
  for (const std::string root : {"", BMAD_SOURCE_DIR "/build/deps/postgresql"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root + "/usr/lib/postgresql", none)) {
      const std::string name = entry.path().filename();
      const fs::path programs = entry.path() / "bin";
      int number = 0;
      std::from_chars(name.data(), name.data() + name.size(), number);
      if (number > version && run_as_server("test -x " + (programs / "initdb").string()) == 0) {
        version = number;
        newest = programs;
      }
    }
  }
  return newest;
}

int run_as_server(const std::string& command) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe, bugprone-command-processor): a test's own words.
  const int status = std::system(as_server(command).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

PostgresServer::PostgresServer(std::string_view settings) : programs_(postgres_programs()) {
  const char* parent = std::getenv("TMPDIR");
  folder_ = std::string(parent != nullptr && *parent == '/' ? parent : "/tmp") + "/bmad-pg-XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr) {
    throw std::runtime_error("cannot make the temporary folder " + folder_);
  }
  if (::geteuid() == 0) {
    const std::string command = "chown nobody:nogroup " + folder_;
    // NOLINTNEXTLINE(concurrency-mt-unsafe, bugprone-command-processor): a test's own words.
    if (std::system(command.c_str()) != 0) {
      throw std::runtime_error(command);
    }
  }
  const std::string log = path("log");
  must_run(fmt::format("cd {0} && {1}/initdb -D {0}/data -U postgres --auth=trust -E UTF8 "
                       "--locale=C -N >{2} 2>&1",
                       folder_, programs_, log),
           log);
  // Whoever wrote a file here first, it is the server's.
  must_run(fmt::format("cat >>{}/data/postgresql.conf <<'END'\n"
                       "listen_addresses = ''\nunix_socket_directories = '{}'\n"
                       "max_connections = 60\nshared_buffers = 32MB\n{}\nEND",
                       folder_, folder_, settings),
           log);
  const std::string stop =
      fmt::format("{}/pg_ctl -D {}/data -m immediate -w stop >/dev/null 2>&1", programs_, folder_);
  // NOLINTNEXTLINE(bugprone-command-processor): a test's own words.
  guard_ = ::popen(("trap '' INT TERM; cat >/dev/null; " + as_server(stop)).c_str(), "we");
  start();
  for (const std::string_view role :
       {"owner", "reader", "writer", "forgetter", "admin", "stranger"}) {
    run_sql(conninfo("postgres", "postgres"), fmt::format("create role {} login", role));
  }
}

PostgresServer::~PostgresServer() {
  if (guard_ != nullptr) {
    ::pclose(guard_);
  }
  std::error_code ignored;  // Nothing more can be done about it here.
  std::filesystem::remove_all(folder_, ignored);
}

PostgresServer* PostgresServer::shared() {
  static const std::unique_ptr<PostgresServer> server =
      postgres_programs().empty() ? nullptr : std::make_unique<PostgresServer>();
  return server.get();
}

void PostgresServer::start() {
  const std::string log = path("log");
  must_run(fmt::format("cd {0} && {1}/pg_ctl -D {0}/data -l {2} -w start >/dev/null 2>&1", folder_,
                       programs_, log),
           log);
}

void PostgresServer::stop(std::string_view how) {
  must_run(
      fmt::format("{}/pg_ctl -D {}/data -m {} -w stop >/dev/null 2>&1", programs_, folder_, how),
      path("log"));
}

std::string PostgresServer::path(std::string_view name) const {
  return fmt::format("{}/{}", folder_, name);
}

std::string PostgresServer::conninfo(std::string_view database, std::string_view role) const {
  return fmt::format("host={} dbname={} user={}", folder_, database, role);
}

SqlConnection::SqlConnection(const std::string& conninfo)
    : connection_(PQconnectdb(conninfo.c_str()),
                  [](void* connection) { PQfinish(static_cast<PGconn*>(connection)); }) {
  auto* connection = static_cast<PGconn*>(connection_.get());
  if (PQstatus(connection) != CONNECTION_OK) {
    throw std::runtime_error(PQerrorMessage(connection));
  }
  PQsetNoticeProcessor(connection, [](void*, const char*) {}, nullptr);
}

SqlAnswer SqlConnection::run(const std::string& text) {
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result{
      PQexec(static_cast<PGconn*>(connection_.get()), text.c_str()), PQclear};
  SqlAnswer answer;
  const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  answer.state = state != nullptr ? state : "";
  answer.rows = PQntuples(result.get());
  if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) {
    answer.rows = std::atoi(PQcmdTuples(result.get()));
  } else if (answer.rows > 0) {
    answer.value = PQgetvalue(result.get(), 0, 0);
  }
  return answer;
}

SqlAnswer run_sql(const std::string& conninfo, const std::string& text) {
  return SqlConnection(conninfo).run(text);
}

}  // namespace bmad_mem::test
