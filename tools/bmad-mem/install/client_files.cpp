#include "install/client_files.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "cli/agents.hpp"
#include "cli/results.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "exchange/files.hpp"

namespace bmad_mem::cli {

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + shell_quoted(word);
  }
  return line;
}

namespace {

/// `rest` and the memory that is named, as what stands behind the program's name.
std::vector<std::string> words_of(const InstalledCommand& command, std::vector<std::string> rest) {
  if (!command.root.empty()) {
    rest.insert(rest.end(), {"--root", command.root});
  }
  return rest;
}

/// The program of `command`, where the client or the shell puts the project's folder for `project`.
std::string program_of(const InstalledCommand& command, std::string_view project) {
  return command.is_dependency ? fmt::format("{}/node_modules/.bin/{}", project, kServerName)
                               : command.program;
}

/// The line that calls the hook.
std::string line_for(const ClientFacts& client, const InstalledCommand& command) {
  return hook_line(command.is_dependency
                       ? fmt::format("\"{}\"", program_of(command, client.hook.project))
                       : shell_line({command.program}),
                   shell_line(words_of(command, {"hook", std::string(client.name)})));
}

/// {"type":"command","command":…,"timeout":…} as each client has it.
std::string handler(const HookShape& shape, const HookEventRow& event, const std::string& line) {
  return json_object("name", only_if(shape.has_name, kServerName), "type",
                     only_if(shape.has_type, std::string_view("command")), shape.command_key, line,
                     "async", if_some(event.in_background), shape.timeout_key,
                     only_if(!shape.timeout_key.empty(), event.timeout_s * shape.timeouts_in_s));
}

}  // namespace

SettingsFile user_file(const SettingsPlace& place, const std::string& home) {
#ifdef __APPLE__
  const bool is_on_macos = !place.on_macos.empty();
#else
  const bool is_on_macos = false;
#endif
  std::string folder = absolute_path(place.variable.empty() || is_on_macos
                                         ? ""
                                         : environment(std::string(place.variable).c_str()));
  std::string stays = folder;
  if (folder.empty()) {
    folder = home + std::string(is_on_macos ? place.on_macos : place.in_home);
    stays = place.is_shared ? folder : home;
  }
  return {.path = folder + std::string(place.in_folder), .part = place.part, .stays = stays};
}

std::vector<SettingsFile> settings_files(const ClientFacts& client, bool for_user,
                                         const std::string& project, const std::string& home) {
  std::vector<SettingsFile> files;
  for (const SettingsPlace& place : client.places) {
    if ((for_user ? place.in_folder : place.in_project).empty()) {
      continue;
    }
    SettingsFile file = for_user ? user_file(place, home)
                                 : SettingsFile{.path = project + std::string(place.in_project),
                                                .part = place.part,
                                                .stays = project};
    if (place.may_be_jsonc && !is_there(file.path) && is_there(file.path + 'c')) {
      file.path += 'c';
    }
    if (place.part != SettingsPart::kHookScripts) {
      files.push_back(std::move(file));
      continue;
    }
    for (const HookEventRow& event : client.events) {
      if (event.timeout_s != 0) {
        SettingsFile& program = files.emplace_back(file);
        program.event = event.name;
        program.path += fmt::format("/{}", event.name);
      }
    }
  }
  return files;
}

std::vector<InstalledHook> hooks_of(const ClientFacts& client, SettingsPart part,
                                    const InstalledCommand& command) {
  const std::string line = line_for(client, command);
  std::vector<InstalledHook> hooks;
  for (const HookEventRow& event : client.events) {
    if (event.timeout_s != 0) {
      const std::string one = handler(client.hook, event, line);
      hooks.push_back({.event = std::string(event.name),
                       .json = part == SettingsPart::kFlatHooks
                                   ? one
                                   : fmt::format("{{\"hooks\":[{}]}}", one)});
    }
  }
  return hooks;
}

std::string mark_of_whole_file(const ClientFacts& client) {
  return fmt::format("bmad-mem: `bmad-mem uninstall {}` removes this file", client.name);
}

std::string whole_file(const ClientFacts& client, SettingsPart part,
                       const InstalledCommand& command) {
  const std::string mark = mark_of_whole_file(client);
  if (part == SettingsPart::kRules) {
    assert(client.rules.contains(mark));
    return std::string(client.rules);
  }
  if (part == SettingsPart::kPlugin) {
    const std::string program = program_of(command, client.hook.project);
    const std::vector<std::string> words =
        words_of(command, {program, "hook", std::string(client.name)});
    std::string module(opencode_plugin());
    constexpr std::string_view kCommand = "COMMAND";
    module.replace(module.find(kCommand), kCommand.size(), list_json(words));
    return fmt::format("// {}\n{}", mark, module);
  }
  return fmt::format("#!/bin/sh\n# {}\n{}\nexit 0\n", mark, line_for(client, command));
}

std::vector<std::pair<std::string_view, std::string>> server_members(
    const ServerShape& shape, const InstalledCommand& command) {
  const std::string program = program_of(command, shape.project);
  if (shape.is_one_list) {
    return {{"command", list_json(words_of(command, {program, "mcp"}))}};
  }
  return {{"command", json_quoted(program)}, {"args", list_json(words_of(command, {"mcp"}))}};
}

std::string server_json(const ServerShape& shape, const InstalledCommand& command) {
  const auto own = [&](JsonWriter& json) {
    for (const auto& [key, value] : server_members(shape, command)) {
      json.key(key).raw(value);
    }
  };
  return json_object("type", if_some(shape.type), own, shape.more_name,
                     only_if(!shape.more_name.empty(), raw_json(shape.more_json)));
}

std::string server_toml(const InstalledCommand& command) {
  std::string table = fmt::format("[mcp_servers.{}]\n", kServerName);
  for (const auto& [key, value] : server_members({}, command)) {
    table += fmt::format("{} = {}\n", key, value);  // Its strings and arrays are of TOML as well.
  }
  return table;
}

std::string absolute_path(std::string_view path) {
  std::error_code ignored;
  return path.empty() ? std::string() : std::filesystem::absolute(path, ignored).string();
}

}  // namespace bmad_mem::cli
