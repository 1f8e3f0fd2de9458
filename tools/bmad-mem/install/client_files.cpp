// client_files.cpp - finds the files of a client, and whether our parts are in them.
#include "install/client_files.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "cli/agents.hpp"
#include "cli/json_text.hpp"
#include "cli/results.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "exchange/files.hpp"
#include "install/json_edit.hpp"
#include "install/settings_edit.hpp"
#include "install/settings_file.hpp"

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

SettingsFile user_file(const SettingsPlace& place) {
  const std::string home(environment("HOME"));
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
                                         const std::string& project) {
  std::vector<SettingsFile> files;
  for (const SettingsPlace& place : client.places) {
    if ((for_user ? place.in_folder : place.in_project).empty()) {
      continue;
    }
    SettingsFile file = for_user ? user_file(place)
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

namespace {

/// What is looked for, and where what is found goes.
struct Search {
  const ClientFacts& client;
  const SettingsFile& file;
  const InstalledCommand& command;
  ClientState& state;

  void add_problem(Error error) const {
    error.path = file.path;
    state.problems.push_back(std::move(error));
  }
  void add(std::string name, std::uint64_t line, std::string words, bool is_current) const {
    state.parts.push_back({.path = file.path,
                           .part = file.part,
                           .name = std::move(name),
                           .line = line,
                           .command = std::move(words),
                           .is_current = is_current});
  }
};

std::uint64_t line_at(std::string_view text, std::size_t offset) {
  return 1 + static_cast<std::uint64_t>(std::ranges::count(text.substr(0, offset), '\n'));
}

void find_hooks(const JsonEdit& edit, const Search& search) {
  for (const InstalledHook& hook : hooks_of(search.client, search.file.part, search.command)) {
    std::uint64_t line = 0;
    std::string words;
    bool is_current = false;
    for (const TextSpan span : edit.elements({"hooks", hook.event})) {
      const std::string_view text = span.of(edit.plain());
      HookHandlers found = hook_handlers(text, search.client, search.file.part);
      if (!found.ours.empty()) {
        line = line == 0 ? line_at(edit.text(), span.begin) : line;
        words = std::move(found.words);
        is_current = is_current || json_compact(text) == hook.json;
      }
    }
    search.add(hook.event, line, std::move(words), is_current);
  }
}

void find_server(const JsonEdit& edit, const Search& search) {
  const ServerShape& shape = search.client.server;
  const std::string_view server = edit.value({shape.key, kServerName});
  std::string words = our_server_command(server);
  const std::uint64_t line =
      words.empty()
          ? 0
          : line_at(edit.plain(), static_cast<std::size_t>(server.data() - edit.plain().data()));
  const bool is_current =
      line != 0 &&
      std::ranges::all_of(server_members(shape, search.command), [&](const auto& member) {
        return json_compact(edit.value({shape.key, kServerName, member.first})) == member.second;
      });
  search.add(std::string(kServerName), line, std::move(words), is_current);
}

void find_in_json(const std::string& text, const Search& search) {
  Result<JsonEdit> edit = JsonEdit::read(text);
  if (!edit) {
    search.add_problem(edit.error());
    edit = JsonEdit::new_file();
  }
  if (search.file.part == SettingsPart::kJsonServer) {
    find_server(*edit, search);
  } else {
    find_hooks(*edit, search);
  }
}

void find_in_toml(const std::string& text, const Search& search) {
  const Result<std::optional<std::string>> with =
      with_toml_block(text, server_toml(search.command));
  const std::size_t at = text.find(fmt::format("[mcp_servers.{}]", kServerName));
  if (!with && with.error().code != ErrorCode::E_CONCURRENT_MOD) {
    search.add_problem(with.error());
  }
  search.add(std::string(kServerName), at == std::string::npos ? 0 : line_at(text, at), {},
             with && *with == text);
}

void find_whole_file(const std::string& text, const Search& search) {
  const bool is_ours = text.contains(mark_of_whole_file(search.client));
  search.add(search.file.event, is_ours ? 1 : 0, is_ours ? search.file.path : std::string(),
             text == whole_file(search.client, search.file.part, search.command));
}

}  // namespace

bool ClientState::is_installed() const {
  return std::ranges::any_of(parts, [](const InstalledPart& part) { return part.line != 0; });
}

bool ClientState::has_hooks() const {
  return std::ranges::any_of(parts, [](const InstalledPart& part) {
    return part.line != 0 && part.part <= SettingsPart::kPlugin;
  });
}

bool ClientState::is_complete() const {
  return std::ranges::all_of(parts, &InstalledPart::is_current);
}

ClientState client_state(const ClientFacts& client, bool for_user, const std::string& project,
                         const InstalledCommand& command) {
  ClientState state;
  for (const SettingsFile& file : settings_files(client, for_user, project)) {
    const Search search{.client = client, .file = file, .command = command, .state = state};
    Result<SettingsText> read = read_settings(file.path, {});
    if (!read) {
      state.problems.push_back(std::move(read).error());
      read = SettingsText{.path = file.path, .target = file.path, .text = {}};
    }
    const std::string text = read->text.value_or(std::string());
    if (file.part == SettingsPart::kTomlServer) {
      find_in_toml(text, search);
    } else if (is_whole_file(file.part)) {
      find_whole_file(text, search);
    } else {
      find_in_json(text, search);
    }
  }
  return state;
}

std::string_view closed_gate(const ClientFacts& client, bool for_user, const std::string& project) {
  const std::optional<TrustList>& trusted = client.trusted;
  if (!trusted || for_user) {
    return {};
  }
  const Result<SettingsText> read = read_settings(user_file(trusted->place).path, {});
  const Result<JsonEdit> edit =
      JsonEdit::read(read ? read->text.value_or(std::string()) : std::string());
  const ParsedJson settings(edit ? edit->plain() : std::string());
  for (const JsonValue folder : settings[trusted->key].elements()) {
    const std::string real = real_path_of(std::string(folder.string()));
    if (!real.empty() && (real_path_of(project) + '/').starts_with(real + '/')) {
      return {};
    }
  }
  return trusted->step;
}

std::vector<std::string_view> steps_left(const ClientFacts& client, bool for_user,
                                         const std::string& project) {
  const auto more = for_user ? client.steps_for_user : client.steps_in_project;
  std::vector<std::string_view> left(client.steps.begin(), client.steps.end());
  left.insert(left.end(), more.begin(), more.end());
  if (const std::string_view gate = closed_gate(client, for_user, project); !gate.empty()) {
    left.insert(left.begin(), gate);
  }
  return left;
}

}  // namespace bmad_mem::cli
