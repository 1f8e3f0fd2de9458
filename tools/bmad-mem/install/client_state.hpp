// client_state.hpp - what of ours stands in a client's settings, and in which line: for reports.
// Nothing is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"
#include "install/client_files.hpp"

namespace bmad_mem::cli {

/// A hook or server that `install` writes for a client.
struct InstalledPart {
  std::string path;  ///< The file that has it, or would.
  SettingsPart part = SettingsPart::kGroupedHooks;
  std::string name;         ///< The event; of a server, its name; of kPlugin, empty.
  std::uint64_t line = 0;   ///< Where it stands, from 1; 0: it is not there.
  std::string command;      ///< What it runs, as it stands there; may be empty.
  bool is_current = false;  ///< It is what `install` would write now, but for what users added.
};

struct ClientState {
  std::vector<InstalledPart> parts;  ///< In the order of the table.
  std::vector<Error> problems;       ///< Files that can't be read, with path and line.

  [[nodiscard]] bool is_installed() const;  ///< Any of them is there.
  [[nodiscard]] bool has_hooks() const;     ///< Any of them that tells of events is there.
  [[nodiscard]] bool is_complete() const;   ///< All of them are there, as `install` writes them.
};

/// The state of the settings below `project`, or of the user whose home is `home`. `command` is
/// what clients should start: own_program() of own_program.hpp.
ClientState client_state(const ClientFacts& client, bool for_user, const std::string& project,
                         const std::string& home, const InstalledCommand& command);

/// How to open the client's own gate, where it does not trust the folder `project`; else empty.
std::string_view closed_gate(const ClientFacts& client, bool for_user, const std::string& project,
                             const std::string& home);

/// What the user must still do, in sentences: that one, and the steps of the table.
std::vector<std::string_view> steps_left(const ClientFacts& client, bool for_user,
                                         const std::string& project, const std::string& home);

}  // namespace bmad_mem::cli
