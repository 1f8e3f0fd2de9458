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
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

enum class InstallClient : std::uint8_t { kClaudeCode, kCodex, kGemini, kCursor, kVsCode };

/// The client of this name; kVsCode for "vscode". The name must be one of install_client_names().
InstallClient install_client_of(std::string_view name);

/// "claude-code", "codex", "gemini", "cursor", "vscode", in the order of the enum.
std::span<const std::string_view> install_client_names();

/// What in a file is ours.
enum class SettingsPart : std::uint8_t {
  kGroupedHooks,  ///< {"hooks": {EVENT: [{"hooks": [{"type": "command", "command": …}]}]}}
  kFlatHooks,     ///< {"version": 1, "hooks": {EVENT: [{"command": …}]}}
  kJsonServer,    ///< {"mcpServers": {"bmad-mem": {"command": …, "args": ["mcp"]}}}
  kTomlServer,    ///< [mcp_servers.bmad-mem]
};

/// A file and what to write there. A file may stand here twice, for two parts.
struct SettingsFile {
  std::string path;
  SettingsPart part;
};

/// Where the settings lie.
struct SettingsPlaces {
  bool for_user = false;
  std::string project;  ///< The project's folder, absolute.
  std::string home;     ///< Of the user; may be empty when nothing lies there.
  std::string claude_config_dir;
  std::string codex_home;
  std::string config_home;  ///< $XDG_CONFIG_HOME; may be empty.
};

std::vector<SettingsFile> settings_files(InstallClient client, const SettingsPlaces& places);

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

std::vector<InstalledHook> hooks_of(InstallClient client, const InstalledCommand& command);

/// The name of our server, in every client.
inline constexpr std::string_view kServerName = "bmad-mem";

/// The member that holds the servers: "servers" for VS Code, else "mcpServers".
std::string_view servers_key(InstallClient client);
/// Our server as JSON, and as the table of TOML that Codex reads.
std::string server_args_json(const InstalledCommand& command);
std::string server_json(InstallClient client, const InstalledCommand& command);
std::string server_toml(const InstalledCommand& command);

/// `words` as one line for a shell.
std::string shell_line(const std::vector<std::string>& words);

/// What the user must still do, in sentences.
std::vector<std::string> steps_left(InstallClient client, bool for_user);

}  // namespace bmad_mem::cli
