// hub_interface.cpp - the way from a command to its hub.
//
// bmad-mem speaks to no server, and is linked without shared libraries. Where it finds
// bmad-mem-hub, that one takes over with the same words: all commands are in both.
#include "cli/hub_interface.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/agents.hpp"
#include "cli/program.hpp"

namespace bmad_mem::cli {
namespace {

constexpr const char* kHelper = "bmad-mem-hub";

}  // namespace

HubInterface*& hub_interface() {
  static HubInterface* to_hub = nullptr;
  return to_hub;
}

std::string hub_helper() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(own_program_path()).parent_path();
  // As npm installs them: @bmad-mem/linux-x64/bin and @bmad-mem/hub-linux-x64/bin.
  const fs::path package = folder.parent_path();
  const fs::path beside = package.parent_path() / ("hub-" + package.filename().string()) / "bin";
  for (const fs::path& place : {folder / kHelper, beside / kHelper}) {
    if (::access(place.c_str(), X_OK) == 0) {
      return place.string();
    }
  }
  return {};
}

Result<HubInterface*> open_interface(Tool& tool) {
  if (hub_interface() != nullptr) {
    return hub_interface();
  }
  std::string helper = hub_helper();
  std::vector<std::string> words = process_words("self");
  if (!helper.empty() && !words.empty()) {
    words[0] = helper;
    static_cast<void>(tool.out().flush());
    ::execv(helper.c_str(), argument_pointers(words).data());
  }
  return path_error(ErrorCode::E_HUB_AWAY, std::move(helper),
                    "no program beside this one speaks to a hub; install the package bmad-mem-hub");
}

Result<Joined> open_joined(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(MirrorReport mirror, mirror_report(memory));
  BMAD_TRY_ASSIGN(HubInterface* const to_hub, open_interface(tool));
  BMAD_TRY_ASSIGN(std::unique_ptr<Hub> hub,
                  to_hub->connect(mirror.service, mirror.project, mirror.replica));
  return Joined{.memory = std::move(memory), .mirror = std::move(mirror), .hub = std::move(hub)};
}

Result<std::uint64_t> reach_hub(Tool& tool) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const MirrorReport mirror, mirror_report(memory));
  BMAD_TRY(open_interface(tool));
  return mirror.cursor;
}

}  // namespace bmad_mem::cli
