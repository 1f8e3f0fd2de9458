// settings_edit.hpp - our parts of a client's settings: putting them in, taking them out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Whether all of such a file is ours, or none of it.
bool is_whole_file(SettingsPart part);

/// The handlers of a hook's entry in a client's settings.
struct HookHandlers {
  std::size_t all = 0;
  std::vector<std::size_t> ours = {};  ///< Which of them call our hook for this client.
  std::string words = {};              ///< What the first of ours runs.
};
/// `entry` is JSON, of kGroupedHooks or kFlatHooks. Ours are known in any form that was ever
/// installed.
HookHandlers hook_handlers(std::string_view entry, const ClientFacts& client, SettingsPart part);

/// The program and the arguments of `server`, JSON; empty unless it is ours.
std::string our_server_command(std::string_view server);

// The block of our own at the end of somebody's TOML file:
//
//   # bmad-mem begin (`bmad-mem uninstall codex` removes this block)
//   [mcp_servers.bmad-mem]
//   …
//   # bmad-mem end
//
// In front of it stands an empty line, or a newline alone where the file did not end in one: so
// taking the block out leaves the bytes that were there before.

/// `text` with the block, whose table must not be there otherwise. `text` is nothing for a file
/// that isn't there. Errors: E_INVALID_FORMAT with the line for what is no TOML; E_CONCURRENT_MOD
/// when the file has our server outside the block.
Result<std::optional<std::string>> with_toml_block(const std::optional<std::string>& text,
                                                   const std::string& table);

/// `text` without the block; nothing when it was a file of ours alone. Errors: E_INVALID_FORMAT.
Result<std::optional<std::string>> without_toml_block(const std::string& text);

}  // namespace bmad_mem::cli
