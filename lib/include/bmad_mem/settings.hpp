// settings.hpp - the settings that a memory works with: config.json, read and changed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

class MemoryManager;

/// {"memory_config":{…}} with every key: what config.json says, and the defaults of what it leaves
/// out. JSON, laid out for people.
std::string effective_settings(const MemoryManager& memory);

/// A setting, for people.
struct SettingInfo {
  std::string key;       ///< Below memory_config: "context.max_tokens".
  std::string value;     ///< In effect, as JSON on one line.
  std::string fallback;  ///< Its default, as JSON.
  std::string allowed;   ///< To follow "must be": "a whole number from 50 to 100000".
  std::string about;     ///< Sentences, as in schemas/config.schema.json.
  /// By "config.json" or the "environment"; "program": it is not set, and follows the program.
  std::string set_by;
  /// What the config.json of strangers may do with it: "nothing", "stricter" (only protect more) or
  /// "freely".
  std::string_view from_strangers;
  std::string waiting = {};  ///< As config.json has it, where that is not trusted; else empty.

  [[nodiscard]] bool is_default() const { return value == fallback; }
};

/// A value in a config.json that is not trusted: it has no effect until then.
struct WaitingSetting {
  std::string key;    ///< "privacy.auto_redaction"
  std::string value;  ///< JSON.
};

/// The keys of all settings that have an effect, in the order in which they are written.
std::vector<std::string> setting_keys();

/// All settings that have an effect, in the order in which they are written; with `key`, that of a
/// setting or of a group of them ("context"), only these. Errors: E_INVALID_QUERY for a key that is
/// unknown, with what was meant.
Result<std::vector<SettingInfo>> list_settings(const MemoryManager& memory,
                                               std::string_view key = {});

/// Changes settings in config.json by their keys: to a value, as JSON; without one, the key is
/// removed and has its default. Under the lock of the memory, all or none. `write` puts a value at
/// a key of the file's text (empty when there is no file), or removes the key. What other processes
/// have read holds until they open the memory again. Errors: those of `write`; E_SCHEMA_INVALID and
/// E_INVALID_FORMAT, in the words of opening a memory, for a text that it would refuse: the file
/// stays as it was.
Status edit_settings(
    MemoryManager& memory, const std::map<std::string, std::optional<std::string>>& changes,
    const std::function<Result<std::string>(std::string_view text, const std::string& key,
                                            const std::optional<std::string>& value)>& write);

}  // namespace bmad_mem
