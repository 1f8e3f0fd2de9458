// config_list.cpp - the settings for people: value, default, what is allowed, what it means.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "config_table.hpp"

namespace bmad_mem {
namespace {

/// In the order of FromStrangers.
constexpr std::array<std::string_view, 3> kFromStrangers = {"nothing", "stricter", "freely"};

/// The description of `key` in the schema.
std::string about_key(JsonValue schema, std::string_view key) {
  JsonValue place = schema["properties"][kConfigRoot];
  while (!key.empty()) {
    const std::string_view name = key.substr(0, key.find('.'));
    key.remove_prefix(std::min(key.size(), name.size() + 1));
    place = place["properties"][name];
  }
  return std::string(place["description"].string());
}

}  // namespace

std::vector<SettingInfo> list_config(Config config) {
  std::vector<SettingInfo> entries;
  Config defaults;
  defaults.compaction.trigger_threshold_mb = config.usual_trigger_mb();
  const ParsedJson schema(config_schema());
  for (const Setting& setting : config_settings()) {
    if (has_effect(setting)) {
      SettingInfo& entry = entries.emplace_back();
      entry = {.key = std::string(setting.key),
               .value = value_text(setting, config),
               .fallback = value_text(setting, defaults),
               .allowed = allowed_values(setting),
               .about = schema ? about_key(*schema, setting.key) : std::string(),
               .set_by = "config.json",
               .from_strangers = kFromStrangers[static_cast<std::size_t>(setting.strangers)]};
      if (entry.is_default() && std::ranges::count(config.set_on_purpose, entry.key) == 0) {
        entry.set_by = "program";
      }
    }
  }
  return entries;
}

Result<std::string> known_config_key(std::string_view written) {
  std::string_view key = written;
  if (key.starts_with(kConfigRoot) && key.substr(kConfigRoot.size()).starts_with('.')) {
    key.remove_prefix(kConfigRoot.size() + 1);
  }
  const Setting* const setting = find_setting(key);
  const bool is_known = setting != nullptr ? has_effect(*setting) : !key.empty() && is_section(key);
  if (is_known) {
    return std::string(key);
  }
  Error error = invalid_query("key", {});
  if (setting != nullptr) {
    const auto* const nothing = std::get_if<NoEffect>(&setting->member);
    error.message = nothing == nullptr
                        ? fmt::format("{} is written by bmad-mem with other settings", key)
                        : fmt::format("{} has no effect: {}", key, nothing->reason);
    return error;
  }
  const std::string_view nearest = nearest_setting(key);
  error.code = ErrorCode::E_KEY_NOT_FOUND;
  error.message = fmt::format("{} is not a known key{}; `bmad-mem config list` shows all", written,
                              nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest));
  return error;
}

}  // namespace bmad_mem
