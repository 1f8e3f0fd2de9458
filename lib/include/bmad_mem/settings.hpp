// settings.hpp - the settings that a memory works with.
#pragma once

#include <string>

namespace bmad_mem {

class MemoryManager;

/// {"memory_config":{…}} with every key: what config.json says, and the defaults of what it leaves
/// out. JSON, laid out for people.
std::string effective_settings(const MemoryManager& memory);

}  // namespace bmad_mem
