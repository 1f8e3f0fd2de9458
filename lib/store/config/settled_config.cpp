// settled_config.cpp - the settings in effect where strangers may have written config.json.
#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "config_table.hpp"

namespace bmad_mem {
namespace {

// Makes `held` as strict as `written` is.

void take_stricter(const Setting& setting, bool& held, bool written) {
  held = written == setting.strict_flag ? written : held;
}

void take_stricter(const Setting& setting, std::string& held, const std::string& written) {
  const auto strict = [&](const std::string& choice) {
    return std::ranges::find(setting.choices, choice);
  };
  held = strict(written) < strict(held) ? written : held;
}

void take_stricter(const Setting& /*setting*/, std::vector<std::string>& held,
                   const std::vector<std::string>& written) {
  for (const std::string& each : written) {
    if (std::ranges::find(held, each) == held.end()) {
      held.push_back(each);
    }
  }
}

/// No other kind of value has an order.
template <typename T>
void take_stricter(const Setting& /*setting*/, T& /*held*/, const T& /*written*/) {}

}  // namespace

Config settled_config(Config trusted, Config written, std::vector<WaitingSetting>& waiting,
                      std::vector<std::string>& stricter) {
  for (const Setting& setting : config_settings()) {
    const std::string before = value_text(setting, trusted);
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), NoEffect>) {
            if (setting.strangers == FromStrangers::kFreely) {
              member(trusted) = member(written);
            } else if (setting.strangers == FromStrangers::kStricter) {
              take_stricter(setting, member(trusted), member(written));
            }
          }
        },
        setting.member);
    const std::string now = value_text(setting, trusted);
    if (setting.strangers == FromStrangers::kStricter && now != before) {
      stricter.emplace_back(setting.key);
    }
    if (std::string value = value_text(setting, written); value != now) {
      waiting.push_back({.key = std::string(setting.key), .value = std::move(value)});
    }
  }
  return trusted;
}

}  // namespace bmad_mem
