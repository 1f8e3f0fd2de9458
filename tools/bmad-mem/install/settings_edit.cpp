#include "install/settings_edit.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "cli/entry_options.hpp"
#include "cli/json_text.hpp"
#include "exchange/files.hpp"
#include "install/json_edit.hpp"

namespace bmad_mem::cli {
namespace {

/// Whether `word` names our program, by whatever path. A path in quotes is one as well.
bool is_our_program(std::string_view word) {
  while (!word.empty() && (word.back() == '\'' || word.back() == '"')) {
    word.remove_suffix(1);
  }
  const std::size_t slash = word.find_last_of("/\\'\"");
  return (slash == std::string_view::npos ? word : word.substr(slash + 1)) == kServerName;
}

/// Whether a handler calls `bmad-mem hook CLIENT`, in either form that Claude Code takes.
bool is_our_handler(JsonValue handler, const InstallClient& client) {
  const std::string_view command = handler["command"].string();
  if (handler["args"].is_array()) {
    std::string words;
    for (const JsonValue word : handler["args"].elements()) {
      words.append(word.string()) += '\n';
    }
    return is_our_program(command) && words.starts_with(fmt::format("hook\n{}\n", client.name));
  }
  const std::string call = fmt::format(" hook {}", client.name);
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
std::string without_ours(std::string_view entry, const InstallClient& client) {
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
  const JsonPath servers = {change.client.servers_key};
  const JsonPath path = {servers.front(), kServerName};
  const auto there = edit.find(path);
  const auto command = edit.find({servers.front(), kServerName, "command"});
  const auto list = edit.find(servers);
  if (list && list->of(edit.text()).front() != '{') {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "the value there is not an object of servers",
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

// TOML: a block of our own at the end.

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

/// The text without our block, and whether there was one.
struct Without {
  std::string text;
  bool had_block = false;
};

Without cut_block(const std::string& text) {
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = begin == std::string::npos ? begin : text.find(kEnd, begin);
  if (end == std::string::npos) {
    return {.text = text};
  }
  const std::size_t newline = begin > 0 && text[begin - 1] == '\n' ? 1 : 0;
  return {.text = text.substr(0, begin - newline) + text.substr(end + kEnd.size()),
          .had_block = true};
}

// Files.

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The nearest folder above `path` that is there, behind symbolic links.
std::string nearest_folder(std::string path) {
  do {
    path = folder_of(path);
  } while (path != "/" && real_path_of(path).empty());
  return real_path_of(path);
}

bool is_inside(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" || path.starts_with(folder + '/');
}

Result<std::string> find_target(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return path;
    }
    return file_error("look at the file", path, errno);
  }
  std::string target = real_path_of(path);
  if (target.empty()) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = "it is a symbolic link that leads nowhere; remove it first",
                 .path = path};
  }
  if (::stat(target.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) {
    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "it is no regular file", .path = path};
  }
  return target;
}

void sync_folder(const std::string& folder) {
  if (const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); opened >= 0) {
    static_cast<void>(::fsync(opened));
    ::close(opened);
  }
}

/// Gives a new file the mode and owner of the one that it replaces.
Status take_over(int file, const std::string& old, const std::string& path) {
  struct stat found{};
  if (::stat(old.c_str(), &found) != 0) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return ::fchmod(file, 0666U & ~mask) == 0 ? Status() : Status(file_error("write", path, errno));
  }
  // Another owner than ours only root can set, and only for root it is another one.
  if (found.st_uid != ::geteuid() && ::fchown(file, found.st_uid, found.st_gid) != 0) {
    return file_error("keep the owner of", path, errno);
  }
  return ::fchmod(file, found.st_mode & 07777U) == 0 ? Status()
                                                     : Status(file_error("write", path, errno));
}

Status replace_target(const std::string& target, std::string_view text) {
  std::error_code problem;
  std::filesystem::create_directories(folder_of(target), problem);
  if (problem) {
    return file_error("make the folder", folder_of(target), problem.value());
  }
  BMAD_TRY_ASSIGN(FileReplacement fresh, FileReplacement::begin(target));
  BMAD_TRY(take_over(fresh.descriptor(), target, target));
  BMAD_TRY(fresh.write(text));
  return fresh.commit(/*over=*/true);
}

Result<std::optional<std::string>> read_target(const std::string& target) {
  struct stat found{};
  if (::stat(target.c_str(), &found) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<std::string>();
  }
  BMAD_TRY_ASSIGN(std::string text, read_whole_file(target));
  return std::optional(std::move(text));
}

}  // namespace

Result<std::optional<std::string>> with_toml_block(const std::optional<std::string>& text,
                                                   const std::string& table) {
  const std::string block = fmt::format("{}{}{}", kBegin, table, kEnd);
  if (text && text->contains(block)) {
    BMAD_TRY(has_server(*text));
    return text;
  }
  const std::string before = text ? cut_block(*text).text : std::string();
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
  Without without = cut_block(text);
  if (without.had_block && without.text.empty() && text.starts_with(kBegin)) {
    return std::optional<std::string>();
  }
  return std::optional(std::move(without.text));
}

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

Result<SettingsText> read_settings(const std::string& path, const std::string& inside) {
  BMAD_TRY_ASSIGN(std::string target, find_target(path));
  if (!inside.empty() && (!is_inside(nearest_folder(target), real_path_of(inside)))) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message = fmt::format("a symbolic link leads out of the project, to {}; nothing "
                                        "is written there",
                                        nearest_folder(target)),
                 .path = path};
  }
  SettingsText read{.path = path, .target = std::move(target), .text = {}};
  BMAD_TRY_ASSIGN(read.text, read_target(read.target));
  return read;
}

Status write_settings(const SettingsText& read, const std::optional<std::string>& text) {
  BMAD_TRY_ASSIGN(const std::optional<std::string> now, read_target(read.target));
  if (now != read.text) {
    return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                 .message = "another process changed the file; try again",
                 .path = read.path};
  }
  if (text) {
    return replace_target(read.target, *text);
  }
  if (now && ::unlink(read.target.c_str()) != 0) {
    return file_error("remove", read.path, errno);
  }
  sync_folder(folder_of(read.target));
  return {};
}

}  // namespace bmad_mem::cli
