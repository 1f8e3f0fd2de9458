// hub_interface.hpp - how commands come to a hub. bmad-mem has none: it starts bmad-mem-hub, which
// does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

class HubInterface {
 public:
  HubInterface() = default;
  HubInterface(const HubInterface&) = delete;
  HubInterface& operator=(const HubInterface&) = delete;
  virtual ~HubInterface() = default;

  /// The feed of a project, as `replica`, which may be empty. Errors: as Hub's.
  virtual Result<std::unique_ptr<Hub>> connect(const std::string& service,
                                               const std::string& project,
                                               const std::string& replica) = 0;
  /// Makes the tables and the project, unless they are there.
  virtual Status init(const std::string& service, const std::string& project) = 0;
  /// With the rights "none", the role is no member any more.
  virtual Status set_member(const std::string& service, const std::string& project,
                            const HubMember& member) = 0;
  virtual Result<std::vector<HubMember>> members(const std::string& service,
                                                 const std::string& project) = 0;
  /// What is left of purged entries; lets the server clean up first.
  virtual Result<ForgottenRows> forgotten(const std::string& service,
                                          const std::string& project) = 0;
  /// HubHead::policy, of all projects.
  virtual Result<std::string> policy(const std::string& service) = 0;
  virtual Status set_policy(const std::string& service, const std::string& policy) = 0;
  /// Brings the tables to kHubVersion. The version that they had.
  virtual Result<int> upgrade(const std::string& service) = 0;
};

/// The to_hub of this program; null where there is none. Set before main() begins.
HubInterface*& hub_interface();

/// The same; where there is none, bmad-mem-hub takes over with the same words, and this does not
/// return. Errors: E_HUB_AWAY without the package bmad-mem-hub.
Result<HubInterface*> open_interface(Tool& tool);
/// The path of bmad-mem-hub; empty when it is not installed.
std::string hub_helper();

/// A memory that has joined a hub, and the way there.
struct Joined {
  MemoryManager memory;
  MirrorReport mirror;
  std::unique_ptr<Hub> hub;
};
/// Errors: as mirror_report(), open_interface() and HubInterface::connect().
Result<Joined> open_joined(Tool& tool);

/// For a command that has other work, too, and was asked to speak with the hub: as
/// open_interface(), so call it first. Gives the row of the feed that is applied. Errors also: as
/// mirror_report().
Result<std::uint64_t> reach_hub(Tool& tool);

struct AddedEntries {
  std::string session_id;
  std::vector<std::string> ids;
};
/// Gives the hub what is new, and looks whether it has the entries, which were added when the row
/// `after` was the last one here. kFailed when it has not, which is said. Errors: E_ACCESS_DENIED
/// when this role may not push them.
Result<ExitStatus> push_to_hub(Tool& tool, const AddedEntries& added, std::uint64_t after);

/// That as a sentence, with what to do; empty when nothing waits.
std::string waiting_text(const SyncReport& report);
/// Before something is forgotten and verified: takes what others have pushed, so that it is among
/// what is forgotten. Does nothing without a hub; what goes wrong, verify_at_hub() says.
void pull_to_verify(Tool& tool);
/// Tells the hub what was forgotten, and says what is left there and who has not heard of it.
/// `before` when all is gone, and where no hub was joined; else kFailed.
Result<ExitStatus> verify_at_hub(Tool& tool, const Result<ExitStatus>& before);
/// delete_and_tell(); then, with --verify, looks for what is left of `criteria.match`.
Result<ExitStatus> delete_and_verify(Tool& tool, MemoryManager& memory,
                                     const DeletionCriteria& criteria,
                                     const DeleteOptions& options);

}  // namespace bmad_mem::cli
