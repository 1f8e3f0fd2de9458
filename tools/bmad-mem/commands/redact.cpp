// redact - finds secrets in texts, and takes them out of sessions written under older rules.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/privacy.hpp"
#include "cli/entry_options.hpp"
#include "cli/json_text.hpp"
#include "cli/output.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "operation_calls.hpp"

namespace bmad_mem::cli {
namespace {

/// Reports what is found in `text`: where and what, never the secret itself. Returns how many
/// secrets there are.
std::uint64_t report_places(Tool& tool, const std::string& name, std::string_view text,
                            const std::vector<SecretPlace>& places) {
  std::uint64_t line = 1;
  std::size_t line_begin = 0;
  std::size_t at = 0;  // Up to which lines are counted.
  std::uint64_t secrets = 0;
  for (const SecretPlace& place : places) {
    const std::string_view passed = text.substr(at, place.begin - at);
    line += static_cast<std::uint64_t>(std::ranges::count(passed, '\n'));
    line_begin = passed.contains('\n') ? at + passed.rfind('\n') + 1 : line_begin;
    at = place.begin;
    const std::uint64_t column = at - line_begin + 1;
    secrets += place.is_certain ? 1 : 0;
    if (tool.json()) {
      print_object(tool, [&](JsonWriter& json) {
        json.member("path", name).member("line", line);
        json.member("column", column).member("bytes", place.end - place.begin);
        json.member("rule", place.rule).member("what", place.what);
        json.member("certain", place.is_certain);
      });
      continue;
    }
    const std::string says =
        fmt::format("{}:{}:{}: {} ({}), {}", printable(name), line, column, place.rule, place.what,
                    format_count(place.end - place.begin, "byte", "bytes"));
    if (place.is_certain) {
      tool.out().print("{}\n", says);
    } else {
      tool.out().print("{}\n", tool.style().faint(says + "; perhaps, it would stay"));
    }
  }
  return secrets;
}

/// The rules of the memory that is here; the usual ones where there is none.
Result<SecretScanner> scanner_here(Tool& tool) {
  Result<MemoryManager> memory = tool.open();
  if (memory) {
    return memory->scanner();
  }
  if (memory.error().code != ErrorCode::E_SESSION_NOT_FOUND || tool.args().has("root")) {
    return std::move(memory).error();
  }
  return SecretScanner();
}

Result<std::string> read_named(const std::string& name) {
  return name == "-" ? read_stdin() : read_whole_file(name);
}

Result<ExitStatus> check_files(Tool& tool, const std::vector<std::string>& names) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, scanner_here(tool));
  std::uint64_t secrets = 0;
  for (const std::string& name : names) {
    BMAD_TRY_ASSIGN(const std::string text, read_named(name));
    secrets += report_places(tool, name == "-" ? "stdin" : name, text, scanner.find(text));
  }
  if (secrets == 0) {
    tool.note("no secret found");
    return ExitStatus::kDone;
  }
  tool.note(format_count(secrets, "secret", "secrets") + " found");
  return ExitStatus::kFailed;
}

Result<ExitStatus> clean_files(Tool& tool, const std::vector<std::string>& names) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, scanner_here(tool));
  for (const std::string& name : names) {
    BMAD_TRY_ASSIGN(const std::string text, read_named(name));
    tool.out().write(scanner.redact(text));
  }
  return ExitStatus::kDone;
}

void print_rules(Tool& tool) {
  for (const SecretRuleInfo& rule : secret_rule_list()) {
    if (tool.json()) {
      print_object(tool, [&](JsonWriter& json) {
        json.member("rule", rule.id).member("what", rule.what);
        json.member("tier", rule.tier).member("keywords", rule.keywords);
        json.member("pattern", rule.pattern);
      });
    } else {
      tool.out().print("{}  {}  {}\n", tool.style().id(padded(rule.id, 34)), padded(rule.tier, 9),
                       rule.what);
    }
  }
}

void print_report(Tool& tool, const RedactReport& report, bool dry_run) {
  if (tool.json()) {
    print_object(tool, [&](JsonWriter& json) {
      json.member("session_id", report.session_id).member("dry_run", dry_run);
      json.member("entries", report.entries);
      add_counts(json, "rules", report.counts);
      add_objects(json, "files", report.files, [&](const FileCount& file) {
        json.member("path", file.path).member("lines", file.lines);
      });
    });
    return;
  }
  if (report.files.empty()) {
    return;
  }
  tool.out().print("{}: {} {}\n", tool.style().id(report.session_id),
                   format_count(report.entries, "entry", "entries"),
                   dry_run ? "would change" : "changed");
  print_counts(tool, report.counts);
  for (const FileCount& file : report.files) {
    tool.out().print(
        "  {}\n", tool.style().faint(
                      fmt::format("{}: {}", file.path, format_count(file.lines, "line", "lines"))));
  }
}

Result<ExitStatus> redact_memory(Tool& tool) {
  const Arguments& args = tool.args();
  const bool dry_run = args.has("dry-run");
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  if (!dry_run && args.has("all") &&
      !is_confirmed(tool, "rewrite every session in which a secret is found?")) {
    return ExitStatus::kFailed;
  }
  BMAD_TRY_ASSIGN(const std::vector<RedactReport> reports,
                  with_progress(
                      tool, "redact",
                      [&](const MemoryManager::Progress& show) {
                        return memory.redact(args.all("session"), dry_run, show);
                      },
                      "sessions"));
  const bool found = std::ranges::any_of(
      reports, [](const RedactReport& report) { return !report.files.empty(); });
  for (const RedactReport& report : reports) {
    print_report(tool, report, dry_run);
  }
  if (!found) {
    tool.note("nothing to redact");
  } else if (!dry_run) {
    tool.note("earlier commits in git still contain the secrets");
  }
  return ExitStatus::kDone;
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
  if (args.has("rules")) {
    print_rules(tool);
    return ExitStatus::kDone;
  }
  if (const std::string_view problem = redact_clash(args); !problem.empty()) {
    return tool.wrong_usage(std::string(problem));
  }
  const std::vector<std::string> names = args.positionals();
  if (names.empty()) {
    return redact_memory(tool);
  }
  return args.has("check") ? check_files(tool, names) : clean_files(tool, names);
}

}  // namespace bmad_mem::cli
