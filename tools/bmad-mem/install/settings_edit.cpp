#include "install/settings_edit.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "cli/agents.hpp"
#include "cli/json_text.hpp"
#include "install/json_edit.hpp"
#include "install/toml_block.hpp"

namespace bmad_mem::cli {
namespace {

bool is_our_handler(JsonValue handler, const ClientFacts& client) {
  return !our_hook_command(handler, client).empty();
}

/// How many handlers of a hook's entry there are, and how many are ours.
struct HandlerCount {
  std::size_t all = 0;
  std::size_t ours = 0;
};

HandlerCount count_handlers(std::string_view entry, const SettingsChange& change) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(entry);
  HandlerCount count;
  if (!value) {
    return count;
  }
  if (change.part == SettingsPart::kFlatHooks) {
    return {.all = 1, .ours = is_our_handler(*value, change.client) ? 1U : 0U};
  }
  const JsonValue handlers = (*value)["hooks"];
  for (const JsonValue handler : handlers.elements()) {
    ++count.all;
    count.ours += is_our_handler(handler, change.client) ? 1 : 0;
  }
  return count;
}

/// Takes our handlers out of an entry that has others, too.
std::string without_ours(std::string_view entry, const ClientFacts& client) {
  Result<JsonEdit> edit = JsonEdit::read(std::string(entry));
  if (!edit) {
    return std::string(entry);
  }
  for (std::size_t i = 0; i < edit->elements({"hooks"}).size();) {
    const TextSpan span = edit->elements({"hooks"})[i];
    JsonParser parser;
    const Result<JsonValue> handler = parser.parse(span.of(edit->plain()));
    if (handler && is_our_handler(*handler, client)) {
      edit->remove_element({"hooks"}, span);
    } else {
      ++i;
    }
  }
  return edit->text();
}

void remove_hooks(JsonEdit& edit, const std::string& event, const SettingsChange& change) {
  const JsonPath path = {"hooks", event};
  for (std::size_t i = 0; i < edit.elements(path).size();) {
    const TextSpan span = edit.elements(path)[i];
    const HandlerCount count = count_handlers(span.of(edit.plain()), change);
    if (count.ours == 0) {
      ++i;
    } else if (count.ours == count.all) {
      edit.remove_element(path, span);
    } else {
      edit.replace(span, without_ours(span.of(edit.text()), change.client));
      ++i;
    }
  }
}

/// Whether exactly this entry is there, and nothing else of ours.
bool is_there(const JsonEdit& edit, const InstalledHook& hook, const SettingsChange& change) {
  std::size_t same = 0;
  std::size_t ours = 0;
  for (const TextSpan span : edit.elements({"hooks", hook.event})) {
    ours += count_handlers(span.of(edit.plain()), change).ours;
    same += json_compact(span.of(edit.plain())) == hook.json ? 1 : 0;
  }
  return same == 1 && ours == 1;
}

/// Our hooks can go only where there are objects and arrays, or nothing.
Status check_shape(const JsonEdit& edit, const std::vector<InstalledHook>& hooks) {
  const auto is = [&](const JsonPath& path, char bracket) {
    const auto span = edit.find(path);
    return !span || span->of(edit.plain()).front() == bracket;
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
  const bool had_hooks = edit.find({"hooks"}).has_value();
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
    if (change.command && !had_hooks && !edit.find({"version"})) {
      edit.add_member({}, "version", "1");
    } else if (!change.command && version_is_behind && !edit.find({"hooks"})) {
      edit.remove_member({}, "version");
    }
  }
  return {};
}

Status change_server(JsonEdit& edit, const SettingsChange& change) {
  const ServerShape& shape = change.client.server;
  const JsonPath servers = {shape.key};
  const auto there = edit.find({shape.key, kServerName});
  const auto list = edit.find(servers);
  if (list && list->of(edit.plain()).front() != '{') {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "the value there is not an object of servers",
                 .field = std::string(shape.key)};
  }
  JsonParser parser;
  bool is_ours = false;
  if (there) {
    const Result<JsonValue> value = parser.parse(there->of(edit.plain()));
    is_ours = value && !our_server_command(*value).empty();
  }
  if (!change.command) {
    if (is_ours) {
      edit.remove_member(servers, kServerName);
    }
    return {};
  }
  if (!there) {
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
  const auto set = [&](std::string_view key, const std::string& wanted) {
    const auto value = edit.find({shape.key, kServerName, key});
    if (value && !wanted.empty() && json_compact(value->of(edit.plain())) != wanted) {
      edit.replace(*value, wanted);
    }
  };
  set("command", server_command_json(shape, *change.command));
  set("args", server_args_json(shape, *change.command));
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

bool is_whole_file(SettingsPart part) {
  return part == SettingsPart::kHookScripts || part == SettingsPart::kPlugin ||
         part == SettingsPart::kRules;
}

}  // namespace

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

std::string our_server_command(JsonValue server) {
  const JsonValue command = server["command"];
  std::vector<std::string_view> words;
  if (command.is_string()) {
    words.push_back(command.string());
  }
  for (const JsonValue list : {command, server["args"]}) {
    for (const JsonValue word : list.elements()) {
      words.push_back(word.string());
    }
  }
  return !words.empty() && is_own_program(words.front()) ? fmt::format("{}", fmt::join(words, " "))
                                                         : std::string();
}

}  // namespace bmad_mem::cli
