// installation.cpp - plans and makes the changes of `git install` and `git uninstall`.
#include "exchange/git/installation.hpp"

#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/settings.hpp"
#include "cli/program.hpp"
#include "cli/text.hpp"
#include "exchange/files.hpp"
#include "exchange/git/git_program.hpp"

namespace bmad_mem::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgramName = "bmad-mem";
/// The sections that are ours, and nobody else's.
constexpr std::string_view kGitSections[] = {"merge.bmadmem", "diff.bmadmem"};

constexpr std::string_view kHookBegin = "# bmad-mem: begin";
constexpr std::string_view kHookEnd = "# bmad-mem: end\n";

// docs/decisions/0033 says why which file is merged how. Without a driver in a clone's own
// configuration `merge=bmadmem` is what it is without attributes: git's merge of text.
constexpr std::string_view kBlock =
    "# bmad-mem: begin (`bmad-mem git install` writes these lines, docs/git.md explains them)\n"
    "/sessions/*/*.jsonl merge=bmadmem diff=bmadmem text eol=lf\n"
    "/sessions/*/manifest.json merge=bmadmem diff=bmadmem text eol=lf\n"
    "/shared/kept/*.jsonl merge=bmadmem diff=bmadmem text eol=lf\n"
    "/archive/*.gz binary\n"
    "/archive/*.evicted.jsonl.gz merge=bmadmem\n"
    "/archive/*.evicted.*.jsonl.gz merge=bmadmem\n"
    "# bmad-mem: end\n";

// As store/layout.cpp writes it.
constexpr std::string_view kEventsIgnored = "/sessions/*/events.jsonl\n";

/// Where our lines begin and end; both text.size() without any.
std::pair<std::size_t, std::size_t> find_block(std::string_view text) {
  const std::size_t end = text.find(kHookEnd);
  std::size_t begin = end == std::string_view::npos ? end : text.rfind(kHookBegin, end);
  while (begin != std::string_view::npos && begin != 0 && text[begin - 1] != '\n') {
    begin = text.rfind(kHookBegin, begin - 1);
  }
  return begin == std::string_view::npos ? std::pair(text.size(), text.size())
                                         : std::pair(begin, end + kHookEnd.size());
}

/// `text` with `instead` for each `character`.
std::string replaced(std::string_view text, char character, std::string_view instead) {
  std::string out;
  for (const char c : text) {
    out += c == character ? instead : std::string_view(&c, 1);
  }
  return out;
}

std::string first_line(const ProgramRun& run) {
  return run.output.substr(0, run.output.find('\n'));
}

Result<GitPlan> begin_plan(const std::string& root) {
  if (const std::string obstacle = git_obstacle(root); !obstacle.empty()) {
    return path_error(ErrorCode::E_STORAGE_IO, root,
                      obstacle + "; `git init` in the project makes a repository");
  }
  GitPlan plan;
  plan.repository = first_line(run_git(root, {"rev-parse", "--show-toplevel"}));
  plan.attributes_path = root + "/.gitattributes";
  plan.ignore_path = root + "/.gitignore";
  plan.is_ignored =
      run_git(root, {"check-ignore", "-q", "sessions/x/conversation.jsonl"}).status == 0;
  return plan;
}

Result<std::string> present_text(const std::string& path) {
  return is_there(path) ? read_regular_file(path) : Result<std::string>(std::string());
}

Status plan_ignore(GitPlan& plan, bool ignored) {
  BMAD_TRY_ASSIGN(const std::string present, present_text(plan.ignore_path));
  if (ignores_events(present) != ignored) {
    plan.ignore = with_events_ignored(present, ignored);
  }
  return {};
}

/// The value in the clone's own configuration; empty when there is none.
std::string present_setting(const std::string& folder, const std::string& key) {
  const ProgramRun run = run_git(folder, {"config", "--local", "--null", "--get", key});
  return run.status == 0 ? run.output.substr(0, run.output.find('\0')) : std::string();
}

bool has_section(const std::string& folder, std::string_view section) {
  const std::string pattern = fmt::format("^{}\\.", replaced(section, '.', "\\."));
  return run_git(folder, {"config", "--local", "--get-regexp", pattern}).status == 0;
}

/// What git said on one line; it knows why.
Error git_failed(const GitPlan& plan, std::string_view what, const ProgramRun& run) {
  std::string why;
  for (const std::string_view line : lines_of(run.output)) {
    why += fmt::format("{}{}", why.empty() ? ": " : "; ", line);
  }
  return path_error(ErrorCode::E_STORAGE_IO, plan.repository,
                    fmt::format("git could not {} in the repository's configuration{}", what, why));
}

Status write_attributes(const GitPlan& plan) {
  assert(plan.attributes);
  if (plan.attributes->empty()) {
    if (::unlink(plan.attributes_path.c_str()) != 0 && errno != ENOENT) {
      return file_error("remove it", plan.attributes_path, errno);
    }
    return {};
  }
  return replace_file(plan.attributes_path, *plan.attributes);
}

/// Our name when the PATH leads to the running program by it, else its path.
std::string own_program() {
  const std::string self = own_program_path();
  std::error_code ignored;
  return self.empty() || fs::equivalent(find_in_path(kProgramName), self, ignored) ? kProgramName
                                                                                   : self;
}

}  // namespace

std::string with_attributes(std::string_view text) {
  const auto [begin, end] = find_block(text);
  assert(begin <= end && end <= text.size());
  const bool needs_end = begin > 0 && text[begin - 1] != '\n';
  return fmt::format("{}{}{}{}", text.substr(0, begin), needs_end ? "\n" : "", kBlock,
                     text.substr(end));
}

std::string without_attributes(std::string_view text) {
  const auto [begin, end] = find_block(text);
  assert(begin <= end && end <= text.size());
  return fmt::format("{}{}", text.substr(0, begin), text.substr(end));
}

bool tracks_events(const MemoryManager& memory) {
  const ParsedJson settings(effective_settings(memory));
  return settings["memory_config"]["events"]["track"].boolean();
}

bool ignores_events(std::string_view text) {
  return text.starts_with(kEventsIgnored) || text.contains("\n" + std::string(kEventsIgnored));
}

std::string with_events_ignored(std::string_view text, bool ignored) {
  assert(ignores_events(text) != ignored);
  std::string out(text);
  if (ignored) {
    return out.append(out.empty() || out.ends_with('\n') ? "" : "\n").append(kEventsIgnored);
  }
  // At the begin of a line: a longer pattern of the user may end so.
  const std::size_t at =
      out.starts_with(kEventsIgnored) ? 0 : out.find("\n" + std::string(kEventsIgnored)) + 1;
  return out.erase(at, kEventsIgnored.size());
}

std::vector<GitSetting> driver_settings(std::string_view program) {
  const std::string word = shell_quoted(program);
  const std::string driver_word = replaced(word, '%', "%%");  // git replaces %O and its like.
  return {
      {.key = "merge.bmadmem.driver",
       .value = fmt::format(
           // git quotes %P for sh, which holds outside of double quotes only.
           "if command -v {0} >/dev/null; then {0} merge-driver %O %A %B %P %L; else echo "
           "\"bmad-mem was not found; install it, then run: bmad-mem git install. Merged as plain "
           "text:\" %P >&2; git merge-file -q --marker-size=%L -L ours -L base -L theirs %A %O %B; "
           "fi",
           driver_word)},
      {.key = "merge.bmadmem.name", .value = "bmad-mem merge of memory logs"},
      {.key = "diff.bmadmem.textconv",
       .value = fmt::format("f() {{ if command -v {0} >/dev/null; then {0} textconv \"$1\"; else "
                            "cat \"$1\"; fi; }}; f",
                            word)},
  };
}

Result<GitPlan> plan_install(const std::string& root, bool tracks_events) {
  BMAD_TRY_ASSIGN(GitPlan plan, begin_plan(root));
  BMAD_TRY_ASSIGN(const std::string present, present_text(plan.attributes_path));
  if (std::string wanted = with_attributes(present); wanted != present) {
    plan.attributes = std::move(wanted);
  }
  for (GitSetting& setting : driver_settings(own_program())) {
    if (present_setting(plan.repository, setting.key) != setting.value) {
      plan.settings.push_back(std::move(setting));
    }
  }
  BMAD_TRY(tracks_events ? plan_ignore(plan, false) : Status());
  return plan;
}

Result<GitPlan> plan_untrack_events(const std::string& root) {
  BMAD_TRY_ASSIGN(GitPlan plan, begin_plan(root));
  BMAD_TRY(plan_ignore(plan, true));
  const ProgramRun run = run_git(root, {"ls-files", "-z", "--", "sessions/*/events.jsonl"});
  for (const std::string_view path : lines_of(run.output, '\0')) {
    plan.event_logs.emplace_back(path);
  }
  return plan;
}

Result<GitPlan> plan_uninstall(const std::string& root, bool keep_attributes) {
  BMAD_TRY_ASSIGN(GitPlan plan, begin_plan(root));
  BMAD_TRY_ASSIGN(const std::string present, present_text(plan.attributes_path));
  if (std::string wanted = without_attributes(present); wanted != present && !keep_attributes) {
    plan.attributes = std::move(wanted);
  }
  for (const std::string_view section : kGitSections) {
    if (has_section(plan.repository, section)) {
      plan.sections.emplace_back(section);
    }
  }
  return plan;
}

Status carry_out(const GitPlan& plan) {
  for (const GitSetting& setting : plan.settings) {
    const ProgramRun run = run_git_aloud(
        plan.repository, {"config", "--local", "--replace-all", setting.key, setting.value});
    if (run.status != 0) {
      return git_failed(plan, fmt::format("set {}", setting.key), run);
    }
  }
  for (const std::string& section : plan.sections) {
    const ProgramRun run =
        run_git_aloud(plan.repository, {"config", "--local", "--remove-section", section});
    if (run.status != 0) {
      return git_failed(plan, fmt::format("remove the section {}", section), run);
    }
  }
  BMAD_TRY(plan.ignore ? replace_file(plan.ignore_path, *plan.ignore) : Status());
  if (!plan.event_logs.empty()) {
    // -f: an agent may have written since the last `git add`.
    const ProgramRun run =
        run_git_aloud(fs::path(plan.ignore_path).parent_path().string(),
                      {"rm", "-q", "-f", "--cached", "--", "sessions/*/events.jsonl"});
    if (run.status != 0) {
      return git_failed(plan, "stop tracking the events", run);
    }
  }
  return plan.attributes ? write_attributes(plan) : Status();
}

}  // namespace bmad_mem::cli
