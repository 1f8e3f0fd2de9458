// command.hpp - running another program with a text on its stdin: the models that write summaries
// and extract facts.
//
// The program is found in PATH and started without a shell, so that no text ever becomes a command.
// It is a process group of its own: when it takes too long, it and all it started are killed, but
// for what made itself a group of its own. What it leaves running when it ends by itself is let be.
// Never call this with a lock held. Threads: safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"

namespace bmad_mem {

struct CommandOptions {
  std::chrono::milliseconds timeout{60'000};
  /// Bytes of stdout that are taken; a program that says more is killed.
  std::size_t output_size_max = 1U << 20U;
};

struct CommandOutput {
  std::string out;
  std::string err;  ///< The last 4 KB of stderr, where programs say what matters. Valid UTF-8.
};

/// Runs `command`, a program and its arguments, with `input` on stdin until it ends. A program that
/// does not read its stdin to the end does no harm. Errors: E_STORAGE_IO when it can't be started,
/// or ends with another status than 0 or by a signal, with the end of its stderr in the message;
/// E_QUERY_TIMEOUT when it takes too long; E_SIZE_LIMIT when it says too much. No process is left
/// after an error.
Result<CommandOutput> run_command(std::span<const std::string> command, std::string_view input,
                                  const CommandOptions& options = {});

}  // namespace bmad_mem
