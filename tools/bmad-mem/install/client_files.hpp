// client_files.hpp - the files of a client and what we say in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/result.hpp"
#include "clients/client_facts.hpp"

namespace bmad_mem::cli {

/// A file and what to write there. A file may stand here twice, for two parts.
struct SettingsFile {
  std::string path;
  SettingsPart part;
  std::string event = {};  ///< Of kHookScripts: the event whose program it is.
  std::string stays = {};  ///< The folder above it that is not ours, however empty it gets.
};

/// Those below `project`, or those of the user, in $HOME. Looks which of two names a
/// file has.
std::vector<SettingsFile> settings_files(const ClientFacts& client, bool for_user,
                                         const std::string& project);

/// `words` as one line for a shell.
std::string shell_line(const std::vector<std::string>& words);

/// The user's own one of `place`.
SettingsFile user_file(const SettingsPlace& place);

/// The program that clients start, and the memory it is told to use if it is told one.
struct InstalledCommand {
  std::string program;         ///< "bmad-mem", or its absolute path.
  std::string root;            ///< Empty: the one of the project.
  bool is_dependency = false;  ///< It is the one in the project's node_modules instead.
};

/// A hook that a client is to call: the event, and the group or hook as JSON.
struct InstalledHook {
  std::string event;
  std::string json;
};

std::vector<InstalledHook> hooks_of(const ClientFacts& client, SettingsPart part,
                                    const InstalledCommand& command);

/// The text of a file that is ours as a whole: of kHookScripts, kPlugin or kRules.
std::string whole_file(const ClientFacts& client, SettingsPart part,
                       const InstalledCommand& command);

/// Stands in each of these.
std::string mark_of_whole_file(const ClientFacts& client);

/// The name of our server, in every client.
inline constexpr std::string_view kServerName = "bmad-mem";

/// The members of our server that say what it runs, as JSON: "command", and "args" unless both are
/// one list.
std::vector<std::pair<std::string_view, std::string>> server_members(
    const ServerShape& shape, const InstalledCommand& command);

/// Our server as JSON, and as the table of TOML that Codex reads.
std::string server_json(const ServerShape& shape, const InstalledCommand& command);
std::string server_toml(const InstalledCommand& command);

/// `path` from the root on; empty when it is.
std::string absolute_path(std::string_view path);

// What opencode has instead of hooks: a module that it loads.
//
// Each event of opencode goes to the program as one JSON object, in the form of
// clients/opencode/client.toml. Its answer is text for the model: what a session begins with, and a
// briefing for the last prompt. Both are in the system prompt, since opencode 2 delivers nothing
// else.

/// opencode_plugin.js: the module, in which a JSON list, the program and its arguments, takes the
/// place of COMMAND. It loads in opencode 1 (`server`, from 1.18.29 on) and 2 (`setup`), and does
/// nothing where the program is missing.
std::string_view opencode_plugin();

// What of ours stands in a client's settings, and in which line: for reports.
// Nothing is written.

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

/// The state of the settings below `project`, or of the user. `command` is
/// what clients should start: own_program() of settings_file.hpp.
ClientState client_state(const ClientFacts& client, bool for_user, const std::string& project,
                         const InstalledCommand& command);

/// How to open the client's own gate, where it does not trust the folder `project`; else empty.
std::string_view closed_gate(const ClientFacts& client, bool for_user, const std::string& project);

/// What the user must still do, in sentences: that one, and the steps of the table.
std::vector<std::string_view> steps_left(const ClientFacts& client, bool for_user,
                                         const std::string& project);

}  // namespace bmad_mem::cli
