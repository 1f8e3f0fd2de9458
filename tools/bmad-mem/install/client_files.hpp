// client_files.hpp - which files tell a client of us, and what they say.
//
//   client       scope     hooks                            MCP server
//   claude-code  project   .claude/settings.json            .mcp.json
//                user      ~/.claude/settings.json          ~/.claude.json
//   codex        project   .codex/hooks.json                .codex/config.toml
//                user      $CODEX_HOME/hooks.json           $CODEX_HOME/config.toml
//   gemini       both      .gemini/settings.json            (the same file)
//   cursor       both      .cursor/hooks.json               .cursor/mcp.json
//   vscode       project                                    .vscode/mcp.json
//                user                                       …/Code/User/mcp.json
//
// CLAUDE_CONFIG_DIR moves both files of Claude Code; CODEX_HOME is ~/.codex unless it is set.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hooks/hook_event.hpp"

namespace bmad_mem::cli {

/// What in a file is ours.
enum class SettingsPart : std::uint8_t {
  kGroupedHooks,  ///< {"hooks": {EVENT: [{"hooks": [{"type": "command", "command": …}]}]}}
  kFlatHooks,     ///< {"version": 1, "hooks": {EVENT: [{"command": …}]}}
  kJsonServer,    ///< {"mcpServers": {"bmad-mem": {"command": …, "args": ["mcp"]}}}
  kTomlServer,    ///< [mcp_servers.bmad-mem]
};

/// A part and the file in which it stands.
struct SettingsPlace {
  SettingsPart part;
  std::string_view in_project;  ///< Below the project's folder.
  std::string_view variable;    ///< Names the folder of the user's file where it is set …
  std::string_view in_home;     ///< … else that is this one below the user's home.
  std::string_view in_folder;   ///< The user's file in that folder.
};

/// A client: a row of the table in client_files.cpp.
struct InstallClient {
  std::string_view name;
  std::span<const SettingsPlace> places;
  /// What the user must still do, in sentences.
  std::span<const std::string_view> steps_in_project;
  std::span<const std::string_view> steps_for_user;
  std::optional<HookClient> hooks = {};  ///< Whose events are asked for.
  bool hooks_have_names = false;
  int timeouts_in_s = 1;                        ///< How many of its units a second has.
  std::string_view servers_key = "mcpServers";  ///< The member that holds the servers.
  bool server_has_type = false;
};

/// The client of this name; null for any other text.
const InstallClient* find_install_client(std::string_view name);

/// A file and what to write there. A file may stand here twice, for two parts.
struct SettingsFile {
  std::string path;
  SettingsPart part;
};

/// Those below `project`, or those of the user whose home is `home`.
std::vector<SettingsFile> settings_files(const InstallClient& client, bool for_user,
                                         const std::string& project, const std::string& home);

/// The program that clients start, and the memory it is told to use if it is told one.
struct InstalledCommand {
  std::string program;  ///< "bmad-mem", or its absolute path.
  std::string root;     ///< Empty: the one of the project.
};

/// A hook that a client is to call: the event, and the group or hook as JSON.
struct InstalledHook {
  std::string event;
  std::string json;
};

std::vector<InstalledHook> hooks_of(const InstallClient& client, SettingsPart part,
                                    const InstalledCommand& command);

/// The name of our server, in every client.
inline constexpr std::string_view kServerName = "bmad-mem";

/// Our server as JSON, and as the table of TOML that Codex reads.
std::string server_args_json(const InstalledCommand& command);
std::string server_json(const InstallClient& client, const InstalledCommand& command);
std::string server_toml(const InstalledCommand& command);

/// `path` from the root on; empty when it is.
std::string absolute_path(std::string_view path);

}  // namespace bmad_mem::cli
