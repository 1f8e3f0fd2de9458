// git check - what should not be in the repository.
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "exchange/git/check.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

void print_json(Tool& tool, const GitCheck& check) {
  for (const GitFinding& finding : check.findings) {
    JsonWriter json;
    json.begin_object().member("kind", finding.kind).member("path", finding.path);
    if (finding.line != 0) {
      json.member("line", finding.line);
    }
    json.member("detail", finding.detail).member("remedy", finding.remedy).end_object();
    tool.out().print("{}\n", json.text());
  }
  JsonWriter json;
  json.begin_object().key("summary").begin_object();
  json.member("files", check.files).member("commits", check.commits);
  json.member("findings", static_cast<std::uint64_t>(check.findings.size()));
  json.member("not_looked_at", check.obstacle).end_object().end_object();
  tool.out().print("{}\n", json.text());
}

void print_text(Tool& tool, const GitCheck& check) {
  std::set<std::string_view> remedies;  // Once each, although many places may need the same.
  for (const GitFinding& finding : check.findings) {
    const std::string line = finding.line == 0 ? std::string() : fmt::format(":{}", finding.line);
    tool.out().print("{}{}: {}\n", tool.style().bold(printable(finding.path)), line,
                     printable(finding.detail));
  }
  for (const GitFinding& finding : check.findings) {
    if (remedies.insert(finding.remedy).second) {
      tool.out().print("  {}\n", printable(finding.remedy));
    }
  }
  if (!check.obstacle.empty()) {
    tool.note(check.obstacle);
  }
  const std::string looked_at =
      fmt::format("{}, {}", format_count(check.files, "tracked file", "tracked files"),
                  format_count(check.commits, "commit", "commits"));
  if (check.findings.empty()) {
    tool.out().print("{}: {}\n", tool.style().green("all good"), looked_at);
  } else {
    tool.out().print("{} in {}\n",
                     tool.style().red(format_count(check.findings.size(), "finding", "findings")),
                     looked_at);
  }
}

std::string working_directory() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

/// Not Tool::open(): a config.json with conflict markers in it is what this is there to find.
Result<MemoryManager> open_damaged_too(const Tool& tool) {
  BMAD_TRY_ASSIGN(std::string root,
                  MemoryManager::find_root(tool.args().value("root"),
                                           environment("BMAD_MEMORY_ROOT"), working_directory()));
  return MemoryManager::open({.root = std::move(root), .tolerate_bad_config = true});
}

Result<ExitStatus> run_git_check(Tool& tool) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, open_damaged_too(tool));
  BMAD_TRY_ASSIGN(const SecretScanner scanner, memory.scanner());
  BMAD_TRY_ASSIGN(const GitCheck check,
                  check_repository(memory.root(), scanner, !tool.args().has("no-history")));
  if (tool.json()) {
    print_json(tool, check);
  } else {
    print_text(tool, check);
  }
  return check.findings.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

constexpr Option kGitCheckOptions[] = {
    {.name = "no-history", .help = "look at the files of today only; quick enough for a hook"},
};

constexpr Example kGitCheckExamples[] = {
    {.command = "bmad-mem git check", .says = "all of it"},
    {.command = "bmad-mem git check --no-history", .says = "in a pre-commit hook"},
};

}  // namespace

const Command kGitCheck = {
    .name = "git check",
    .group = Group::kConnect,
    .summary = "find what should not be in the repository",
    .description =
        "Looks at the files of this memory that git tracks, and at every commit: conflict markers "
        "and files that wait to be merged, derived or local files that git should ignore, lines "
        "that repeat what is there, a driver that is half installed, and secrets in the history. "
        "It says what to do about each, and changes nothing.",
    .options = kGitCheckOptions,
    .examples = kGitCheckExamples,
    .exit_status = "0 nothing was found, 1 something was, or it failed, 2 wrong usage.",
    .run = run_git_check,
};

}  // namespace bmad_mem::cli
