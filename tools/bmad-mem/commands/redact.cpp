// redact - finds secrets in texts, and takes them out of sessions written under older rules.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/settings.hpp"
#include "bmad_mem/text.hpp"
#include "bmad_mem/trust.hpp"
#include "cli/entry_options.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "cli/views.hpp"
#include "exchange/git/git_program.hpp"
#include "install/json_edit.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

// The rules: listed, tried, and what they leave as it is.

struct Found {
  std::uint64_t secrets = 0;
  std::uint64_t near = 0;  ///< What would stay, and make its entry a sensitive one.
};

constexpr const char* kAllowKey = "privacy.allow";

Result<std::vector<std::string>> allowed_items(const MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const std::vector<SettingInfo> settings, list_settings(memory, kAllowKey));
  BMAD_TRY_ASSIGN(const ParsedJson list, parse_json(settings.front().value));
  return json_strings(*list);
}

Status store_allowed(MemoryManager& memory, const std::vector<std::string>& items) {
  return edit_settings(
      memory, {{kAllowKey, items.empty() ? std::nullopt : std::optional(json_value(items))}},
      with_setting);
}

/// The texts in `text` that are found by `rule`, or by any when it is empty; adds to `places` where
/// they stand. Where nothing is found, all of it, if it can be a secret elsewhere, beside a name.
std::set<std::string> texts_to_allow(const SecretScanner& scanner, std::string_view text,
                                     std::string_view rule, std::vector<SecretPlace>& places) {
  std::set<std::string> texts;
  const auto take = [&](const SecretScanner& from) {
    std::vector<SecretPlace> found = from.find(text);
    std::erase_if(found,
                  [&](const SecretPlace& place) { return !rule.empty() && place.rule != rule; });
    for (const SecretPlace& place : found) {
      texts.emplace(text.substr(place.begin, place.end - place.begin));
    }
    return found;
  };
  places = take(scanner);
  if (texts.empty()) {
    take(SecretScanner());  // What is allowed already.
  }
  constexpr std::size_t kTextSizeMax = 4096;
  const std::string_view whole = trimmed(text);
  if (texts.empty() && !whole.empty() && whole.size() <= kTextSizeMax && !whole.contains('\n')) {
    texts.emplace(whole);
  }
  return texts;
}

void print_trial(Tool& tool, const std::string& name, std::string_view text,
                 const RuleTrial& trial) {
  TextPosition position(text);
  const auto places = mapped(trial.places, [&](const SecretPlace& place) {
    const InputPiece piece = position.piece(place.begin);
    return raw_object("line", piece.line, "column", piece.column, "bytes", place.end - place.begin);
  });
  show(tool, "rule_trial", shaped(shape::rule_trial, trial), "path", name, "places", places);
}

/// Reports what is found in `text`: where and what, never the secret itself. Adds to `found`.
void report_places(Tool& tool, const std::string& name, std::string_view text,
                   const std::vector<SecretPlace>& places, Found& found) {
  TextPosition position(text);
  for (const SecretPlace& place : places) {
    const InputPiece piece = position.piece(place.begin);
    ++(place.is_certain ? found.secrets : found.near);
    show(tool, "secret", shaped(shape::secret, place, name, piece.line, piece.column), "explains",
         tool.args().has("explain"));
  }
}

/// The rules of the memory that is here; the usual ones where there is none. What is wrong with
/// them is said.
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

Result<ExitStatus> list_rules(Tool& tool) {
  BMAD_TRY_ASSIGN(const SecretScanner scanner, scanner_here(tool));
  const auto rules = scanner.rules();
  show_all(tool, "secret_rules", shape::secret_rule, rules);
  return describe(tool, "more_of_rules", "exceptions", scanner.exceptions(), "rules", rules.size(),
                  "version", secret_rules_version());
}

Result<ExitStatus> try_rules(Tool& tool) {
  const std::string path(tool.args().value("test"));
  std::vector<std::string> names = tool.args().positionals();
  if (names.empty()) {
    names.emplace_back();  // The examples alone.
  }
  bool is_good = true;
  bool is_first = true;
  for (const std::string& name : names) {
    std::string text;
    if (!name.empty()) {
      BMAD_TRY_ASSIGN(text, read_named(name));
    }
    BMAD_TRY_ASSIGN(const RulesTrial trial, try_rules_file(path, text));
    for (const Error& warning : is_first ? trial.warnings : std::vector<Error>()) {
      tool.note(warning.to_string());
    }
    for (const RuleTrial& rule : trial.rules) {
      print_trial(tool, name == "-" ? "stdin" : name, text, rule);
      is_good = is_good && rule.failures.empty();
    }
    is_first = false;
    if (trial.rules.empty()) {
      tool.note("no rule of its own in the file");
    }
  }
  return is_good ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> allow_findings(Tool& tool) {
  const Arguments& args = tool.args();
  const std::string rule(args.value("rule"));
  const std::string path(args.value("path"));
  const std::vector<std::string> names = args.positionals();
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const SecretScanner scanner, memory.scanner());
  if (!rule.empty() && std::ranges::count(scanner.rules(), rule, &SecretRuleInfo::id) == 0) {
    return bad_value("rule", "there is no rule '{}'; `bmad-mem redact --rules` lists all",
                     printable(rule));
  }
  const std::string where = path.empty() ? std::string() : " path=" + path;
  const std::string by = rule.empty() ? std::string() : "rule=" + rule;
  std::vector<std::string> found;
  for (const std::string& name : names) {
    BMAD_TRY_ASSIGN(const std::string text, read_named(name));
    std::vector<SecretPlace> places;
    for (const std::string& each : texts_to_allow(scanner, text, rule, places)) {
      found.push_back(fmt::format("{}{}{}{}", by, by.empty() ? "" : " ", allow_item(each), where));
    }
    Found counted;
    report_places(tool, name == "-" ? "stdin" : name, text, places, counted);
  }
  if (names.empty()) {
    found.emplace_back(trimmed(by + where));
  }
  BMAD_TRY_ASSIGN(std::vector<std::string> items, allowed_items(memory));
  std::uint64_t added = 0;
  for (std::string& item : found) {
    if (!is_among(items, item)) {
      items.push_back(std::move(item));
      ++added;
    }
  }
  if (added > 0) {
    BMAD_TRY(store_allowed(memory, items));
  }
  const TrustReport trust = memory.trust_report();
  const bool holds = !trust.is_foreign() && !trust.config_changed;
  show(tool, "allowed", object_of("added", added, "holds", only_if(!holds, false)), "found",
       found.size(), "waits", !holds);
  return found.empty() ? ExitStatus::kFailed : ExitStatus::kDone;
}

Result<ExitStatus> list_allowed(Tool& tool) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<std::string> items, allowed_items(memory));
  std::vector<RawJson> lines;
  for (const std::string& item : items) {
    lines.push_back(raw_object("number", lines.size() + 1, "item", item));
  }
  return print_lines(tool, "allowed_items", lines);
}

Result<ExitStatus> disallow(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<std::string> items, allowed_items(memory));
  std::set<std::size_t> gone;
  for (const std::string& text : tool.args().all("disallow")) {
    const std::size_t number = number_in<std::size_t>(text).value_or(0);
    if (number < 1 || number > items.size()) {
      return bad_value("disallow",
                       "'{}' is no number of the list; `bmad-mem redact --allowed` shows it",
                       printable(text));
    }
    gone.insert(number - 1);
  }
  std::vector<std::string> left;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!gone.contains(i)) {
      left.push_back(items[i]);
    }
  }
  BMAD_TRY(store_allowed(memory, left));
  return show(tool, "disallowed", object_of("removed", gone.size()));
}

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
  note_encrypted(tool, memory, args.all("session"));
  const bool looks_at_commits = args.has("all") && is_in_git(memory.root());
  describe(tool, "redacted", "found", found, "in_git",
           found && !dry_run && !looks_at_commits && is_in_git(memory.root()));
  if (looks_at_commits) {
    BMAD_TRY(note_commits(tool, memory));
  }
  return tool.has_left_out() ? ExitStatus::kFailed : ExitStatus::kDone;
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
  const std::vector<std::string> names = args.positionals();
  if (names.empty()) {
    return redact_memory(tool);
  }
  return args.has("check") || args.has("explain") ? check_files(tool, names)
                                                  : clean_files(tool, names);
}

}  // namespace bmad_mem::cli
