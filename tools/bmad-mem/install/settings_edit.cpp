// settings_edit.cpp - puts hooks and servers into JSON, TOML and Markdown, and removes them.
#include "install/settings_edit.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "bmad_mem/json.hpp"
#include "cli/agents.hpp"
#include "cli/json_text.hpp"
#include "install/client_files.hpp"
#include "install/json_edit.hpp"

namespace bmad_mem::cli {
namespace {

/// The words that `handler` runs; empty unless they call our hook for this client.
std::string our_hook_command(JsonValue handler, const ClientFacts& client) {
  const std::string_view command = handler[client.hook.command_key].string();
  if (handler["args"].is_array()) {  // The other form that Claude Code takes.
    std::string words;
    for (const JsonValue word : handler["args"].elements()) {
      words.append(word.string()) += ' ';
    }
    const bool is_ours =
        is_own_program(command) && words.starts_with(fmt::format("hook {} ", client.name));
    return is_ours ? fmt::format("{} {}", command, words.substr(0, words.size() - 1)) : "";
  }
  const std::string call = fmt::format(" hook {}", client.name);
  const std::size_t at = command.rfind(call);
  const std::size_t end = at + call.size();
  const bool is_ours = at != std::string_view::npos && is_own_program(command.substr(0, at)) &&
                       (end == command.size() || command[end] == ' ');
  return is_ours ? std::string(command) : std::string();
}

void remove_hooks(JsonEdit& edit, const std::string& event, const SettingsChange& change) {
  const JsonPath path = {"hooks", event};
  for (std::size_t i = 0; i < edit.elements(path).size();) {
    const TextSpan span = edit.elements(path)[i];
    const HookHandlers handlers = hook_handlers(span.of(edit.plain()), change.client, change.part);
    if (handlers.ours.size() == handlers.all && handlers.all != 0) {
      edit.remove_element(path, span);
      continue;
    }
    const std::string index = std::to_string(i++);
    const JsonPath inner = {"hooks", event, index, "hooks"};
    for (std::size_t gone = 0; gone < handlers.ours.size(); ++gone) {
      edit.remove_element(inner, edit.elements(inner)[handlers.ours[gone] - gone]);
    }
  }
}

/// Whether exactly this entry is there, and nothing else of ours.
bool is_there(const JsonEdit& edit, const InstalledHook& hook, const SettingsChange& change) {
  std::size_t same = 0;
  std::size_t ours = 0;
  for (const TextSpan span : edit.elements({"hooks", hook.event})) {
    ours += hook_handlers(span.of(edit.plain()), change.client, change.part).ours.size();
    same += json_compact(span.of(edit.plain())) == hook.json ? 1 : 0;
  }
  return same == 1 && ours == 1;
}

/// Our hooks can go only where there are objects and arrays, or nothing.
Status check_shape(const JsonEdit& edit, const std::vector<InstalledHook>& hooks) {
  const auto is = [&](const JsonPath& path, char bracket) {
    const std::string_view value = edit.value(path);
    return value.empty() || value.starts_with(bracket);
  };
  bool good = is({"hooks"}, '{');
  for (const InstalledHook& hook : hooks) {
    good = good && is({"hooks", hook.event}, '[');
  }
  return good ? Status()
              : Status(Error{.code = ErrorCode::E_INVALID_FORMAT,
                             .message = "the value there does not have the form of hooks: events "
                                        "with lists",
                             .field = "hooks"});
}

/// Whether the file ends in a version right behind the hooks, as it does when both are ours: others
/// begin with the version.
bool ends_with_version(const JsonEdit& edit) {
  const std::vector<std::string> members = edit.keys({});
  return members.size() >= 2 && members.back() == "version" &&
         members[members.size() - 2] == "hooks";
}

Status change_hooks(JsonEdit& edit, const SettingsChange& change) {
  const std::vector<InstalledHook> wanted =
      change.command ? hooks_of(change.client, change.part, *change.command)
                     : std::vector<InstalledHook>();
  BMAD_TRY(check_shape(edit, wanted));
  const bool had_hooks = !edit.value({"hooks"}).empty();
  const bool version_is_behind = ends_with_version(edit);
  const std::vector<std::string> events = edit.keys({"hooks"});
  for (const std::string& event : events) {
    const auto hook = std::ranges::find(wanted, event, &InstalledHook::event);
    if (hook == wanted.end() || !is_there(edit, *hook, change)) {
      remove_hooks(edit, event, change);
    }
  }
  for (const InstalledHook& hook : wanted) {
    if (!is_there(edit, hook, change)) {
      edit.add_element({"hooks", hook.event}, hook.json);
    }
  }
  if (change.client.hook.has_version) {
    // A version comes and goes with hooks that are ours alone.
    if (change.command && !had_hooks && edit.value({"version"}).empty()) {
      edit.add_member({}, "version", "1");
    } else if (!change.command && version_is_behind && edit.value({"hooks"}).empty()) {
      edit.remove_member({}, "version");
    }
  }
  return {};
}

Status change_server(JsonEdit& edit, const SettingsChange& change) {
  const ServerShape& shape = change.client.server;
  const JsonPath servers = {shape.key};
  const std::string_view there = edit.value({shape.key, kServerName});
  if (const std::string_view list = edit.value(servers); !list.empty() && list.front() != '{') {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "the value there is not an object of servers",
                 .field = std::string(shape.key)};
  }
  const bool is_ours = !our_server_command(there).empty();
  if (!change.command) {
    if (is_ours) {
      edit.remove_member(servers, kServerName);
    }
    return {};
  }
  if (there.empty()) {
    edit.add_member(servers, kServerName, server_json(shape, *change.command));
    return {};
  }
  if (!is_ours) {
    return Error{
        .code = ErrorCode::E_CONCURRENT_MOD,
        .message = fmt::format("another server is named {} there; rename it first", kServerName),
        .field = std::string(shape.key)};
  }
  // What the user has added to it, such as an environment, stays.
  for (const auto& [key, wanted] : server_members(shape, *change.command)) {
    const std::string_view value = edit.value({shape.key, kServerName, key});
    if (!value.empty() && json_compact(value) != wanted) {
      edit.replace(value, wanted);
    }
  }
  return {};
}

Result<std::optional<std::string>> change_whole_file(const std::optional<std::string>& text,
                                                     const SettingsChange& change) {
  if (text && !text->contains(mark_of_whole_file(change.client))) {
    if (!change.command) {
      return text;
    }
    return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                 .message =
                     "another file of this name is there, which is not of our making; let "
                     "it call ours, or move it away first"};
  }
  return change.command ? std::optional(whole_file(change.client, change.part, *change.command))
                        : std::nullopt;
}

}  // namespace

bool is_whole_file(SettingsPart part) {
  return part == SettingsPart::kHookScripts || part == SettingsPart::kPlugin ||
         part == SettingsPart::kRules;
}

Result<std::optional<std::string>> changed_settings(const std::optional<std::string>& text,
                                                    const SettingsChange& change) {
  if (!text && !change.command) {
    return std::optional<std::string>();
  }
  if (is_whole_file(change.part)) {
    return change_whole_file(text, change);
  }
  if (change.part == SettingsPart::kTomlServer) {
    return change.command ? with_toml_block(text, server_toml(*change.command))
                          : without_toml_block(*text);
  }
  JsonEdit edit = JsonEdit::new_file();
  if (text) {
    BMAD_TRY_ASSIGN(edit, JsonEdit::read(*text));
  }
  BMAD_TRY(change.part == SettingsPart::kJsonServer ? change_server(edit, change)
                                                    : change_hooks(edit, change));
  std::optional<std::string> result = edit.result();
  if (result) {
    BMAD_TRY(JsonEdit::read(*result));  // A mistake of ours must not cost the user a file.
  }
  return result;
}

std::string settings_to_paste(const SettingsChange& change) {
  if (!change.command) {
    return {};
  }
  if (change.part == SettingsPart::kTomlServer) {
    return server_toml(*change.command);
  }
  const Result<std::optional<std::string>> whole = changed_settings(std::nullopt, change);
  return whole && *whole ? **whole : std::string();
}

HookHandlers hook_handlers(std::string_view entry, const ClientFacts& client, SettingsPart part) {
  HookHandlers handlers;
  const ParsedJson value(entry);
  const auto take = [&](JsonValue handler) {
    if (std::string words = our_hook_command(handler, client); !words.empty()) {
      handlers.words = handlers.ours.empty() ? std::move(words) : std::move(handlers.words);
      handlers.ours.push_back(handlers.all);
    }
    ++handlers.all;
  };
  if (value && part == SettingsPart::kFlatHooks) {
    take(*value);
  }
  const JsonValue listed = part == SettingsPart::kFlatHooks ? JsonValue() : value["hooks"];
  for (const JsonValue handler : listed.elements()) {
    take(handler);
  }
  return handlers;
}

std::string our_server_command(std::string_view server) {
  const ParsedJson value(server);
  const JsonValue command = value["command"];
  std::vector<std::string_view> words;
  if (command.is_string()) {
    words.push_back(command.string());
  }
  for (const JsonValue list : {command, value["args"]}) {
    for (const JsonValue word : list.elements()) {
      words.push_back(word.string());
    }
  }
  return !words.empty() && is_own_program(words.front()) ? fmt::format("{}", fmt::join(words, " "))
                                                         : std::string();
}

namespace {

constexpr std::string_view kBegin =
    "# bmad-mem begin (`bmad-mem uninstall codex` removes this block)\n";
constexpr std::string_view kEnd = "# bmad-mem end\n";

/// Whether our server is in this file. Errors: it is no TOML.
Result<bool> has_server(std::string_view text) {
  try {
    const toml::table file = toml::parse(text);
    return file["mcp_servers"][kServerName].is_table();
  } catch (const toml::parse_error& error) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = fmt::format("the file is no TOML: {}", error.description()),
                 .line = error.source().begin.line,
                 .column = error.source().begin.column};
  }
}

/// The text without our block, if there is one.
std::string cut_block(const std::string& text) {
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = begin == std::string::npos ? begin : text.find(kEnd, begin);
  if (end == std::string::npos) {
    return text;
  }
  const std::size_t newline = begin > 0 && text[begin - 1] == '\n' ? 1 : 0;
  return text.substr(0, begin - newline) + text.substr(end + kEnd.size());
}

}  // namespace

Result<std::optional<std::string>> with_toml_block(const std::optional<std::string>& text,
                                                   const std::string& table) {
  const std::string block = fmt::format("{}{}{}", kBegin, table, kEnd);
  if (text && text->contains(block)) {
    BMAD_TRY(has_server(*text));
    return text;
  }
  const std::string before = text ? cut_block(*text) : std::string();
  BMAD_TRY_ASSIGN(const bool is_taken, has_server(before));
  if (is_taken) {
    return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                 .message = fmt::format("the file has a table mcp_servers.{} already, which is not "
                                        "of our making; remove or rename it first",
                                        kServerName),
                 .field = "mcp_servers"};
  }
  std::string after = before + (text ? "\n" : "") + block;
  BMAD_TRY_ASSIGN(const bool is_there, has_server(after));
  if (!is_there) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "a table added at the end of this file would not be read as one",
                 .field = "mcp_servers"};
  }
  return std::optional(std::move(after));
}

Result<std::optional<std::string>> without_toml_block(const std::string& text) {
  BMAD_TRY(has_server(text));
  std::string without = cut_block(text);
  return without.empty() && text.starts_with(kBegin) ? std::nullopt
                                                     : std::optional(std::move(without));
}

}  // namespace bmad_mem::cli
