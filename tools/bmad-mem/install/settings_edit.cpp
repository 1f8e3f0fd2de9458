#include "install/settings_edit.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "install/json_edit.hpp"
#include "install/toml_edit.hpp"
#include "json_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kProgram = "bmad-mem";

std::string_view name_of(InstallClient client) {
  return install_client_names()[static_cast<std::size_t>(client)];
}

/// Whether `word` names our program, by whatever path. A path in quotes is one as well.
bool is_our_program(std::string_view word) {
  while (!word.empty() && (word.back() == '\'' || word.back() == '"')) {
    word.remove_suffix(1);
  }
  const std::size_t slash = word.find_last_of("/\\'\"");
  return (slash == std::string_view::npos ? word : word.substr(slash + 1)) == kProgram;
}

/// Whether a handler calls `bmad-mem hook CLIENT`, in either form that Claude Code takes.
bool is_our_handler(JsonValue handler, InstallClient client) {
  const std::string_view command = handler["command"].string();
  if (handler["args"].is_array()) {
    std::vector<std::string_view> words;
    for (const JsonValue word : handler["args"].elements()) {
      words.push_back(word.string());
    }
    return is_our_program(command) && words.size() >= 2 && words[0] == "hook" &&
           words[1] == name_of(client);
  }
  const std::string call = fmt::format(" hook {}", name_of(client));
  const std::size_t at = command.find(call);
  const std::size_t end = at + call.size();
  return at != std::string_view::npos && is_our_program(command.substr(0, at)) &&
         (end == command.size() || command[end] == ' ');
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
std::string without_ours(std::string_view entry, InstallClient client) {
  Result<JsonEdit> edit = JsonEdit::read(std::string(entry));
  if (!edit) {
    return std::string(entry);
  }
  for (std::size_t i = 0; i < edit->elements({"hooks"}).size();) {
    const TextSpan span = edit->elements({"hooks"})[i];
    JsonParser parser;
    const Result<JsonValue> handler = parser.parse(span.of(edit->text()));
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
    const HandlerCount count = count_handlers(span.of(edit.text()), change);
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
    ours += count_handlers(span.of(edit.text()), change).ours;
    same += json_compact(span.of(edit.text())) == hook.json ? 1 : 0;
  }
  return same == 1 && ours == 1;
}

/// Our hooks can go only where there are objects and arrays, or nothing.
Status check_shape(const JsonEdit& edit, const std::vector<InstalledHook>& hooks) {
  const auto is = [&](const JsonPath& path, char bracket) {
    const auto span = edit.find(path);
    return !span || span->of(edit.text()).front() == bracket;
  };
  bool good = is({"hooks"}, '{');
  for (const InstalledHook& hook : hooks) {
    good = good && is({"hooks", hook.event}, '[');
  }
  return good ? Status()
              : Status(Error{.code = ErrorCode::E_INVALID_FORMAT,
                             .message = "what stands there is not laid out as hooks are: events "
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
      change.command ? hooks_of(change.client, *change.command) : std::vector<InstalledHook>();
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
  if (change.part == SettingsPart::kFlatHooks) {
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
  const JsonPath servers = {servers_key(change.client)};
  const JsonPath path = {servers.front(), kServerName};
  const auto there = edit.find(path);
  const auto command = edit.find({servers.front(), kServerName, "command"});
  const auto list = edit.find(servers);
  if (list && list->of(edit.text()).front() != '{') {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "what stands there is no object of servers",
                 .field = std::string(servers.front())};
  }
  JsonParser parser;
  bool is_ours = false;
  if (there) {
    const Result<JsonValue> value = parser.parse(there->of(edit.text()));
    is_ours = value && is_our_program((*value)["command"].string());
  }
  if (!change.command) {
    if (is_ours) {
      edit.remove_member(servers, kServerName);
    }
    return {};
  }
  const std::string wanted = server_json(change.client, *change.command);
  if (!there) {
    edit.add_member(servers, kServerName, wanted);
    return {};
  }
  if (!is_ours) {
    return Error{
        .code = ErrorCode::E_CONCURRENT_MOD,
        .message = fmt::format("another server is named {} there; rename it first", kServerName),
        .field = std::string(servers.front())};
  }
  // What the user has added to it, such as an environment, stays.
  edit.replace(*command, json_quoted(change.command->program));
  if (const auto args = edit.find({servers.front(), kServerName, "args"});
      args && json_compact(args->of(edit.text())) != server_args_json(*change.command)) {
    edit.replace(*args, server_args_json(*change.command));
  }
  return {};
}

}  // namespace

Result<std::optional<std::string>> changed_settings(const std::optional<std::string>& text,
                                                    const SettingsChange& change) {
  if (!text && !change.command) {
    return std::optional<std::string>();
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
  if (edit.is_ours_and_empty()) {
    return std::optional<std::string>();
  }
  // A mistake of ours must not cost the user a file.
  BMAD_TRY(JsonEdit::read(edit.text()));
  return std::optional(edit.text());
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

}  // namespace bmad_mem::cli
