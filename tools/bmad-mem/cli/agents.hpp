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

/// Whether an agent above this process runs in another terminal than the one that this process
/// reads from: then it is no person who answers there.
bool is_terminal_of_agent();

/// Whether the client of that name (client_facts.hpp) started this process as its hook: it is the
/// nearest known agent above, no other one is above it, and between are only shells that call the
/// hook and do nothing else, npm's launcher and this program. A shell may replace itself by its
/// last command, so that nothing is between for a tool of the agent either: then a variable that
/// only tools get speaks against it.
bool is_hook_of(std::string_view client);

/// The processes of the host that started this one, as "NUMBER-STARTED", the nearest first: that
/// above the shells and launchers that only call this program, and further ones of the same known
/// agent. None where the system doesn't say.
std::vector<std::string> host_processes();

/// Whether the process of this name, as host_processes() has it, has not ended.
bool is_running(std::string_view process);

/// Whether `text`, the front of a line for a shell, ends in the name of this program, by any path.
/// A path in quotes is one as well; a semicolon ends what is before.
bool is_own_program(std::string_view text);

/// The line by which a shell calls a hook: `program`, quoted for it, and the rest of the words.
/// Settings are shared, the program is not: where it is missing there must be no error with each
/// event, and one message, on stderr and as JSON that many clients show to the person; a folder
/// notes that, since to make one is atomic and follows no link.
/// fish, too, reads the line: what it doesn't know is left to sh.
std::string hook_line(std::string_view program, std::string_view rest);

/// The words that a process was started with; `process` is its number, or "self".
std::vector<std::string> process_words(std::string_view process);

}  // namespace bmad_mem::cli
