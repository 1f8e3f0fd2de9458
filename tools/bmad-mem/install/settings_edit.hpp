// settings_edit.hpp - our parts of a client's settings: putting them in, taking them out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/result.hpp"
#include "install/client_files.hpp"

namespace bmad_mem::cli {

/// What is done to a file.
struct SettingsChange {
  const ClientFacts& client;
  SettingsPart part = SettingsPart::kGroupedHooks;
  /// What to put in; nothing: take out what is ours.
  std::optional<InstalledCommand> command = {};
};

/// The file's text after the change: equal to `text` when there is nothing to do, nothing when the
/// file goes. `text` is nothing for a file that isn't there. Errors: E_INVALID_FORMAT with the line
/// for a file that we can't read safely, E_CONCURRENT_MOD for a server or a file of our name that
/// is not ours.
Result<std::optional<std::string>> changed_settings(const std::optional<std::string>& text,
                                                    const SettingsChange& change);

/// What to write there by hand.
std::string settings_to_paste(const SettingsChange& change);

/// The words that `handler`, a hook in a client's settings, runs; empty unless they call our hook
/// for this client. In any form that was ever installed.
std::string our_hook_command(JsonValue handler, const ClientFacts& client);

/// The same of a server: the program and its arguments.
std::string our_server_command(JsonValue server);

}  // namespace bmad_mem::cli
