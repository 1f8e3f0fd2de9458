// config_table.hpp - every setting: its key, where it lives in Config, and what is allowed; the
// keys that have no effect; and keys and values as people write them.
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

/// Keys that the program writes along with others.
inline constexpr std::string_view kDefaultsKey = "defaults_version";
inline constexpr std::string_view kOnPurposeKey = "set_on_purpose";

template <typename T>
using ConfigMember = T& (*)(Config&);

/// A key of the specification that nothing reads, because what it would choose never varies here.
/// Known, so that a file that says what happens anyway is read without a word, but never written.
struct NoEffect {
  std::string_view usual;   ///< What happens anyway, as JSON text.
  std::string_view reason;  ///< Why; part of a sentence.
};

/// What the config.json of strangers may do with a setting: one that came with git, or was changed
/// by others since the user trusted it.
enum class FromStrangers : std::uint8_t {
  kNothing,   ///< The value that the user trusted holds, else the default.
  kStricter,  ///< It may only protect more: a flag by `strict_flag`, a choice by an earlier one, a
              ///< list by more of it.
  kFreely,    ///< It says nothing to people and agents.
};

struct Setting {
  /// Below "memory_config": "storage.compression.enabled".
  std::string_view key;
  std::variant<ConfigMember<bool>, ConfigMember<std::int64_t>, ConfigMember<double>,
               ConfigMember<std::string>, ConfigMember<std::vector<std::string>>,
               ConfigMember<std::vector<RedactionPattern>>, ConfigMember<std::vector<LearnRule>>,
               ConfigMember<ProjectRetention>, NoEffect>
      member;

  /// Both ends are allowed. Numbers only.
  double min = 0;
  double max = 0;
  /// Strings only: what is allowed; when all are empty, any text but the empty one, and that as
  /// well if may_be_empty.
  std::array<std::string_view, 3> choices = {};
  bool may_be_empty = false;
  FromStrangers strangers = FromStrangers::kNothing;
  bool strict_flag = false;
};

/// Whether it is for people to set.
inline bool has_effect(const Setting& setting) {
  return !std::holds_alternative<NoEffect>(setting.member) && setting.key != kDefaultsKey &&
         setting.key != kOnPurposeKey;
}

/// The settings in the order in which they are written; those of one object stand together.
std::span<const Setting> config_settings();

/// The default of `key` in that version of the defaults, as JSON on one line; empty when it is
/// still today's, or the version is newer than kDefaultsVersion.
std::string_view former_default(std::string_view key, std::int64_t version);

// The keys of config.json as people write them, and which one they meant.
//
// A key here is what stands below "memory_config": "storage.compression.enabled". A section is the
// key of an object: "storage.compression"; the outermost one is "".

/// The setting of that key; nullptr when there is none.
const Setting* find_setting(std::string_view key);

bool is_section(std::string_view key);

/// "storage.format" of "storage" and "format"; "format" of "" and "format".
std::string joined_key(std::string_view section, std::string_view name);

/// "memory_config.storage.format" of "storage.format".
std::string full_key(std::string_view key);

/// What is meant by the unknown `name` in `section`: a neighbour's name, or the full key of what
/// belongs elsewhere. Empty when nothing is near.
std::string suggested_key(std::string_view section, std::string_view name);

/// The same for a `name` beside "memory_config".
std::string suggested_outer_key(std::string_view name);

/// The key of a setting that is spelt most like `key`, or else ends in its last name; empty when
/// none is near.
std::string_view nearest_setting(std::string_view key);

/// What is allowed for `setting`, to follow "must be": "a whole number from 0 to 100".
std::string allowed_values(const Setting& setting);

/// schemas/config.schema.json.
std::string_view config_schema();

// How values of config.json are written, in the file and in messages.

/// Whether `number` is a whole one, small enough for a double to tell it from its neighbours.
bool is_whole_number(double number);

/// The value of `setting` in `config` as JSON on one line; empty for one without effect.
std::string value_text(const Setting& setting, Config& config);

/// As people write it: 10, not 10.0. `number` must be finite.
std::string number_text(double number);

}  // namespace bmad_mem
