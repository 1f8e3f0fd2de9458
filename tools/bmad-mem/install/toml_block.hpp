// toml_block.hpp - the block of our own at the end of somebody's TOML file:
//
//   # bmad-mem begin (`bmad-mem uninstall codex` removes this block)
//   [mcp_servers.bmad-mem]
//   …
//   # bmad-mem end
//
// In front of it stands an empty line, or a newline alone where the file did not end in one: so
// taking the block out leaves the bytes that were there before.
#pragma once

#include <optional>
#include <string>

#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// `text` with the block, whose table must not be there otherwise. `text` is nothing for a file
/// that isn't there. Errors: E_INVALID_FORMAT with the line for what is no TOML; E_CONCURRENT_MOD
/// when the file has our server outside the block.
Result<std::optional<std::string>> with_toml_block(const std::optional<std::string>& text,
                                                   const std::string& table);

/// `text` without the block; nothing when it was a file of ours alone. Errors: E_INVALID_FORMAT.
Result<std::optional<std::string>> without_toml_block(const std::string& text);

}  // namespace bmad_mem::cli
