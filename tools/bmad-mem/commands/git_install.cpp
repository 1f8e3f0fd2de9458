// git install, git uninstall - memory that git merges, and shows as prose.
#include <string>

#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "exchange/git/installation.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

void print_json(Tool& tool, const GitPlan& plan, bool dry_run) {
  JsonWriter json;
  json.begin_object().member("repository", plan.repository).member("dry_run", dry_run);
  json.key("attributes").begin_object().member("path", plan.attributes_path);
  json.member("changed", plan.attributes.has_value()).end_object();
  json.key("set").begin_object();
  for (const GitSetting& setting : plan.settings) {
    json.member(setting.key, setting.value);
  }
  json.end_object().key("removed").begin_array();
  for (const std::string& section : plan.sections) {
    json.string(section);
  }
  json.end_array().member("ignored", plan.is_ignored).end_object();
  tool.out().print("{}\n", json.text());
}

void print_plan(Tool& tool, const GitPlan& plan, bool dry_run) {
  const std::string_view would = dry_run ? "would " : "";
  for (const GitSetting& setting : plan.settings) {
    tool.out().print("{}set {} = {}\n", would, setting.key, printable(setting.value));
  }
  for (const std::string& section : plan.sections) {
    tool.out().print("{}remove the section {}\n", would, section);
  }
  if (plan.attributes) {
    tool.out().print("{}{} {}\n", would, plan.attributes->empty() ? "remove" : "write",
                     printable(plan.attributes_path));
  }
  if (plan.is_empty()) {
    tool.out().print("nothing to do: all is as it should be\n");
  }
}

Result<ExitStatus> carry_out_and_tell(Tool& tool, const GitPlan& plan) {
  const bool dry_run = tool.args().has("dry-run");
  if (!dry_run) {
    BMAD_TRY(carry_out(plan));
  }
  if (tool.json()) {
    print_json(tool, plan, dry_run);
  } else {
    print_plan(tool, plan, dry_run);
  }
  if (plan.is_ignored) {
    tool.note(
        "git ignores this memory, so none of this has an effect; take .bmad out of .gitignore to "
        "share it");
  }
  return ExitStatus::kDone;
}

Result<ExitStatus> run_git_install(Tool& tool) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const GitPlan plan, plan_install(memory.root()));
  BMAD_TRY_ASSIGN(const ExitStatus status, carry_out_and_tell(tool, plan));
  if (plan.attributes && !plan.is_ignored && !tool.args().has("dry-run")) {
    tool.note(
        "commit .gitattributes, so that others have it; each clone runs `bmad-mem git install` "
        "once, since git takes no program from a repository");
  }
  return status;
}

Result<ExitStatus> run_git_uninstall(Tool& tool) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const GitPlan plan,
                  plan_uninstall(memory.root(), tool.args().has("keep-attributes")));
  return carry_out_and_tell(tool, plan);
}

constexpr Option kDryRun = {.name = "dry-run",
                            .help = "say what would be done, and change nothing"};
constexpr Option kGitInstallOptions[] = {kDryRun};
constexpr Option kGitUninstallOptions[] = {
    kDryRun,
    {.name = "keep-attributes", .help = "leave .gitattributes to those who share the repository"},
};

constexpr Example kGitInstallExamples[] = {
    {.command = "bmad-mem git install --dry-run", .says = "see what it would set"},
    {.command = "bmad-mem git install", .says = "once in each clone"},
};
constexpr Example kGitUninstallExamples[] = {
    {.command = "bmad-mem git uninstall", .says = "as it was before"},
    {.command = "bmad-mem git uninstall --keep-attributes", .says = "in this clone only"},
};

}  // namespace

const Command kGitInstall = {
    .name = "git install",
    .group = Group::kConnect,
    .summary = "have git merge this memory, and show it as prose",
    .description =
        "Tells the surrounding git repository to merge logs and manifests with bmad-mem, and to "
        "show logs as prose in `git diff`. It writes .gitattributes into the memory's folder, "
        "which is to be committed, and the sections merge.bmadmem and diff.bmadmem of the "
        "clone's own configuration. Running it again repairs what is missing, and a path that has "
        "changed.\n\n"
        "Two branches that add to sessions of their own merge without it. It is needed where both "
        "went on with the same session. In a clone without it git merges the logs as text.",
    .options = kGitInstallOptions,
    .examples = kGitInstallExamples,
    .run = run_git_install,
};

const Command kGitUninstall = {
    .name = "git uninstall",
    .group = Group::kConnect,
    .summary = "take back what `git install` did",
    .description =
        "Removes the sections merge.bmadmem and diff.bmadmem from the clone's configuration, and "
        "our lines from the memory's .gitattributes, which goes when nothing else is in it.",
    .options = kGitUninstallOptions,
    .examples = kGitUninstallExamples,
    .run = run_git_uninstall,
};

}  // namespace bmad_mem::cli
