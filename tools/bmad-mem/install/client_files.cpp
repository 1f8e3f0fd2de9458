#include "install/client_files.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/core.h>

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"claude-code", "codex", "gemini", "cursor",
                                                    "vscode"};

// Of a tool we hear when it has ended: that event says what it was called with as well, and half as
// many processes are started.

/// An event that we want to hear of. Tools are told of in the background where the client can do
/// that; their hooks may take longer than others then.
struct WantedEvent {
  std::string_view name;
  int timeout_s;
  bool in_background = false;
};

constexpr std::array kClaudeEvents = {
    WantedEvent{"SessionStart", 10},
    WantedEvent{"UserPromptSubmit", 10},
    WantedEvent{"PostToolUse", 30, true},
    WantedEvent{"PostToolUseFailure", 30, true},
    WantedEvent{"Stop", 10},
    WantedEvent{"SubagentStart", 10},
    WantedEvent{"SubagentStop", 10},
    WantedEvent{"PreCompact", 10},
    WantedEvent{"PostCompact", 10},
    WantedEvent{"SessionEnd", 10},
};

constexpr std::array kCodexEvents = {
    WantedEvent{"SessionStart", 10},  WantedEvent{"UserPromptSubmit", 10},
    WantedEvent{"PostToolUse", 10},   WantedEvent{"Stop", 10},
    WantedEvent{"SubagentStart", 10}, WantedEvent{"SubagentStop", 10},
    WantedEvent{"PreCompact", 10},    WantedEvent{"PostCompact", 10},
    WantedEvent{"SessionEnd", 3},
};

constexpr std::array kGeminiEvents = {
    WantedEvent{"SessionStart", 10}, WantedEvent{"BeforeAgent", 10}, WantedEvent{"AfterAgent", 10},
    WantedEvent{"AfterTool", 10},    WantedEvent{"PreCompress", 10}, WantedEvent{"SessionEnd", 10},
};

/// Not those that ask for a permission, and not those that say what another one says too.
constexpr std::array kCursorEvents = {
    WantedEvent{"sessionStart", 10},       WantedEvent{"beforeSubmitPrompt", 10},
    WantedEvent{"postToolUse", 10},        WantedEvent{"postToolUseFailure", 10},
    WantedEvent{"afterAgentResponse", 10}, WantedEvent{"subagentStart", 10},
    WantedEvent{"subagentStop", 10},       WantedEvent{"preCompact", 10},
    WantedEvent{"sessionEnd", 10},
};

std::vector<std::string> words_of(const InstalledCommand& command,
                                  const std::vector<std::string>& rest, bool with_program) {
  std::vector<std::string> words;
  if (with_program) {
    words.push_back(command.program);
  }
  words.insert(words.end(), rest.begin(), rest.end());
  if (!command.root.empty()) {
    words.insert(words.end(), {"--root", command.root});
  }
  return words;
}

/// {"type":"command","command":…,"timeout":…} as each client has it.
std::string handler(InstallClient client, const WantedEvent& event, const std::string& line) {
  JsonWriter json;
  json.begin_object();
  if (client == InstallClient::kCursor) {
    json.member("command", line).member("timeout", event.timeout_s).end_object();
    return json.take();
  }
  if (client == InstallClient::kGemini) {
    json.member("name", kServerName);
  }
  json.member("type", "command").member("command", line);
  if (client == InstallClient::kClaudeCode && event.in_background) {
    json.member("async", true);
  }
  json.member("timeout",
              client == InstallClient::kGemini ? event.timeout_s * 1000 : event.timeout_s);
  json.end_object();
  return json.take();
}

std::string fallback(const std::string& text, const std::string& other) {
  return text.empty() ? other : text;
}

std::string vscode_user_folder(const SettingsPlaces& places) {
#ifdef __APPLE__
  return places.home + "/Library/Application Support/Code/User";
#else
  return fallback(places.config_home, places.home + "/.config") + "/Code/User";
#endif
}

}  // namespace

std::span<const std::string_view> install_client_names() { return kNames; }

InstallClient install_client_of(std::string_view name) {
  return static_cast<InstallClient>(std::ranges::find(kNames, name) - kNames.begin());
}

std::vector<SettingsFile> settings_files(InstallClient client, const SettingsPlaces& places) {
  using enum SettingsPart;
  const std::string& base = places.for_user ? places.home : places.project;
  switch (client) {
    case InstallClient::kClaudeCode:
      if (!places.for_user) {
        return {{base + "/.claude/settings.json", kGroupedHooks},
                {base + "/.mcp.json", kJsonServer}};
      }
      return {
          {fallback(places.claude_config_dir, base + "/.claude") + "/settings.json", kGroupedHooks},
          {fallback(places.claude_config_dir, base) + "/.claude.json", kJsonServer}};
    case InstallClient::kCodex: {
      const std::string folder =
          places.for_user ? fallback(places.codex_home, base + "/.codex") : base + "/.codex";
      return {{folder + "/hooks.json", kGroupedHooks}, {folder + "/config.toml", kTomlServer}};
    }
    case InstallClient::kGemini:
      return {{base + "/.gemini/settings.json", kGroupedHooks},
              {base + "/.gemini/settings.json", kJsonServer}};
    case InstallClient::kCursor:
      return {{base + "/.cursor/hooks.json", kFlatHooks},
              {base + "/.cursor/mcp.json", kJsonServer}};
    case InstallClient::kVsCode:
      break;
  }
  return {{(places.for_user ? vscode_user_folder(places) : base + "/.vscode") + "/mcp.json",
           kJsonServer}};
}

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

std::vector<InstalledHook> hooks_of(InstallClient client, const InstalledCommand& command) {
  std::span<const WantedEvent> events;
  switch (client) {
    case InstallClient::kClaudeCode:
      events = kClaudeEvents;
      break;
    case InstallClient::kCodex:
      events = kCodexEvents;
      break;
    case InstallClient::kGemini:
      events = kGeminiEvents;
      break;
    case InstallClient::kCursor:
      events = kCursorEvents;
      break;
    case InstallClient::kVsCode:
      return {};
  }
  const std::string line = shell_line(
      words_of(command, {"hook", std::string(kNames[static_cast<std::size_t>(client)])}, true));
  std::vector<InstalledHook> hooks;
  for (const WantedEvent& event : events) {
    const std::string one = handler(client, event, line);
    hooks.push_back(
        {.event = std::string(event.name),
         .json = client == InstallClient::kCursor ? one : fmt::format("{{\"hooks\":[{}]}}", one)});
  }
  return hooks;
}

std::string_view servers_key(InstallClient client) {
  return client == InstallClient::kVsCode ? "servers" : "mcpServers";
}

std::string server_args_json(const InstalledCommand& command) {
  JsonWriter json;
  json.begin_array();
  for (const std::string& word : words_of(command, {"mcp"}, false)) {
    json.string(word);
  }
  json.end_array();
  return json.take();
}

std::string server_json(InstallClient client, const InstalledCommand& command) {
  JsonWriter json;
  json.begin_object();
  if (client == InstallClient::kClaudeCode || client == InstallClient::kVsCode) {
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

std::vector<std::string> steps_left(InstallClient client, bool for_user) {
  switch (client) {
    case InstallClient::kClaudeCode:
      if (for_user) {
        return {"start a new session of Claude Code; /hooks and /mcp list what it uses"};
      }
      return {
          "start Claude Code in this project and approve the server bmad-mem of .mcp.json, for "
          "which it asks once",
          "/hooks and /mcp list what it uses"};
    case InstallClient::kCodex:
      if (for_user) {
        return {"start Codex and trust the new hooks: until then it does not run them (/hooks)"};
      }
      return {"start Codex in this project and trust the project, else it does not read .codex",
              "trust the new hooks: until then Codex does not run them (/hooks)"};
    case InstallClient::kGemini:
      return {"start Gemini CLI anew; /hooks and /mcp list what it uses"};
    case InstallClient::kCursor:
      return {"start Cursor anew, and switch the server bmad-mem on under Settings, MCP"};
    case InstallClient::kVsCode:
      break;
  }
  return {"start the server bmad-mem with 'MCP: List Servers', and trust it when VS Code asks"};
}

}  // namespace bmad_mem::cli
