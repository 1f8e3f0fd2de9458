// postgres_interface.cpp - bmad-mem-hub: the tool with an interface to hubs on PostgreSQL.
//
// All commands are those of bmad-mem, and so is main(). libpq comes in here alone.
#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/hub_interface.hpp"
#include "hub_postgres/postgres_hub.hpp"

namespace bmad_mem::cli {
namespace {

class PostgresInterface final : public HubInterface {
 public:
  Result<std::unique_ptr<Hub>> connect(const std::string& service, const std::string& project,
                                       const std::string& replica) override {
    BMAD_TRY_ASSIGN(
        std::unique_ptr<PostgresHub> hub,
        PostgresHub::connect({.service = service, .project = project, .replica = replica}));
    return std::unique_ptr<Hub>(std::move(hub));
  }

  Status init(const std::string& service, const std::string& project) override {
    BMAD_TRY_ASSIGN(const std::unique_ptr<PostgresHub> hub,
                    PostgresHub::connect({.service = service}));
    const Result<std::string> made = hub->init(project);
    return made ? Status() : Status(made.error());
  }

  Status set_member(const std::string& service, const std::string& project,
                    const HubMember& member) override {
    BMAD_TRY_ASSIGN(const std::unique_ptr<PostgresHub> hub,
                    PostgresHub::connect({.service = service, .project = project}));
    return member.rights == "none" ? hub->drop_member(member.who)
                                   : hub->add_member(member.who, member.rights);
  }

  Result<std::vector<HubMember>> members(const std::string& service,
                                         const std::string& project) override {
    BMAD_TRY_ASSIGN(const std::unique_ptr<PostgresHub> hub,
                    PostgresHub::connect({.service = service, .project = project}));
    return hub->members();
  }

  Result<ForgottenRows> forgotten(const std::string& service, const std::string& project) override {
    BMAD_TRY_ASSIGN(const std::unique_ptr<PostgresHub> hub,
                    PostgresHub::connect({.service = service, .project = project}));
    return hub->verify_forgotten();
  }

  Result<std::string> policy(const std::string& service) override {
    BMAD_TRY_ASSIGN(const std::unique_ptr<PostgresHub> hub,
                    PostgresHub::connect({.service = service}));
    return hub->policy();
  }

  Status set_policy(const std::string& service, const std::string& policy) override {
    BMAD_TRY_ASSIGN(const std::unique_ptr<PostgresHub> hub,
                    PostgresHub::connect({.service = service}));
    return hub->set_policy(policy);
  }

  Result<int> upgrade(const std::string& service) override {
    BMAD_TRY_ASSIGN(const std::unique_ptr<PostgresHub> hub,
                    PostgresHub::connect({.service = service}));
    return hub->upgrade();
  }
};

/// Before main(), which finds it.
[[maybe_unused]] const bool kIsOpen = [] {
  static PostgresInterface to_hub;
  assert(hub_interface() == nullptr && "a program has one interface to hubs");
  hub_interface() = &to_hub;
  return true;
}();

}  // namespace
}  // namespace bmad_mem::cli
