#include "install/install_run.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/json_writer.hpp"
#include "cli/json_text.hpp"
#include "exchange/files.hpp"
#include "install/client_files.hpp"
#include "install/client_state.hpp"
#include "install/settings_edit.hpp"
#include "install/settings_file.hpp"

namespace bmad_mem::cli {
namespace {

/// A file before and after.
struct PlannedFile {
  SettingsFile file;
  SettingsText read;
  std::optional<std::string> after;

  [[nodiscard]] bool is_changed() const { return read.text != after; }
  [[nodiscard]] std::string_view action() const {
    if (!is_changed()) {
      return "unchanged";
    }
    return !read.text ? "created" : after ? "changed" : "removed";
  }
  [[nodiscard]] std::string diff() const {
    if (!is_changed()) {
      return {};
    }
    return fmt::format("--- {}\n+++ {}\n{}", read.text ? read.path : "/dev/null",
                       after ? read.path : "/dev/null",
                       unified_diff(read.text.value_or(""), after.value_or(""), 3));
  }
};

struct Plan {
  const InstallClient& client;
  bool is_install = true;
  bool dry_run = false;
  bool for_user = false;
  std::string project;  ///< The project's folder, absolute.
  InstalledCommand command;
  std::string root;  ///< Of the memory; empty when none is looked for.
  bool makes_memory = false;
  std::vector<PlannedFile> files;
  std::string warning;  ///< A sentence; empty: none.

  /// What the user must still do.
  [[nodiscard]] std::span<const std::string_view> steps_left() const {
    return for_user ? client.steps_for_user : client.steps_in_project;
  }
};

}  // namespace

std::string installed_program() {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t size = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  if (size <= 0 || static_cast<std::size_t>(size) == buffer.size()) {
    return "bmad-mem";
  }
  std::string own(buffer.data(), static_cast<std::size_t>(size));
  struct stat ours{};
  struct stat found{};
  std::string_view path = environment("PATH");
  while (!path.empty() && ::stat(own.c_str(), &ours) == 0) {
    const std::string_view folder = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(folder.size() + 1, path.size()));
    const std::string candidate = std::string(folder) + "/bmad-mem";
    // The first one that can be run is the one that a shell takes.
    if (folder.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0 &&
        ::stat(candidate.c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
      return found.st_dev == ours.st_dev && found.st_ino == ours.st_ino ? "bmad-mem" : own;
    }
  }
  return own;
}

namespace {

/// The project's folder and its memory. A memory that is named explicitly goes into the command.
void choose_project(Tool& tool, Plan& plan) {
  std::error_code ignored;
  plan.project = std::filesystem::current_path(ignored).string();
  plan.command.root = absolute_path(tool.args().value("root"));
  if (!plan.command.root.empty()) {
    plan.root = plan.command.root;
  } else if (!plan.for_user) {
    const Result<std::string> found =
        MemoryManager::find_root("", environment("BMAD_MEMORY_ROOT"), plan.project);
    plan.root = found ? *found : tool.root_to_create();
    static constexpr std::string_view kInProject = "/.bmad/memory";
    if (found && found->ends_with(kInProject) && environment("BMAD_MEMORY_ROOT").empty()) {
      const std::string folder = absolute_path(found->substr(0, found->size() - kInProject.size()));
      // A worktree has the memory of the main one, and its own settings.
      plan.project = plan.project.starts_with(folder + "/") ? folder : plan.project;
    }
  }
  struct stat there{};
  plan.makes_memory = plan.is_install && !plan.root.empty() &&
                      ::stat((plan.root + "/config.json").c_str(), &there) != 0;
}

Result<Plan> begin_plan(Tool& tool, const InstallClient& client, bool is_install) {
  Plan plan{.client = client, .is_install = is_install};
  plan.dry_run = tool.args().has("dry-run");
  plan.for_user = tool.args().maybe("scope") == "user";
  if (plan.for_user && !environment("HOME").starts_with('/')) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "the user's settings lie below $HOME, which is not set to a folder",
                 .field = "HOME"};
  }
  plan.command.program = installed_program();
  choose_project(tool, plan);
  return plan;
}

/// What to do by hand with a file that we don't touch.
void tell_by_hand(Tool& tool, const SettingsFile& file, const SettingsChange& change) {
  const std::string paste = settings_to_paste(change);
  if (!paste.empty()) {
    tool.note(fmt::format("nothing was written; put this into {} by hand:", file.path));
    if (!tool.json()) {
      tool.out().write(paste);
    }
  } else {
    tool.note(fmt::format(
        "nothing was written; remove the lines that name bmad-mem from {} by hand", file.path));
  }
}

Status plan_file(Tool& tool, Plan& plan, const SettingsFile& file) {
  const SettingsChange change{
      .client = plan.client,
      .part = file.part,
      .command = plan.is_install ? std::optional(plan.command) : std::nullopt};
  auto planned = std::ranges::find(plan.files, file.path,
                                   [](const PlannedFile& one) { return one.read.path; });
  if (planned == plan.files.end()) {
    BMAD_TRY_ASSIGN(SettingsText read,
                    read_settings(file.path, plan.for_user ? std::string() : plan.project));
    plan.files.push_back({.file = file, .read = read, .after = read.text});
    planned = plan.files.end() - 1;
  }
  Result<std::optional<std::string>> after = changed_settings(planned->after, change);
  if (!after) {
    Error error = std::move(after).error();
    error.path = file.path;
    tell_by_hand(tool, file, change);
    return error;
  }
  planned->after = std::move(*after);
  return {};
}

/// What is wrong when the other scope has hooks as well; empty when it has none.
std::string double_hooks(const Plan& plan) {
  const std::string home(environment("HOME"));
  if (!plan.is_install || !plan.client.hooks || !home.starts_with('/') || plan.project == home ||
      !client_state(plan.client, !plan.for_user, plan.project, home, plan.command).has_hooks()) {
    return {};
  }
  return fmt::format(
      "{} is connected for {} as well: each event is recorded twice; `bmad-mem "
      "uninstall {}{}` leaves one",
      plan.client.title, plan.for_user ? "this project" : "the user", plan.client.name,
      plan.for_user ? "" : " --scope user");
}

/// Writes all files of the plan. On a full disk none of them has changed.
Status write_files(const Plan& plan) {
  std::vector<PreparedSettings> prepared;
  for (const PlannedFile& file : plan.files) {
    if (!file.is_changed()) {
      continue;
    }
    Result<PreparedSettings> next = PreparedSettings::prepare(
        file.read, file.after, file.file.part == SettingsPart::kHookScripts);
    if (!next) {
      prepared.clear();
      for (const PlannedFile& other : plan.files) {
        if (!other.read.text) {
          remove_empty_folders(other.read.path, other.file.stays);
        }
      }
      return std::move(next).error();
    }
    prepared.push_back(std::move(*next));
  }
  std::string written;
  for (PreparedSettings& each : prepared) {
    if (Status done = each.commit(); !done) {
      Error error = std::move(done).error();
      error.message += written.empty() ? "" : fmt::format("; written already: {}", written);
      return error;
    }
    written += fmt::format("{}{}", written.empty() ? "" : ", ", each.path());
  }
  for (const PlannedFile& file : plan.files) {
    if (file.is_changed() && !file.after && file.read.path == file.read.target) {
      remove_empty_folders(file.read.path, file.file.stays);
    }
  }
  return {};
}

void print_json(Tool& tool, const Plan& plan) {
  print_object(tool, [&](JsonWriter& json) {
    json.member("client", tool.args().positional(0));
    json.member("scope", plan.for_user ? "user" : "project").member("dry_run", plan.dry_run);
    if (!plan.root.empty()) {
      json.member("root", plan.root).member("makes_memory", plan.makes_memory);
    }
    add_objects(json, "files", plan.files, [&](const PlannedFile& file) {
      json.member("path", file.read.path).member("action", file.action());
      json.member("diff", file.diff());
    });
    add_text(json, "warning", plan.warning);
    json.key("next").begin_array();
    if (plan.is_install) {
      for (const std::string_view step : plan.steps_left()) {
        json.string(step);
      }
    }
    json.end_array();
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

void print_text(Tool& tool, const Plan& plan) {
  for (const PlannedFile& file : plan.files) {
    print_diff(tool, file.diff());
  }
  const bool would = plan.dry_run;
  if (plan.makes_memory) {
    tool.out().print("{} memory {}\n", would ? "would create" : "created", plan.root);
  }
  for (const PlannedFile& file : plan.files) {
    if (!file.is_changed()) {
      tool.out().print("{} stays as it is\n", file.read.path);
    } else {
      tool.out().print("{}{} {}\n", would ? "would " : "",
                       file.after ? (would ? "write" : "wrote") : (would ? "remove" : "removed"),
                       file.read.path);
    }
  }
  if (!plan.warning.empty()) {
    tool.note(plan.warning);
  }
  if (plan.is_install && !would) {
    for (const std::string_view step : plan.steps_left()) {
      tool.note(fmt::format("next: {}", step));
    }
  } else if (!plan.is_install && !would && !plan.root.empty()) {
    tool.note(fmt::format("the memory {} stays", plan.root));
  }
}

}  // namespace

Result<ExitStatus> run_install(Tool& tool, bool is_install) {
  const std::string_view name = tool.args().positional(0);
  const InstallClient* const client = find_install_client(name);
  if (client == nullptr) {
    std::vector<std::string_view> names;
    std::ranges::transform(install_clients(), std::back_inserter(names), &InstallClient::name);
    return tool.wrong_usage(
        fmt::format("there is no client '{}'; there are {}", name, fmt::join(names, ", ")));
  }
  const std::string_view scope = tool.args().maybe("scope").value_or("project");
  if (scope != "project" && scope != "user") {
    return tool.wrong_usage(fmt::format("--scope takes project or user, not '{}'", scope));
  }
  BMAD_TRY_ASSIGN(Plan plan, begin_plan(tool, *client, is_install));
  for (const SettingsFile& file :
       settings_files(plan.client, plan.for_user, plan.project, std::string(environment("HOME")))) {
    BMAD_TRY(plan_file(tool, plan, file));
  }
  plan.warning = double_hooks(plan);
  if (!plan.dry_run) {
    if (plan.makes_memory) {
      BMAD_TRY(MemoryManager::init(plan.root, trusting_folder()));
    }
    BMAD_TRY(write_files(plan));
  }
  if (tool.json()) {
    print_json(tool, plan);
  } else {
    print_text(tool, plan);
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
