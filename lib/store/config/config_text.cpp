// config_text.cpp - writes settings for the file and for people, and finds the key that is meant.
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "config_table.hpp"
#include "store/config.hpp"

namespace bmad_mem {
namespace {

/// "storage" of "storage.format"; "" of "version".
std::string_view section_of(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

/// The JSON text of one member of the config; empty for what is not written.
struct ValueText {
  Config& config;

  std::string operator()(ConfigMember<bool> member) const {
    return member(config) ? "true" : "false";
  }
  std::string operator()(ConfigMember<std::int64_t> member) const {
    return std::to_string(member(config));
  }
  std::string operator()(ConfigMember<double> member) const { return number_text(member(config)); }
  std::string operator()(ConfigMember<std::string> member) const {
    return json_quoted(member(config));
  }
  std::string operator()(ConfigMember<std::vector<std::string>> member) const {
    return list_json(member(config));
  }
  std::string operator()(ConfigMember<std::vector<LearnRule>> member) const {
    JsonWriter writer;
    writer.begin_array();
    for (const LearnRule& rule : member(config)) {
      writer.begin_object().member("agent", rule.agent).member("match", rule.match);
      writer.member("category", rule.category).member("key", rule.key);
      writer.member("value", rule.value).member("confidence", rule.confidence).end_object();
    }
    return writer.end_array().take();
  }
  std::string operator()(ConfigMember<ProjectRetention> member) const {
    JsonWriter writer;
    writer.begin_object();
    for (const auto& [project, days] : member(config)) {
      writer.key(project).begin_object();
      for (const EntryType type : kEntryTypes) {
        writer.member(entry_type_name(type), days.of(type));
      }
      writer.end_object();
    }
    return writer.end_object().take();
  }
  std::string operator()(const NoEffect& /*unused*/) const { return {}; }
  std::string operator()(ConfigMember<std::vector<RedactionPattern>> member) const {
    JsonWriter writer;
    writer.begin_array();
    for (const RedactionPattern& pattern : member(config)) {
      writer.begin_object()
          .member("type", pattern.type)
          .member("regex", pattern.regex)
          .end_object();
    }
    return writer.end_array().take();
  }
};

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

/// The one of `known` that is nearest to `name`; empty when more than a third would have to change.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  const auto third = [&](auto each) { return std::max(name.size(), each.size()) / 3; };
  return nearest_of(name, known, third);
}

/// What is behind "`section`." in `key`; empty when `key` isn't in the section.
std::string_view rest_of_key(std::string_view key, std::string_view section) {
  if (section.empty()) {
    return key;
  }
  const bool is_inside =
      key.size() > section.size() && key.starts_with(section) && key[section.size()] == '.';
  return is_inside ? key.substr(section.size() + 1) : std::string_view();
}

std::vector<std::string_view> keys_with_effect() {
  return mapped_if(config_settings(), has_effect, &Setting::key);
}

/// The key of the setting whose last name is `name`; empty when there is none.
std::string_view key_that_ends(std::string_view name) {
  const std::vector<std::string_view> keys = keys_with_effect();
  const auto found = std::ranges::find(
      keys, name, [](std::string_view key) { return key.substr(key.rfind('.') + 1); });
  return found == keys.end() ? std::string_view() : *found;
}

/// The full key of the setting or outer section called `name`; empty when there is none.
std::string elsewhere(std::string_view name) {
  const std::string_view key = is_section(name) ? name : key_that_ends(name);
  return key.empty() ? std::string() : full_key(key);
}

}  // namespace

bool is_whole_number(double number) {
  constexpr double kExactMax = 9e15;  // Just below 2^53.
  return std::trunc(number) == number && std::abs(number) < kExactMax;
}

std::string number_text(double number) {
  assert(std::isfinite(number));
  return is_whole_number(number) ? std::to_string(static_cast<std::int64_t>(number))
                                 : json_number(number);
}

std::string value_text(const Setting& setting, Config& config) {
  return std::visit(ValueText{config}, setting.member);
}

std::string config_text(Config config) {
  JsonWriter json;
  json.begin_object().key(kConfigRoot).begin_object();
  std::string_view open;  // The section whose object is open. Points into the table.
  const auto enter = [&](std::string_view section) {
    while (section != open && !section.starts_with(joined_key(open, ""))) {
      json.end_object();
      open = section_of(open);
    }
    while (section != open) {
      const std::size_t start = open.empty() ? 0 : open.size() + 1;
      assert(start < section.size());
      const std::size_t end = std::min(section.find('.', start), section.size());
      json.key(section.substr(start, end - start)).begin_object();
      open = section.substr(0, end);
    }
  };
  for (const Setting& setting : config_settings()) {
    if (const std::string value = value_text(setting, config); !value.empty()) {
      enter(section_of(setting.key));
      json.key(setting.key.substr(setting.key.rfind('.') + 1)).raw(value);  // npos + 1 is 0.
    }
  }
  enter("");
  return json_pretty(json.end_object().end_object().take()) + '\n';
}

std::string default_config_text() { return config_text({}); }

// The settings for people: value, default, what is allowed, what it means.

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

const Setting* find_setting(std::string_view key) {
  return find_by(config_settings(), key, &Setting::key);
}

bool is_section(std::string_view key) {
  return std::ranges::any_of(config_settings(), [&](const Setting& setting) {
    return !rest_of_key(setting.key, key).empty();
  });
}

std::string joined_key(std::string_view section, std::string_view name) {
  std::string key(section);  // Joined by hand: each start reads the settings.
  key += section.empty() ? "" : ".";
  key += name;
  return key;
}

std::string full_key(std::string_view key) { return fmt::format("{}.{}", kConfigRoot, key); }

std::string suggested_key(std::string_view section, std::string_view name) {
  std::vector<std::string_view> neighbours;
  for (const std::string_view key : keys_with_effect()) {
    const std::string_view rest = rest_of_key(key, section);
    if (!rest.empty()) {
      neighbours.push_back(rest.substr(0, rest.find('.')));
    }
  }
  const std::string_view nearest = nearest_name(name, neighbours);
  return nearest.empty() ? elsewhere(name) : std::string(nearest);
}

std::string_view nearest_setting(std::string_view key) {
  const std::string_view nearest = nearest_name(key, keys_with_effect());
  return nearest.empty() ? key_that_ends(key.substr(key.rfind('.') + 1)) : nearest;
}

std::string suggested_outer_key(std::string_view name) {
  const std::string_view nearest = nearest_name(name, {&kConfigRoot, 1});
  return nearest.empty() ? elsewhere(name) : std::string(nearest);
}

}  // namespace bmad_mem
