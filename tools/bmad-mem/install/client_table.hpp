// client_table.hpp - the clients that can be connected: a row each. `install`, `uninstall` and
// client_state() go by it.
//
//   client       scope     hooks                            MCP server
//   claude-code  project   .claude/settings.json            .mcp.json
//                user      ~/.claude/settings.json          ~/.claude.json
//   codex        project   .codex/hooks.json                .codex/config.toml
//                user      $CODEX_HOME/hooks.json           $CODEX_HOME/config.toml
//   gemini       both      .gemini/settings.json            (the same file)
//   cursor       both      .cursor/hooks.json               .cursor/mcp.json
//   vscode       project   (those of copilot)               .vscode/mcp.json
//                user                                       …/Code/User/mcp.json
//   copilot      project   .github/hooks/bmad-mem.json      .github/mcp.json
//                user      $COPILOT_HOME/hooks/…            $COPILOT_HOME/mcp-config.json
//   opencode     project   .opencode/plugins/bmad-mem.js    opencode.json
//                user      ~/.config/opencode/plugins/…     ~/.config/opencode/opencode.json
//   windsurf     project   .windsurf/hooks.json
//                user      ~/.codeium/windsurf/hooks.json   ~/.codeium/windsurf/mcp_config.json
//   zed          project                                    .zed/settings.json
//                user                                       ~/.config/zed/settings.json
//   qwen         both      .qwen/settings.json              (the same file)
//   cline        project   .clinerules/hooks/EVENT
//                user      ~/Documents/Cline/Hooks/EVENT    cline_mcp_settings.json, of the program
//                                                           and of the extension of VS Code
//
// CLAUDE_CONFIG_DIR moves both files of Claude Code; CODEX_HOME is ~/.codex and COPILOT_HOME
// ~/.copilot unless it is set.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hooks/hook_clients.hpp"

namespace bmad_mem::cli {

/// What in a file is ours.
enum class SettingsPart : std::uint8_t {
  kGroupedHooks,  ///< {"hooks": {EVENT: [{"hooks": [{"type": "command", "command": …}]}]}}
  kFlatHooks,     ///< {"hooks": {EVENT: [{"command": …}]}}
  kHookScripts,   ///< A program of the event's name in a folder; all of it is ours.
  kPlugin,        ///< A file of JavaScript; all of it is ours.
  kJsonServer,    ///< {"mcpServers": {"bmad-mem": {"command": …, "args": ["mcp"]}}}
  kTomlServer,    ///< [mcp_servers.bmad-mem]
};

/// A part and the file in which it stands.
struct SettingsPlace {
  SettingsPart part;
  std::string_view in_project;  ///< Below the project's folder; empty: the user's file alone.
  std::string_view variable;    ///< Names the folder of the user's file where it is set …
  std::string_view in_home;     ///< … else that is this one below the user's home.
  std::string_view in_folder;   ///< The user's file in that folder.
  bool may_be_jsonc = false;    ///< "FILE.jsonc" is read where there is no "FILE.json".
};

/// How a hook is written.
struct HookShape {
  bool has_name = false;
  bool has_type = true;
  std::string_view command_key = "command";
  std::string_view timeout_key = "timeout";  ///< Empty: the client has none.
  int timeouts_in_s = 1;                     ///< How many of its units a second has.
  bool has_version = false;                  ///< "version": 1 stands beside "hooks".
  std::string_view project = ".";            ///< The project's folder, as a shell has it then.
};

/// How a server is written.
struct ServerShape {
  std::string_view key = "mcpServers";  ///< The member that holds the servers.
  std::string_view type = {};           ///< Empty: none is written.
  bool is_one_list = false;             ///< "command" is a list with the arguments.
  std::string_view more_name = {};      ///< A member that the client wants as well …
  std::string_view more_json = {};      ///< … and its value.
  std::string_view project = ".";       ///< The project's folder, as the client replaces it.
};

/// The file in which a client notes the folders that it trusts. It reads nothing of a project that
/// lies in none of them.
struct TrustList {
  SettingsPlace place;    ///< Of the user; in_project and part say nothing.
  std::string_view key;   ///< The list of folders.
  std::string_view step;  ///< How a folder comes in.
};

/// A client. All views are static.
struct InstallClient {
  std::string_view name;     ///< "claude-code"
  std::string_view title;    ///< "Claude Code"
  std::string_view program;  ///< "claude": what starts it, by name.
  std::span<const SettingsPlace> places;
  /// What the user must still do, in sentences.
  std::span<const std::string_view> steps_in_project;
  std::span<const std::string_view> steps_for_user;
  /// Whose events are asked for, and how context goes in: see hook_client_info().
  std::optional<HookClient> hooks = {};
  HookShape hook = {};
  ServerShape server = {};
  const TrustList* trusted = nullptr;  ///< Null: it has none that we know.
};

std::span<const InstallClient> install_clients();

/// The client of this name; null for any other text.
const InstallClient* find_install_client(std::string_view name);

}  // namespace bmad_mem::cli
