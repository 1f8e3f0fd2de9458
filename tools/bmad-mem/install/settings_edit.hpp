// settings_edit.hpp - our parts of a client's settings: putting them in, taking them out; and the
// files, which belong to somebody else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "install/client_files.hpp"

namespace bmad_mem::cli {

/// What is done to a file.
struct SettingsChange {
  const InstallClient& client;
  SettingsPart part = SettingsPart::kGroupedHooks;
  /// What to put in; nothing: take out what is ours.
  std::optional<InstalledCommand> command = {};
};

/// The file's text after the change: equal to `text` when there is nothing to do, nothing when the
/// file goes. `text` is nothing for a file that isn't there. Errors: E_INVALID_FORMAT with the line
/// for a file that we can't read safely, E_CONCURRENT_MOD for a server of our name that is not
/// ours.
Result<std::optional<std::string>> changed_settings(const std::optional<std::string>& text,
                                                    const SettingsChange& change);

/// What to write there by hand.
std::string settings_to_paste(const SettingsChange& change);

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

/// A settings file as it is.
struct SettingsText {
  std::string path;                 ///< As it was asked for.
  std::string target;               ///< Where it really lies, behind symbolic links.
  std::optional<std::string> text;  ///< Nothing: the file isn't there.
};

/// Reads the file at `path`. Symbolic links are followed, and what is written later goes to their
/// target; but where `inside` names a folder, only as long as they stay in it: a project that comes
/// from somebody else must not lead us into the user's own settings. Errors: E_STORAGE_IO for what
/// can't be read or is no regular file, E_ACCESS_DENIED for a link that leads out.
Result<SettingsText> read_settings(const std::string& path, const std::string& inside);

/// Replaces the file by `text` whole, or removes it when there is no text. A file that is there
/// keeps its mode and owner; folders are made as needed. Durable on return. Errors:
/// E_CONCURRENT_MOD when the file is not as it was read any more; E_STORAGE_IO.
Status write_settings(const SettingsText& read, const std::optional<std::string>& text);

}  // namespace bmad_mem::cli
