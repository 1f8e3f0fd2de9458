// postgres_failures_test.cpp - a hub that is away, slow, of another version, or not who it says.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "postgres_fixture.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::postgres_failures_test {
namespace {

using Clock = std::chrono::steady_clock;

template <typename Value>
ErrorCode code_of(const Result<Value>& result) {
  REQUIRE(!result);
  return result.error().code;
}

// A port of the loopback address that nobody listens on.
int free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

void kill_backends(const HubDatabase& house) {
  house.sql("postgres",
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()");
}

// The command, with the libraries of what './dev' has unpacked; empty when there is none.
std::string pgbouncer() {
  const std::string unpacked = BMAD_SOURCE_DIR "/build/deps/postgresql/usr";
  if (run_as_server("test -x /usr/sbin/pgbouncer") == 0) {
    return "/usr/sbin/pgbouncer";
  }
  if (run_as_server("test -x " + unpacked + "/sbin/pgbouncer") == 0) {
    return fmt::format("LD_LIBRARY_PATH=$(echo {0}/lib/*-linux-gnu) {0}/sbin/pgbouncer", unpacked);
  }
  return "";
}

}  // namespace

TEST_CASE("a killed connection costs a push its answer, and reads nothing") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  const PushBatch batch{.rows = {line_row("a", "{}")}};
  kill_backends(house);
  CHECK(code_of(hub->push(batch)) == ErrorCode::E_HUB_AWAY);
  CHECK(must(hub->head()).pushed == 0);
  CHECK(must(hub->push(batch)).is_stored);
  kill_backends(house);
  CHECK(must(hub->head()).pushed == 1);
  kill_backends(house);
  CHECK(hub->confirm(1).has_value());
}

TEST_CASE("a stopped server is away within seconds, and there when it is back") {
  NEEDS_POSTGRES();
  PostgresServer server("fsync = off");
  const HubDatabase house(server);
  const auto hub = house.hub("writer", 1);
  server.stop();
  const auto began = Clock::now();
  CHECK(code_of(hub->head()) == ErrorCode::E_HUB_AWAY);
  CHECK(code_of(hub->push({.rows = {line_row("a", "{}")}})) == ErrorCode::E_HUB_AWAY);
  CHECK(code_of(PostgresHub::connect(house.options("writer", 1))) == ErrorCode::E_HUB_AWAY);
  CHECK(Clock::now() - began < std::chrono::seconds(10));
  server.start();
  CHECK(push_next(*hub, {line_row("a", "{}")}).is_stored);
}

TEST_CASE("what was acknowledged is there after a crash") {
  NEEDS_POSTGRES();
  PostgresServer server("fsync = on");
  const HubDatabase house(server);
  const auto hub = house.hub("writer", 1);
  for (int i = 0; i < 20; ++i) {
    CHECK(push_next(*hub, {line_row(fmt::format("{}", i), "{}")}).is_stored);
  }
  server.stop("immediate");
  server.start();
  CHECK(must(hub->head()).pushed == 20);
  CHECK(all_rows(*hub).size() == 20);
}

TEST_CASE("nobody waits for ever") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  PostgresOptions options = house.options("writer", 1);
  options.timeout = std::chrono::milliseconds(300);
  const auto hub = must(PostgresHub::connect(options));
  must(hub->add_replica(replica_id(1), "host"));
  // Someone holds the lock of the project.
  std::jthread holder([&] {
    house.sql("postgres", "begin; update bmad.project set head = head; select pg_sleep(3); commit");
  });
  while (house
             .sql("postgres",
                  "select 1 from pg_stat_activity where query like '%pg_sleep(3)%' "
                  "and wait_event = 'PgSleep'")
             .rows == 0) {
  }
  const auto began = Clock::now();
  CHECK(code_of(hub->push({.rows = {line_row("a", "{}")}})) == ErrorCode::E_HUB_AWAY);
  CHECK(Clock::now() - began < std::chrono::seconds(2));
  CHECK(must(hub->head()).pushed == 0);
  // The server was asked to stop, too, so nothing is pushed when the lock is free.
  holder.join();
  CHECK(must(hub->head()).head == 0);
}

TEST_CASE("tables of another version are left alone") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  SUBCASE("those whose version is missing") { house.sql("owner", "delete from bmad.hub"); }
  SUBCASE("newer ones") { house.sql("owner", "update bmad.hub set version = 3"); }
  SUBCASE("those that newer programs write to") {
    house.sql("owner", "update bmad.hub set min_client = 3");
    CHECK(!must(hub->push({.rows = {line_row("a", "{}")}})).is_stored);
    CHECK(house.sql("owner", "select 1 from bmad.entry").rows == 0);
  }
  SUBCASE("none") { house.sql("owner", "drop schema bmad cascade"); }
  CHECK(code_of(hub->head()) == ErrorCode::E_HUB_VERSION);
  CHECK(code_of(PostgresHub::connect(house.options("writer", 1))) == ErrorCode::E_HUB_VERSION);
}

TEST_CASE("a row of a kind that is not known is no row of another kind") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  push_next(*hub, {line_row("a", "{}")});
  for (const std::string change :
       {"op = 7", "op = -1", "op = 256", "op = 0, log = 8", "log = -1"}) {
    CAPTURE(change);
    house.sql("owner", "update bmad.entry set " + change);
    const std::vector<SkippedRow> skipped = must(skipped_rows(*hub));
    REQUIRE(skipped.size() == 1);
    CHECK(skipped[0].seq == 1);
    CHECK(skipped[0].who == "writer");
  }
}

TEST_CASE("a server that answers before the disk does is refused") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  PostgresOptions options = house.options("writer", 1);
  options.conninfo += " options='-c synchronous_commit=off'";
  const auto hub = PostgresHub::connect(options);
  CHECK(code_of(hub) == ErrorCode::E_SCHEMA_INVALID);
  CHECK(hub.error().field == "synchronous_commit");
  options.unsafe = true;
  CHECK(PostgresHub::connect(options).has_value());
}

TEST_CASE("a service says where the hub is") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const TemporaryDirectory folder;
  std::string text = "[team]\n" + house.conninfo("writer") + "\n";
  for (char& c : text) {
    c = c == ' ' ? '\n' : c;
  }
  folder.write("services", text);
  // libpq reads it at each connection; no other thread runs here.
  ::setenv("PGSERVICEFILE", folder.path("services").c_str(), 1);
  CHECK(PostgresHub::connect({.service = "team", .project = "house"}).has_value());
  CHECK(code_of(PostgresHub::connect({.service = "none", .project = "house"})) ==
        ErrorCode::E_HUB_AWAY);
  ::unsetenv("PGSERVICEFILE");
}

TEST_CASE("a pool that gives each transaction another connection may stand between") {
  NEEDS_POSTGRES();
  const std::string program = pgbouncer();
  if (program.empty()) {
    MESSAGE("there is no pgbouncer here, so a hub behind one is not tested");
    return;
  }
  const HubDatabase house;
  const PostgresServer& server = *PostgresServer::shared();
  const std::string folder = server.path("pool");
  REQUIRE(run_as_server("mkdir -p " + folder) == 0);
  REQUIRE(run_as_server(
              fmt::format("cd {0} && echo '\"writer\" \"\"' >users && cat >pool.ini <<'END'\n"
                          "[databases]\n* = host={1}\n[pgbouncer]\nunix_socket_dir = {0}\n"
                          "listen_port = 6432\npool_mode = transaction\nauth_type = trust\n"
                          "auth_file = {0}/users\ndefault_pool_size = 1\npidfile = {0}/pid\n"
                          "logfile = {0}/log\nEND\n{2} -q -d pool.ini && for i in $(seq 100); do "
                          "test ! -S .s.PGSQL.6432 || exit 0; sleep 0.1; done; exit 1",
                          folder, server.folder(), program)) == 0);
  PostgresOptions options = house.options("writer", 1);
  options.conninfo += fmt::format(" host={} port=6432", folder);
  const auto one = must(PostgresHub::connect(options));
  options.replica = replica_id(2);
  const auto two = must(PostgresHub::connect(options));  // Both have one connection of the server.
  must(one->add_replica(replica_id(1), "host"));
  must(two->add_replica(replica_id(2), "host"));
  for (int i = 0; i < 10; ++i) {
    CHECK(push_next(*one, {line_row("a", std::string(100'000, 'x'))}).is_stored);
    CHECK(push_next(*two, {line_row("b", "{}"),
                           {.op = FeedOp::kManifest, .session_id = "s1", .line = "{}"}})
              .is_stored);
  }
  CHECK(all_rows(*one) == all_rows(*two));
  CHECK(all_rows(*one).size() == 30);
  run_as_server(fmt::format("kill $(cat {}/pid)", folder));
}

TEST_CASE("a server that is not local shows a certificate with its name") {
  NEEDS_POSTGRES();
  if (run_as_server("command -v openssl >/dev/null") != 0) {
    MESSAGE("there is no openssl here, so encrypted connections are not tested");
    return;
  }
  const int port = free_port();
  const TemporaryDirectory folder;
  // NOLINTNEXTLINE(concurrency-mt-unsafe, bugprone-command-processor): a test's own words.
  REQUIRE(std::system(fmt::format("cd {0} && openssl req -x509 -newkey rsa:2048 -nodes -days 2 "
                                  "-keyout key -out cert -subj /CN=hub.example -addext "
                                  "subjectAltName=DNS:hub.example >/dev/null 2>&1 && "
                                  "chmod 755 . && chmod 644 key cert",
                                  folder.path())
                          .c_str()) == 0);
  PostgresServer server;
  REQUIRE(run_as_server(fmt::format(
              "cd {0} && cp {1}/key {1}/cert . && chmod 600 key && cat >>data/postgresql.conf "
              "<<'END'\nlisten_addresses = '127.0.0.1'\nport = {2}\nssl = on\nssl_key_file = "
              "'{0}/key'\n"
              "ssl_cert_file = '{0}/cert'\nEND",
              server.folder(), folder.path(), port)) == 0);
  server.stop();
  server.start();
  const auto connect = [&](const std::string& more) {
    return PostgresHub::connect(
        {.conninfo = fmt::format("dbname=postgres user=owner port={} sslrootcert={}/cert {}", port,
                                 folder.path(), more)});
  };
  const auto right = connect("host=hub.example hostaddr=127.0.0.1 sslmode=verify-full");
  REQUIRE(right.has_value());
  CHECK((*right)->is_tls());
  const auto wrong = connect("host=other.example hostaddr=127.0.0.1 sslmode=verify-full");
  CHECK(code_of(wrong) == ErrorCode::E_HUB_AWAY);
  CHECK(wrong.error().message.find("hub.example") != std::string::npos);
  // 0.0.0.0 comes here, too, but is no loopback address; its name is in no certificate.
  CHECK(code_of(connect("host=0.0.0.0")) == ErrorCode::E_HUB_AWAY);
  CHECK(connect("host=127.0.0.1").has_value());
  CHECK(must(connect("host=0.0.0.0 sslmode=require"))->is_tls());
  CHECK(!must(connect("host=0.0.0.0 sslmode=disable"))->is_tls());
  // A service decides, too.
  folder.write("services", "[open]\nhost=0.0.0.0\nsslmode=disable\n[shut]\nhost=0.0.0.0\n");
  ::setenv("PGSERVICEFILE", folder.path("services").c_str(), 1);
  CHECK(!must(connect("service=open"))->is_tls());
  CHECK(code_of(connect("service=shut")) == ErrorCode::E_HUB_AWAY);
  ::unsetenv("PGSERVICEFILE");
}

}  // namespace bmad_mem::test::postgres_failures_test
