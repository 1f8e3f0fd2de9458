#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/edit_distance.hpp"
#include "config_table.hpp"

namespace bmad_mem {
namespace {

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
  std::vector<std::string_view> keys;
  for (const Setting& setting : config_settings()) {
    if (has_effect(setting)) {
      keys.push_back(setting.key);
    }
  }
  return keys;
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

const Setting* find_setting(std::string_view key) {
  const std::span<const Setting> settings = config_settings();
  const auto found = std::ranges::find(settings, key, &Setting::key);
  return found == settings.end() ? nullptr : &*found;
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
