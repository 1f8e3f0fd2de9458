// config.cpp - the settings of a memory: listed, read, changed.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/settings.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "http/endpoint.hpp"
#include "install/json_edit.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// What a page may switch: it opens nothing to agents, and any person understands it.
constexpr std::string_view kSettingOfPages = "context.inject";

/// The memory, also where its config.json has a slip: these commands are how one mends it.
Result<MemoryManager> open_for_settings(Tool& tool) {
  return tool.open({}, {}, /*tolerate_bad_config=*/true);
}

/// `value` as people read it: a text without its quotes.
std::string shown_value(const std::string& value) {
  if (!value.starts_with('"')) {
    return value;
  }
  const ParsedJson text(value);
  return text ? printable(text->string()) : value;
}

bool is_set(const SettingInfo& setting) { return setting.set_by != "program"; }

/// What people see of a setting beside its members.
RawJson shown_setting(const SettingInfo& setting) {
  return raw_object("value", shown_value(setting.value), "default", shown_value(setting.fallback),
                    "waiting", shown_value(setting.waiting));
}

void print_setting(Tool& tool, const MemoryManager& memory, const SettingInfo& setting) {
  const std::size_t width = tool.columns() == 0 ? 100 : tool.columns();
  const std::string about = fmt::format("{} Allowed: {}.", setting.about, setting.allowed);
  show(tool, "setting", shaped(shape::setting, setting), "file", memory.root() + "/config.json",
       "shown", shown_setting(setting), "lines", wrapped(about, width, "    "));
}

/// `text`, from the command line, as JSON for `setting`. What is no JSON is a text, or a list of
/// it; whether it may be one here, the memory says.
std::string value_from(std::string_view text, const SettingInfo& setting) {
  const bool is_text = setting.fallback.starts_with('"') && !text.starts_with('"');
  if (!is_text && parse_json(text)) {
    return std::string(text);
  }
  const bool is_listed = setting.allowed.starts_with("an array of strings");
  return is_listed ? fmt::format("[{}]", json_quoted(text)) : json_quoted(text);
}

/// An error of the value given has no place: the text that it would have one in isn't written.
Error without_place(Error error, std::string_view key) {
  if (error.code == ErrorCode::E_SCHEMA_INVALID && error.field.ends_with(key)) {
    error.path.clear();
    error.line = 0;
    error.column = 0;
  }
  return error;
}

}  // namespace

Result<ExitStatus> run_config_list(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, open_for_settings(tool));
  BMAD_TRY_ASSIGN(const std::vector<SettingInfo> settings, list_settings(memory));
  bool is_any = false;
  for (const SettingInfo& setting : settings) {
    if (!tool.args().has("changed") || is_set(setting) || !setting.waiting.empty()) {
      print_setting(tool, memory, setting);
      is_any = true;
    }
  }
  if (!is_any) {
    tool.note("no setting is set, so all have the program's defaults");
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_config_get(Tool& tool) {
  const std::string_view key = tool.args().positional(0);
  BMAD_TRY_ASSIGN(MemoryManager memory, open_for_settings(tool));
  BMAD_TRY_ASSIGN(const std::vector<SettingInfo> settings, list_settings(memory, key));
  const bool is_one = settings.size() == 1 && key.ends_with(settings.front().key);
  for (const SettingInfo& setting : settings) {
    show(tool, "setting_value", shaped(shape::setting, setting), "is_one", is_one, "shown",
         shown_setting(setting));
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_config_set(Tool& tool) {
  const Arguments& args = tool.args();
  if (args.has("default") == (args.positionals().size() > 1)) {
    return tool.wrong_usage("give a VALUE, or --default");
  }
  BMAD_TRY_ASSIGN(MemoryManager memory, open_for_settings(tool));
  BMAD_TRY_ASSIGN(const std::vector<SettingInfo> found, list_settings(memory, args.positional(0)));
  const SettingInfo& setting = found.front();
  if (!args.positional(0).ends_with(setting.key)) {
    return bad_value("key", "{} is a group of settings; name one, such as {}",
                     printable(args.positional(0)), setting.key);
  }
  // Removed for its default, which may depend on other settings.
  std::optional<std::string> value;
  if (!args.has("default")) {
    value = value_from(args.positional(1), setting);
  }
  if (Status edited = edit_settings(memory, {{setting.key, value}}, with_setting); !edited) {
    return without_place(edited.error(), setting.key);
  }
  BMAD_TRY_ASSIGN(const std::vector<SettingInfo> now, list_settings(memory, setting.key));
  return show(tool, "setting_set", shaped(shape::setting, now.front()), "was",
              shown_value(setting.value), "shown", shown_setting(now.front()));
}

Result<HttpResponse> http_config_set(ApiContext& context, const EndpointCall& call) {
  const std::string key = call.text("key");
  if (key != kSettingOfPages) {
    return bad_argument("key", fmt::format("cannot be {} here: only {} can be changed; for others, "
                                           "run `bmad-mem config set KEY VALUE`",
                                           printable(key), kSettingOfPages));
  }
  BMAD_TRY(context.memory.check_allowed("config set", /*changes=*/true));
  // The switch is a person's in the pages; a program with their token can print briefings or none.
  const ActingAs person(Origin::kPerson);
  // Other threads read the settings of `context.memory`.
  BMAD_TRY_ASSIGN(MemoryManager memory,
                  MemoryManager::open({.root = std::string(context.memory.root()),
                                       .state_folder = trusting_folder()}));
  const std::string value = call.boolean("value") ? "true" : "false";
  BMAD_TRY(edit_settings(memory, {{key, value}}, with_setting));
  return http_settings(context, call);
}

}  // namespace bmad_mem::cli
