#include "postgres_fixture.hpp"

#include <array>
#include <atomic>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace bmad_mem::test {
namespace {

constexpr std::array<std::string_view, 4> kRights = {"read", "write", "forget", "admin"};
constexpr std::array<std::string_view, 4> kRoles = {"reader", "writer", "forgetter", "admin"};

}  // namespace

HubDatabase::HubDatabase(PostgresServer& server) : server_(server) {
  static std::atomic<int> count{0};
  name_ = fmt::format("hub{}", ++count);
  run_sql(server.conninfo("postgres", "postgres"),
          fmt::format("create database {} owner owner", name_));
  const auto owner = must(PostgresHub::connect({.conninfo = conninfo("owner")}));
  project_ = must(owner->init("house"));
  for (std::size_t i = 0; i < kRoles.size(); ++i) {
    must(owner->add_member(kRoles[i], kRights[i]));
  }
}

HubDatabase::~HubDatabase() {
  try {
    run_sql(server_.conninfo("postgres", "postgres"),
            fmt::format("drop database if exists {} with (force)", name_));
  } catch (const std::runtime_error&) {  // A test has stopped it.
  }
}

std::string HubDatabase::conninfo(std::string_view role) const {
  return server_.conninfo(name_, role);
}

PostgresOptions HubDatabase::options(std::string_view role, int number) const {
  return {.conninfo = conninfo(role),
          .project = "house",
          .replica = number == 0 ? "" : replica_id(number)};
}

std::unique_ptr<PostgresHub> HubDatabase::hub(std::string_view role, int number) const {
  auto hub = must(PostgresHub::connect(options(role, number)));
  if (number != 0) {
    must(hub->add_replica(replica_id(number), "host"));
  }
  return hub;
}

SqlAnswer HubDatabase::sql(std::string_view role, const std::string& text) const {
  return run_sql(conninfo(role), text);
}

std::string replica_id(int number) {
  return fmt::format("00000000-0000-4000-8000-{:012x}", number);
}

FeedRow line_row(std::string_view entry_id, std::string_view line, std::string_view session) {
  return {.session_id = std::string(session),
          .log = EntryType::kFact,
          .entry_id = std::string(entry_id),
          .line = std::string(line)};
}

PushAnswer push_next(Hub& hub, std::vector<FeedRow> rows) {
  return must(hub.push({.pushed = must(hub.head()).pushed, .rows = std::move(rows)}));
}

std::vector<FeedRow> all_rows(Hub& hub) {
  std::vector<FeedRow> all;
  while (true) {
    std::vector<FeedRow> page = must(hub.pull({.after = all.empty() ? 0 : all.back().seq}));
    if (page.empty()) {
      return all;
    }
    std::move(page.begin(), page.end(), std::back_inserter(all));
  }
}

}  // namespace bmad_mem::test
