// config_names.hpp - the keys of config.json as people write them, and which one they meant.
//
// A key here is what stands below "memory_config": "storage.compression.enabled". A section is the
// key of an object: "storage.compression"; the outermost one is "".
#pragma once

#include <string>
#include <string_view>

#include "config_table.hpp"

namespace bmad_mem {

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

}  // namespace bmad_mem
