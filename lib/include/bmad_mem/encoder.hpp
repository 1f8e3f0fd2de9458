// encoder.hpp - which model compares the texts of a memory by their meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

class MemoryManager;

struct EncoderReport {
  bool is_enabled = true;       ///< memory_config.encoder.enabled.
  std::string name;             ///< "use-lite 1", or the program or URL; empty: there is none.
  std::uint32_t dimension = 0;  ///< Numbers a vector; 0 where there is none.
  std::uint64_t entries = 0;    ///< Of the index; 0 where there is no encoder; so for the next.
  std::uint64_t waiting = 0;    ///< Those of them that have no vector yet.
  /// Why the one that the config names, or that is installed, can't be used.
  std::optional<Error> problem = {};
};

/// Encodes a sentence, so that what it says is so: a program runs for at most
/// memory_config.encoder.timeout_ms.
EncoderReport encoder_report(const MemoryManager& memory);

}  // namespace bmad_mem
