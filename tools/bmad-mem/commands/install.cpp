// install, uninstall - tells an agent's client to use this memory, and not to.
#include "commands/commands.hpp"
#include "install/install_run.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_install_command(Tool& tool) { return run_install(tool, true); }
Result<ExitStatus> run_uninstall_command(Tool& tool) { return run_install(tool, false); }

constexpr Positional kInstallPositionals[] = {
    {.name = "CLIENT",
     .help = "claude-code, codex, gemini, cursor or vscode",
     .completion = Completion::kChoice,
     .choices = kInstallClients},
};

constexpr Option kInstallOptions[] = {
    kScopeOption,
    {.name = "dry-run", .help = "show what would change; change nothing"},
};

constexpr Example kInstallExamples[] = {
    {.command = "bmad-mem install claude-code", .says = "hooks and MCP server for this project"},
    {.command = "bmad-mem install codex --scope user --dry-run",
     .says = "what would change in ~/.codex"},
};

constexpr Example kUninstallExamples[] = {
    {.command = "bmad-mem uninstall claude-code", .says = "take it out of this project's settings"},
};

}  // namespace

const Command kInstall = {
    .name = "install",
    .group = Group::kConnect,
    .summary = "connect an agent client to this memory",
    .description =
        "Writes the client's settings so that it calls `bmad-mem hook` at the events of a session "
        "and starts `bmad-mem mcp` as an MCP server, and makes the memory of the project when "
        "there is none. Shows what has changed as a diff, and says what is left to do.\n\n"
        "What else stands in the files stays, to the byte. A file that is no JSON (comments are "
        "none) is left alone, and what to write there by hand is printed. Doing it again changes "
        "nothing.",
    .positionals = kInstallPositionals,
    .options = kInstallOptions,
    .examples = kInstallExamples,
    .run = run_install_command,
};

const Command kUninstall = {
    .name = "uninstall",
    .group = Group::kConnect,
    .summary = "undo what `install` wrote",
    .description =
        "Takes our hooks and our MCP server out of the client's settings, and nothing else: a file "
        "that was not touched in between is as it was before `install`, to the byte. The memory "
        "stays.",
    .positionals = kInstallPositionals,
    .options = kInstallOptions,
    .examples = kUninstallExamples,
    .run = run_uninstall_command,
};

}  // namespace bmad_mem::cli
