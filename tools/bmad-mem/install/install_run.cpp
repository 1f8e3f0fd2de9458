#include "install/install_run.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/json_writer.hpp"
#include "cli/json_text.hpp"
#include "install/install_plan.hpp"

namespace bmad_mem::cli {
namespace {

void print_json(Tool& tool, const InstallPlan& plan, bool dry_run) {
  print_object(tool, [&](JsonWriter& json) {
    json.member("client", tool.args().positional(0));
    json.member("scope", plan.for_user ? "user" : "project").member("dry_run", dry_run);
    if (!plan.root.empty()) {
      json.member("root", plan.root).member("makes_memory", plan.makes_memory);
    }
    add_objects(json, "files", plan.files, [&](const PlannedFile& file) {
      json.member("path", file.read.path).member("action", file.action());
      json.member("diff", file.diff());
    });
    add_text(json, "warning", fmt::format("{}", fmt::join(plan.warnings, "; ")));
    add_list(json, "next", plan.steps);
  });
}

void print_diff(Tool& tool, std::string_view diff) {
  const Style& style = tool.style();
  while (!diff.empty()) {
    const std::string_view line = diff.substr(0, diff.find('\n'));
    diff.remove_prefix(std::min(line.size() + 1, diff.size()));
    const std::string text = line.starts_with('+')   ? style.green(line)
                             : line.starts_with('-') ? style.red(line)
                                                     : std::string(line);
    tool.out().print("{}\n", text);
  }
}

/// "+12", "+3 -1": how many lines of a file come and go.
std::string line_counts(const PlannedFile& file) {
  std::size_t more = 0;
  std::size_t less = 0;
  const std::string diff = file.diff();
  for (const std::string_view line : lines_of(diff)) {
    more += line.starts_with('+') ? 1 : 0;
    less += line.starts_with('-') ? 1 : 0;
  }
  // The two lines with the file's name are counted as well.
  return fmt::format("+{}{}", more - 1, less > 1 ? fmt::format(" -{}", less - 1) : "");
}

void print_files(Tool& tool, const InstallPlan& plan, bool would) {
  if (!plan.program.copy.empty()) {
    tool.out().print("{} {} to {}, since it lies in a folder that does not last\n",
                     would ? "would copy" : "copied", plan.program.path, plan.program.copy);
  }
  if (plan.makes_memory) {
    tool.out().print("{} memory {}\n", would ? "would create" : "created", plan.root);
  }
  for (const PlannedFile& file : plan.files) {
    if (!file.is_changed()) {
      tool.out().print("{} stays as it is\n", file.read.path);
    } else if (!file.after) {
      tool.out().print("{} {}\n", would ? "would remove" : "removed", file.read.path);
    } else {
      tool.out().print("{} {} ({} lines)\n", would ? "would write" : "wrote", file.read.path,
                       line_counts(file));
    }
  }
}

void print_text(Tool& tool, const InstallPlan& plan, bool would) {
  if (would) {
    for (const PlannedFile& file : plan.files) {
      print_diff(tool, file.diff());
    }
  }
  print_files(tool, plan, would);
  for (const std::string& warning : plan.warnings) {
    tool.note(warning);
  }
  for (const std::string_view step : would ? std::vector<std::string_view>() : plan.steps) {
    tool.note(fmt::format("next: {}", step));
  }
  if (!plan.is_install && !would && !plan.root.empty()) {
    tool.note(fmt::format("the memory {} stays", plan.root));
  }
}

}  // namespace

std::optional<ExitStatus> scope_problem(Tool& tool) {
  const std::string_view scope = tool.args().maybe("scope").value_or("project");
  if (scope == "project" || scope == "user") {
    return std::nullopt;
  }
  return tool.wrong_usage(fmt::format("--scope takes project or user, not '{}'", scope));
}

Result<ExitStatus> run_install(Tool& tool, bool is_install) {
  const std::string_view name = tool.args().positional(0);
  const InstallClient* const client = find_install_client(name);
  if (client == nullptr) {
    std::vector<std::string_view> names;
    std::ranges::transform(install_clients(), std::back_inserter(names), &InstallClient::name);
    return tool.wrong_usage(
        fmt::format("there is no client '{}'; there are {}", name, fmt::join(names, ", ")));
  }
  if (const auto status = scope_problem(tool)) {
    return *status;
  }
  BMAD_TRY_ASSIGN(const InstallPlan plan,
                  plan_install(tool, *client, is_install, tool.args().maybe("scope") == "user",
                               /*advises=*/true));
  const bool dry_run = tool.args().has("dry-run");
  if (!dry_run) {
    BMAD_TRY(carry_out(plan));
  }
  if (tool.json()) {
    print_json(tool, plan, dry_run);
  } else {
    print_text(tool, plan, dry_run);
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
