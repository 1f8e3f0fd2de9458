#include "install/client_table.hpp"

#include <algorithm>
#include <iterator>

namespace bmad_mem::cli {
namespace {

using enum SettingsPart;

#ifdef __APPLE__
#define BMAD_VSCODE_HOME "", "/Library/Application Support"
#else
#define BMAD_VSCODE_HOME "XDG_CONFIG_HOME", "/.config"
#endif

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
    {kJsonServer, "/.vscode/mcp.json", BMAD_VSCODE_HOME, "/Code/User/mcp.json"},
};
constexpr SettingsPlace kCopilotPlaces[] = {
    {kFlatHooks, "/.github/hooks/bmad-mem.json", "COPILOT_HOME", "/.copilot",
     "/hooks/bmad-mem.json"},
    {kJsonServer, "/.github/mcp.json", "COPILOT_HOME", "/.copilot", "/mcp-config.json"},
};
constexpr SettingsPlace kOpencodePlaces[] = {
    {kPlugin, "/.opencode/plugins/bmad-mem.js", "XDG_CONFIG_HOME", "/.config",
     "/opencode/plugins/bmad-mem.js"},
    {kJsonServer, "/opencode.json", "XDG_CONFIG_HOME", "/.config", "/opencode/opencode.json", true},
};
constexpr SettingsPlace kWindsurfPlaces[] = {
    {kFlatHooks, "/.windsurf/hooks.json", "", "/.codeium", "/windsurf/hooks.json"},
    {kJsonServer, "", "", "/.codeium", "/windsurf/mcp_config.json"},
};
constexpr SettingsPlace kZedPlaces[] = {
    {kJsonServer, "/.zed/settings.json", "XDG_CONFIG_HOME", "/.config", "/zed/settings.json"},
};
constexpr SettingsPlace kQwenPlaces[] = {
    {kGroupedHooks, "/.qwen/settings.json", "", "/.qwen", "/settings.json"},
    {kJsonServer, "/.qwen/settings.json", "", "/.qwen", "/settings.json"},
};
constexpr SettingsPlace kClinePlaces[] = {
    {kHookScripts, "/.clinerules/hooks", "", "/Documents", "/Cline/Hooks"},
    {kJsonServer, "", "", "/.cline", "/data/settings/cline_mcp_settings.json"},
    {kJsonServer, "", BMAD_VSCODE_HOME,
     "/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
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
    "start the server bmad-mem with 'MCP: List Servers', and trust it when VS Code asks",
    "the hooks of agents in VS Code are those of Copilot: bmad-mem install copilot"};
constexpr std::string_view kCopilotSteps[] = {
    "start a new session of Copilot CLI; /mcp lists its servers",
    "agents in VS Code call the same hooks (/hooks lists them); their server: bmad-mem install "
    "vscode"};
constexpr TrustList kCopilotTrust = {
    .place = {kJsonServer, "", "COPILOT_HOME", "/.copilot", "/config.json"},
    .key = "trustedFolders",
    .step =
        "start copilot once in this folder and answer yes when it asks for trust: it loads neither "
        "hooks nor servers of a folder that is not in trustedFolders of ~/.copilot/config.json"};
constexpr std::string_view kOpencodeSteps[] = {
    "restart opencode 1.18.29 or later; it loads the plugin and starts the server"};
constexpr std::string_view kWindsurfStepsInProject[] = {
    "reload Windsurf; Cascade then calls the hooks",
    "Windsurf has servers in the user's settings only: bmad-mem install windsurf --scope user "
    "writes them, and hooks for all projects instead of these"};
constexpr std::string_view kWindsurfStepsForUser[] = {
    "reload Windsurf; the server is under Settings, Cascade, MCP Servers"};
constexpr std::string_view kZedStepsInProject[] = {
    "open the project in Zed and trust it; the server is under Settings, AI, MCP Servers"};
constexpr std::string_view kZedStepsForUser[] = {
    "the server is in Zed's Settings, AI, MCP Servers"};
constexpr std::string_view kQwenSteps[] = {"restart Qwen Code; /mcp lists its servers"};
constexpr std::string_view kClineStepsInProject[] = {
    "open Cline's Hooks tab, and switch the hooks on if they are off",
    "Cline has servers in the user's settings only: bmad-mem install cline --scope user writes "
    "them, and hooks for all projects instead of these"};
constexpr std::string_view kClineStepsForUser[] = {
    "open Cline's Hooks tab, and switch the hooks on if they are off",
    "the server is in Cline's MCP Servers, Configure"};

constexpr InstallClient kClients[] = {
    {.name = "claude-code",
     .title = "Claude Code",
     .program = "claude",
     .places = kClaudePlaces,
     .steps_in_project = kClaudeStepsInProject,
     .steps_for_user = kClaudeStepsForUser,
     .hooks = HookClient::kClaudeCode,
     .hook = {.project = "${CLAUDE_PROJECT_DIR:-.}"},
     .server = {.type = "stdio", .project = "${CLAUDE_PROJECT_DIR:-.}"}},
    {.name = "codex",
     .title = "Codex",
     .program = "codex",
     .places = kCodexPlaces,
     .steps_in_project = kCodexStepsInProject,
     .steps_for_user = kCodexStepsForUser,
     .hooks = HookClient::kCodex},
    {.name = "gemini",
     .title = "Gemini CLI",
     .program = "gemini",
     .places = kGeminiPlaces,
     .steps_in_project = kGeminiSteps,
     .steps_for_user = kGeminiSteps,
     .hooks = HookClient::kGemini,
     .hook = {.has_name = true, .timeouts_in_s = 1000, .project = "${GEMINI_PROJECT_DIR:-.}"}},
    {.name = "cursor",
     .title = "Cursor",
     .program = "cursor",
     .places = kCursorPlaces,
     .steps_in_project = kCursorSteps,
     .steps_for_user = kCursorSteps,
     .hooks = HookClient::kCursor,
     .hook = {.has_type = false, .has_version = true, .project = "${CURSOR_PROJECT_DIR:-.}"},
     .server = {.project = "${workspaceFolder}"}},
    {.name = "vscode",
     .title = "VS Code",
     .program = "code",
     .places = kVsCodePlaces,
     .steps_in_project = kVsCodeSteps,
     .steps_for_user = kVsCodeSteps,
     .server = {.key = "servers", .type = "stdio", .project = "${workspaceFolder}"}},
    // "bash" is not run on Windows, where the line would be an error in each session.
    {.name = "copilot",
     .title = "GitHub Copilot",
     .program = "copilot",
     .places = kCopilotPlaces,
     .steps_in_project = kCopilotSteps,
     .steps_for_user = kCopilotSteps,
     .hooks = HookClient::kCopilot,
     .hook = {.command_key = "bash", .has_version = true},
     .server = {.type = "local", .more_name = "tools", .more_json = R"(["*"])"},
     .trusted = &kCopilotTrust},
    {.name = "opencode",
     .title = "opencode",
     .program = "opencode",
     .places = kOpencodePlaces,
     .steps_in_project = kOpencodeSteps,
     .steps_for_user = kOpencodeSteps,
     .hooks = HookClient::kOpencode,
     .server = {.key = "mcp",
                .type = "local",
                .is_one_list = true,
                .more_name = "enabled",
                .more_json = "true"}},
    {.name = "windsurf",
     .title = "Windsurf",
     .program = "windsurf",
     .places = kWindsurfPlaces,
     .steps_in_project = kWindsurfStepsInProject,
     .steps_for_user = kWindsurfStepsForUser,
     .hooks = HookClient::kWindsurf,
     .hook = {.has_type = false, .timeout_key = ""}},
    {.name = "zed",
     .title = "Zed",
     .program = "zed",
     .places = kZedPlaces,
     .steps_in_project = kZedStepsInProject,
     .steps_for_user = kZedStepsForUser,
     .server = {.key = "context_servers"}},
    {.name = "qwen",
     .title = "Qwen Code",
     .program = "qwen",
     .places = kQwenPlaces,
     .steps_in_project = kQwenSteps,
     .steps_for_user = kQwenSteps,
     .hooks = HookClient::kQwen,
     .hook = {.has_name = true, .timeouts_in_s = 1000}},
    {.name = "cline",
     .title = "Cline",
     .program = "cline",
     .places = kClinePlaces,
     .steps_in_project = kClineStepsInProject,
     .steps_for_user = kClineStepsForUser,
     .hooks = HookClient::kCline},
};

}  // namespace

std::span<const InstallClient> install_clients() { return kClients; }

const InstallClient* find_install_client(std::string_view name) {
  const auto* const found = std::ranges::find(kClients, name, &InstallClient::name);
  return found == std::end(kClients) ? nullptr : found;
}

}  // namespace bmad_mem::cli
