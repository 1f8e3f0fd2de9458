// redact - finds secrets in texts, and takes them out of sessions written under older rules.
#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bmad_mem/privacy.hpp"
#include "cli/output.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "commands/redact_rules.hpp"
#include "exchange/git/git_program.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

/// The file `name` as allow lists name it: from the project's folder on, however it was typed.
std::string path_in_project(const Tool& tool, const std::string& name) {
  namespace fs = std::filesystem;
  const Result<std::string> root = tool.find_root();
  std::error_code problem;
  const fs::path file = fs::weakly_canonical(name, problem);
  const fs::path project = root && !problem
                               ? fs::weakly_canonical(*root, problem).parent_path().parent_path()
                               : fs::path();
  const fs::path inside = project.empty() ? fs::path() : file.lexically_relative(project);
  return inside.empty() || *inside.begin() == ".." ? name : inside.string();
}

Result<ExitStatus> check_files(Tool& tool, const std::vector<std::string>& names) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, scanner_here(tool));
  Found found;
  for (const std::string& name : names) {
    BMAD_TRY_ASSIGN(const std::string text, read_named(name));
    report_places(tool, name == "-" ? "stdin" : name, text,
                  scanner.find_in_file(text, name == "-" ? "" : path_in_project(tool, name)),
                  found);
  }
  describe(tool, "secrets_found", "secrets", found.secrets, "near", found.near);
  return found.secrets == 0 ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> clean_files(Tool& tool, const std::vector<std::string>& names) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, scanner_here(tool));
  for (const std::string& name : names) {
    BMAD_TRY_ASSIGN(const std::string text, read_named(name));
    if (tool.json()) {
      print_object(tool, "path", name == "-" ? "stdin" : name, "text", scanner.redact(text));
    } else {
      tool.out().write(scanner.redact(text));
    }
  }
  return ExitStatus::kDone;
}

void print_report(Tool& tool, RedactReport report, bool dry_run) {
  const SecretScanner scanner;  // A path may have the secret in its name.
  for (FileCount& file : report.files) {
    file.path = scanner.redact(file.path);
  }
  for (TakenSecret& each : report.taken) {
    each.path = scanner.redact(each.path);
  }
  for (Leftover& left : report.left) {
    left.place = scanner.redact(left.place);
  }
  show(tool, "redaction", shaped(shape::redaction, report, dry_run), "explains",
       tool.args().has("explain"));
}

/// Redacts, or shows what that would do. Whether there is anything.
Result<bool> redact_now(Tool& tool, MemoryManager& memory, bool dry_run) {
  BMAD_TRY_ASSIGN(const std::vector<RedactReport> reports,
                  with_progress(
                      tool, dry_run ? "look" : "redact",
                      [&](const MemoryManager::Progress& show) {
                        return memory.redact(tool.args().all("session"), dry_run, show);
                      },
                      "sessions"));
  for (const RedactReport& report : reports) {
    print_report(tool, report, dry_run);
  }
  return std::ranges::any_of(reports,
                             [](const RedactReport& report) { return !report.files.empty(); });
}

/// Says which commits hold secrets still.
Status note_commits(Tool& tool, const MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, memory.scanner());
  const GitSearch search = search_git_secrets(memory.root(), scanner);
  describe(tool, "left_in_git", "all", shaped(shape::leftover, search.found), "count",
           search.found.size(), "obstacle", search.obstacle);
  return {};
}

Result<ExitStatus> redact_memory(Tool& tool) {
  const Arguments& args = tool.args();
  const bool dry_run = args.has("dry-run") || args.has("explain");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  bool found = true;
  if (!dry_run && args.has("all") && is_asked(tool)) {
    BMAD_TRY_ASSIGN(found, redact_now(tool, memory, true));
    if (found && !is_confirmed(tool, "take all of it out, irreversibly?")) {
      return ExitStatus::kFailed;
    }
  }
  if (found) {
    BMAD_TRY_ASSIGN(found, redact_now(tool, memory, dry_run));
  }
  note_sealed(tool, memory, args.all("session"));
  const bool looks_at_commits = args.has("all") && is_in_git(memory.root());
  describe(tool, "redacted", "found", found, "in_git",
           found && !dry_run && !looks_at_commits && is_in_git(memory.root()));
  if (looks_at_commits) {
    BMAD_TRY(note_commits(tool, memory));
  }
  return tool.has_left_out() ? ExitStatus::kFailed : ExitStatus::kDone;
}

/// What doesn't go together, as a sentence; empty when all does.
std::string_view redact_clash(const Arguments& args) {
  const bool in_memory = args.has("session") || args.has("all");
  if (args.positionals().empty() != in_memory) {
    return in_memory
               ? "name either files or sessions"
               : "say what to look at: FILE or - for a text, --session ID or --all for memory";
  }
  if (args.has("all") && args.has("session")) {
    return "--all is every session; leave out --session";
  }
  if (in_memory && args.has("check")) {
    return "--check is for texts; use --dry-run to preview redactions in memory";
  }
  if (!in_memory && args.has("dry-run")) {
    return "--dry-run is for memory; use --check to report secrets in a text";
  }
  return {};
}

}  // namespace

Result<ExitStatus> run_redact(Tool& tool) {
  const Arguments& args = tool.args();
  constexpr std::pair<std::string_view, Result<ExitStatus> (*)(Tool&)> kOfRules[] = {
      {"rules", list_rules},     {"test", try_rules},    {"allow", allow_findings},
      {"allowed", list_allowed}, {"disallow", disallow},
  };
  for (const auto& [name, run] : kOfRules) {
    if (args.has(name)) {
      return run(tool);
    }
  }
  if (args.has("rule") || args.has("path")) {
    return tool.wrong_usage("--rule and --path belong to --allow");
  }
  if (const std::string_view problem = redact_clash(args); !problem.empty()) {
    return tool.wrong_usage(std::string(problem));
  }
  const std::vector<std::string> names = args.positionals();
  if (names.empty()) {
    return redact_memory(tool);
  }
  return args.has("check") || args.has("explain") ? check_files(tool, names)
                                                  : clean_files(tool, names);
}

}  // namespace bmad_mem::cli
