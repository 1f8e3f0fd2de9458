// init - makes a memory.
#include "bmad_mem/json_writer.hpp"
#include "commands/commands.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

Result<ExitStatus> run_init(Tool& tool) {
  BMAD_TRY_ASSIGN(const InitReport report, MemoryManager::init(tool.root_to_create()));
  const bool created = report.created_config || report.created_gitignore;
  if (tool.json()) {
    JsonWriter json;
    json.begin_object().member("root", report.root);
    json.member("created_config", report.created_config);
    json.member("created_gitignore", report.created_gitignore);
    json.end_object();
    tool.out().print("{}\n", json.text());
  } else if (created) {
    tool.out().print("created memory {}\n", report.root);
    tool.note("next: bmad-mem add fact TEXT, then bmad-mem query WORDS");
  } else {
    tool.out().print("memory {} already exists; nothing changed\n", report.root);
  }
  return ExitStatus::kDone;
}

constexpr Example kInitExamples[] = {
    {.command = "bmad-mem init", .says = "make .bmad/memory in this folder"},
    {.command = "bmad-mem --root /srv/memory init", .says = "make it somewhere else"},
};

}  // namespace

const Command kInit = {
    .name = "init",
    .group = Group::kStart,
    .summary = "create a memory in this folder",
    .description =
        "Makes the folder .bmad/memory with config.json, which lists every setting with its "
        "default, and a .gitignore for what is derived or local. What is there already stays as it "
        "is.\n\n"
        "The folder is the one that --root or $BMAD_MEMORY_ROOT names, else .bmad/memory right "
        "here.",
    .examples = kInitExamples,
    .run = run_init,
};

}  // namespace bmad_mem::cli
