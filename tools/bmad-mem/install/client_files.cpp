#include "install/client_files.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {
namespace {

using enum SettingsPart;

constexpr SettingsPlace kClaudePlaces[] = {
    {kGroupedHooks, "/.claude/settings.json", "CLAUDE_CONFIG_DIR", "/.claude", "/settings.json"},
    {kJsonServer, "/.mcp.json", "CLAUDE_CONFIG_DIR", "", "/.claude.json"},
};
constexpr SettingsPlace kCodexPlaces[] = {
    {kGroupedHooks, "/.codex/hooks.json", "CODEX_HOME", "/.codex", "/hooks.json"},
    {kTomlServer, "/.codex/config.toml", "CODEX_HOME", "/.codex", "/config.toml"},
};
constexpr SettingsPlace kGeminiPlaces[] = {
    {kGroupedHooks, "/.gemini/settings.json", "", "/.gemini", "/settings.json"},
    {kJsonServer, "/.gemini/settings.json", "", "/.gemini", "/settings.json"},
};
constexpr SettingsPlace kCursorPlaces[] = {
    {kFlatHooks, "/.cursor/hooks.json", "", "/.cursor", "/hooks.json"},
    {kJsonServer, "/.cursor/mcp.json", "", "/.cursor", "/mcp.json"},
};
constexpr SettingsPlace kVsCodePlaces[] = {
#ifdef __APPLE__
    {kJsonServer, "/.vscode/mcp.json", "", "/Library/Application Support", "/Code/User/mcp.json"},
#else
    {kJsonServer, "/.vscode/mcp.json", "XDG_CONFIG_HOME", "/.config", "/Code/User/mcp.json"},
#endif
};

constexpr std::string_view kClaudeStepsInProject[] = {
    "start Claude Code in this project and approve the server bmad-mem of .mcp.json, for which it "
    "asks once",
    "/hooks and /mcp list what it uses"};
constexpr std::string_view kClaudeStepsForUser[] = {
    "start a new session of Claude Code; /hooks and /mcp list what it uses"};
constexpr std::string_view kCodexStepsInProject[] = {
    "start Codex in this project and trust the project, else it does not read .codex",
    "trust the new hooks: until then Codex does not run them (/hooks)"};
constexpr std::string_view kCodexStepsForUser[] = {
    "start Codex and trust the new hooks: until then it does not run them (/hooks)"};
constexpr std::string_view kGeminiSteps[] = {
    "restart Gemini CLI; /hooks and /mcp list what it uses"};
constexpr std::string_view kCursorSteps[] = {
    "restart Cursor, and switch the server bmad-mem on under Settings, MCP"};
constexpr std::string_view kVsCodeSteps[] = {
    "start the server bmad-mem with 'MCP: List Servers', and trust it when VS Code asks"};

constexpr InstallClient kClients[] = {
    {.name = "claude-code",
     .places = kClaudePlaces,
     .steps_in_project = kClaudeStepsInProject,
     .steps_for_user = kClaudeStepsForUser,
     .hooks = HookClient::kClaudeCode,
     .server_has_type = true},
    {.name = "codex",
     .places = kCodexPlaces,
     .steps_in_project = kCodexStepsInProject,
     .steps_for_user = kCodexStepsForUser,
     .hooks = HookClient::kCodex},
    {.name = "gemini",
     .places = kGeminiPlaces,
     .steps_in_project = kGeminiSteps,
     .steps_for_user = kGeminiSteps,
     .hooks = HookClient::kGemini,
     .hooks_have_names = true,
     .timeouts_in_s = 1000},
    {.name = "cursor",
     .places = kCursorPlaces,
     .steps_in_project = kCursorSteps,
     .steps_for_user = kCursorSteps,
     .hooks = HookClient::kCursor},
    {.name = "vscode",
     .places = kVsCodePlaces,
     .steps_in_project = kVsCodeSteps,
     .steps_for_user = kVsCodeSteps,
     .servers_key = "servers",
     .server_has_type = true},
};

/// `rest` and the memory that is named, as what stands behind the program's name.
std::vector<std::string> words_of(const InstalledCommand& command, std::vector<std::string> rest) {
  if (!command.root.empty()) {
    rest.insert(rest.end(), {"--root", command.root});
  }
  return rest;
}

/// `words` as one line for a shell.
std::string shell_line(const std::vector<std::string>& words) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.+-@%:,=";
  std::string line;
  for (const std::string& word : words) {
    line += line.empty() ? "" : " ";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    line += '\'';
  }
  return line;
}

/// {"type":"command","command":…,"timeout":…} as each client has it.
std::string handler(const InstallClient& client, SettingsPart part, const HookEventRow& event,
                    const std::string& line) {
  JsonWriter json;
  json.begin_object();
  if (client.hooks_have_names) {
    json.member("name", kServerName);
  }
  if (part != kFlatHooks) {
    json.member("type", "command");
  }
  json.member("command", line);
  if (event.in_background) {
    json.member("async", true);
  }
  json.member("timeout", event.timeout_s * client.timeouts_in_s).end_object();
  return json.take();
}

}  // namespace

const InstallClient* find_install_client(std::string_view name) {
  const auto* const found = std::ranges::find(kClients, name, &InstallClient::name);
  return found == std::end(kClients) ? nullptr : found;
}

std::vector<SettingsFile> settings_files(const InstallClient& client, bool for_user,
                                         const std::string& project, const std::string& home) {
  std::vector<SettingsFile> files;
  for (const SettingsPlace& place : client.places) {
    std::string path = project + std::string(place.in_project);
    if (for_user) {
      const std::string folder = absolute_path(
          place.variable.empty() ? "" : environment(std::string(place.variable).c_str()));
      path = fmt::format("{}{}", folder.empty() ? home + std::string(place.in_home) : folder,
                         place.in_folder);
    }
    files.push_back({.path = std::move(path), .part = place.part});
  }
  return files;
}

std::vector<InstalledHook> hooks_of(const InstallClient& client, SettingsPart part,
                                    const InstalledCommand& command) {
  const std::string line =
      shell_line(words_of(command, {command.program, "hook", std::string(client.name)}));
  std::vector<InstalledHook> hooks;
  for (const HookEventRow& event : hook_client_info(*client.hooks).events) {
    if (event.timeout_s != 0) {
      const std::string one = handler(client, part, event, line);
      hooks.push_back({.event = std::string(event.name),
                       .json = part == kFlatHooks ? one : fmt::format("{{\"hooks\":[{}]}}", one)});
    }
  }
  return hooks;
}

std::string server_args_json(const InstalledCommand& command) {
  JsonWriter json;
  json.begin_array();
  for (const std::string& word : words_of(command, {"mcp"})) {
    json.string(word);
  }
  json.end_array();
  return json.take();
}

std::string server_json(const InstallClient& client, const InstalledCommand& command) {
  JsonWriter json;
  json.begin_object();
  if (client.server_has_type) {
    json.member("type", "stdio");
  }
  json.member("command", command.program).key("args").raw(server_args_json(command));
  json.end_object();
  return json.take();
}

std::string server_toml(const InstalledCommand& command) {
  // Strings and arrays of JSON are of TOML as well.
  return fmt::format("[mcp_servers.{}]\ncommand = {}\nargs = {}\n", kServerName,
                     json_quoted(command.program), server_args_json(command));
}

std::string absolute_path(std::string_view path) {
  std::error_code ignored;
  return path.empty() ? std::string() : std::filesystem::absolute(path, ignored).string();
}

}  // namespace bmad_mem::cli
