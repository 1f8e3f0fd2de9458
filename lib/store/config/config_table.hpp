// config_table.hpp - every setting: its key, where it lives in Config, and what is allowed; and the
// keys that have no effect.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "store/config.hpp"

namespace bmad_mem {

/// The member of the outermost object that holds everything.
inline constexpr std::string_view kConfigRoot = "memory_config";

template <typename T>
using ConfigMember = T& (*)(Config&);

/// A key of the specification that nothing reads, because what it would choose never varies here.
/// Known, so that a file that says what happens anyway is read without a word, but never written.
struct NoEffect {
  std::string_view usual;   ///< What happens anyway, as JSON text.
  std::string_view reason;  ///< Why; part of a sentence.
};

struct Setting {
  /// Below "memory_config": "storage.compression.enabled".
  std::string_view key;
  std::variant<ConfigMember<bool>, ConfigMember<std::int64_t>, ConfigMember<double>,
               ConfigMember<std::string>, ConfigMember<std::vector<std::string>>,
               ConfigMember<std::vector<RedactionPattern>>, ConfigMember<std::vector<LearnRule>>,
               NoEffect>
      member;

  /// Both ends are allowed. Numbers only.
  double min = 0;
  double max = 0;
  /// Strings only: what is allowed; when all are empty, any text but the empty one.
  std::array<std::string_view, 3> choices = {};
};

inline bool has_effect(const Setting& setting) {
  return !std::holds_alternative<NoEffect>(setting.member);
}

/// The settings in the order in which they are written; those of one object stand together.
std::span<const Setting> config_settings();

}  // namespace bmad_mem
