// encoder.hpp - which model compares the texts of a memory by their meaning.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

class MemoryManager;

struct EncodeOptions {
  bool all = false;  ///< Entries that are in no segment yet, too, however few.
  std::optional<std::chrono::milliseconds> time_max = {};  ///< Longest time to take.
};

struct EncodeReport {
  std::string encoder;        ///< Its name.
  std::uint64_t encoded = 0;  ///< Entries that got a vector.
  std::uint64_t refused = 0;  ///< Of them, those whose text it refuses: they have an empty one.
  std::uint64_t waiting = 0;  ///< Entries of the index without one.
  std::uint64_t entries = 0;  ///< Of the index.
  /// Another process encodes: nothing was done here.
  bool is_elsewhere = false;
};

/// Whether meaning took part in a search, beside the words.
struct EncoderUse {
  bool took_part = false;
  std::string name = {};      ///< Of the encoder; empty when none was asked.
  std::string reason = {};    ///< Why it did not take part; empty when nobody wanted it.
  bool failed = false;        ///< There should be an encoder, and it could not be used.
  bool late = false;          ///< It could not because it took too long.
  std::uint64_t encoded = 0;  ///< Of the entries that were searched, those with a vector.
  std::uint64_t entries = 0;  ///< All that were searched; 0 when it did not take part.
};

struct EncoderReport {
  bool is_enabled = true;       ///< memory_config.encoder.enabled.
  std::string name = {};        ///< "use-lite 1", or the program or URL; empty: there is none.
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
