#include "install/install_run.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/json.hpp"
#include "install/install_plan.hpp"

namespace bmad_mem::cli {
namespace {

/// What the view shows of a file: also how many lines come and go. The two lines with the file's
/// name are no such.
RawJson shown_file(const PlannedFile& file) {
  const std::string diff = file.diff();
  const std::vector<std::string_view> lines = lines_of(diff);
  const auto begins = [](char sign) {
    return [sign](std::string_view line) { return line.starts_with(sign); };
  };
  return raw_json(json_object("path", file.read.path, "is_changed", file.is_changed(), "is_gone",
                              !file.after, "diff_lines", lines, "more",
                              std::ranges::count_if(lines, begins('+')) - 1, "less",
                              std::ranges::count_if(lines, begins('-')) - 1));
}

void print_plan(Tool& tool, const InstallPlan& plan, bool dry_run) {
  const auto file_members = [](const PlannedFile& file) {
    return [&file](JsonWriter& json) {
      put_all(json, "path", file.read.path, "action", file.action(), "diff", file.diff());
    };
  };
  const bool has_root = !plan.root.empty();
  show(tool, "installed",
       object_of("client", tool.args().positional(0), "scope", plan.for_user ? "user" : "project",
                 "dry_run", dry_run, "root", only_if(has_root, plan.root), "makes_memory",
                 only_if(has_root, plan.makes_memory), "files",
                 plan.files | std::views::transform(file_members), "warning",
                 if_some(fmt::format("{}", fmt::join(plan.warnings, "; "))), "next", plan.steps),
       "is_install", plan.is_install, "program", plan.program.path, "copy", plan.program.copy,
       "warnings", plan.warnings, "shown", plan.files | std::views::transform(shown_file));
}

}  // namespace

ExitStatus no_such_client(Tool& tool, std::string_view name) {
  return tool.wrong_usage(
      fmt::format("there is no client '{}'; there are {}", name, fmt::join(client_names(), ", ")));
}

Result<ExitStatus> run_install(Tool& tool, bool is_install) {
  const std::string_view name = tool.args().positional(0);
  const ClientFacts* const client = find_client(name);
  if (client == nullptr) {
    return no_such_client(tool, name);
  }
  BMAD_TRY_ASSIGN(const InstallPlan plan,
                  plan_install(tool, *client, is_install, tool.args().maybe("scope") == "user",
                               /*advises=*/true));
  const bool dry_run = tool.args().has("dry-run");
  if (!dry_run) {
    BMAD_TRY(carry_out(plan));
  }
  print_plan(tool, plan, dry_run);
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
