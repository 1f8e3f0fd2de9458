// agents.hpp - which agent runs this process: by its environment and its parents in /proc.
//
//   claude ── sh -c "… bmad-mem hook claude-code" ── bmad-mem    a hook of the client itself
//   claude ── bash -c "source … && eval …" ── bmad-mem           a command of its agent
//   bash ── bmad-mem                                             a person, cron, a test
//
// The table of known agents is in agents.cpp. Only Linux has /proc: elsewhere only the environment
// counts, and no hook is proven to be the client's. A program under the user's account can hide its
// parents, so this stops an agent that follows a text, and not one that works to get around it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

/// What says that an agent runs this process, such as "$CLAUDECODE" or "the process of codex that
/// started it"; empty for a person. Looked up once.
const std::string& agent_sign();

/// The words that a process was started with; `process` is its number, or "self".
std::vector<std::string> process_words(std::string_view process);

}  // namespace bmad_mem::cli
