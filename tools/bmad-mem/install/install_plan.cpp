// install_plan.cpp - plans the changes of all files of a client, and carries them out.
#include "install/install_plan.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ranges>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/json.hpp"
#include "cli/program.hpp"
#include "cli/results.hpp"
#include "cli/view_text.hpp"
#include "exchange/files.hpp"
#include "hooks/hook_actions.hpp"
#include "hooks/hook_event.hpp"
#include "install/client_files.hpp"
#include "install/settings_edit.hpp"

namespace bmad_mem::cli {

namespace {

/// The project's folder and its memory. A memory given explicitly becomes part of the command.
void choose_project(Tool& tool, InstallPlan& plan) {
  std::error_code ignored;
  plan.project = std::filesystem::current_path(ignored).string();
  plan.root = absolute_path(tool.args().value("root"));
  if (plan.root.empty() && !plan.for_user) {
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

Result<InstallPlan> begin_plan(Tool& tool, const ClientFacts& client, bool is_install,
                               bool for_user) {
  InstallPlan plan{.client = client, .is_install = is_install, .for_user = for_user};
  if (plan.for_user && !environment("HOME").starts_with('/')) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "the user's settings lie below $HOME, which is not set to a folder",
                 .field = "HOME"};
  }
  choose_project(tool, plan);
  plan.program = own_program(plan.for_user, plan.project);
  plan.program.command.root = absolute_path(tool.args().value("root"));
  if (is_install && !plan.program.warning.empty()) {
    plan.warnings.push_back(plan.program.warning);
  }
  return plan;
}

/// What to do by hand with a file that we don't touch.
void tell_by_hand(Tool& tool, const SettingsFile& file, const SettingsChange& change) {
  const std::string paste = settings_to_paste(change);
  describe(tool, "by_hand", "path", file.path, "paste", paste);
}

Status plan_file(Tool& tool, InstallPlan& plan, const SettingsFile& file, bool advises) {
  const SettingsChange change{
      .client = plan.client,
      .part = file.part,
      .command = plan.is_install ? std::optional(plan.program.command) : std::nullopt};
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
    if (advises) {
      tell_by_hand(tool, file, change);
    }
    return error;
  }
  planned->after = std::move(*after);
  return {};
}

/// What is wrong when the other scope has hooks as well; empty when it has none.
std::string double_hooks(const InstallPlan& plan) {
  const std::string_view home = environment("HOME");
  if (!plan.is_install || !plan.client.has_hooks() || !home.starts_with('/') ||
      plan.project == home ||
      !client_state(plan.client, !plan.for_user, plan.project, plan.program.command).has_hooks()) {
    return {};
  }
  return view_line("double_hooks", json_object("title", plan.client.title, "name", plan.client.name,
                                               "for_user", plan.for_user));
}

/// Writes all files of the plan. On a full disk none of them has changed.
Status write_files(const InstallPlan& plan) {
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

}  // namespace

std::string_view PlannedFile::action() const {
  if (!is_changed()) {
    return "unchanged";
  }
  return !read.text ? "created" : after ? "changed" : "removed";
}

std::string PlannedFile::diff() const {
  if (!is_changed()) {
    return {};
  }
  return fmt::format("--- {}\n+++ {}\n{}", read.text ? read.path : "/dev/null",
                     after ? read.path : "/dev/null",
                     unified_diff(read.text.value_or(""), after.value_or(""), 3));
}

Result<InstallPlan> plan_install(Tool& tool, const ClientFacts& client, bool is_install,
                                 bool for_user, bool advises) {
  BMAD_TRY_ASSIGN(InstallPlan plan, begin_plan(tool, client, is_install, for_user));
  for (const SettingsFile& file : settings_files(client, for_user, plan.project)) {
    BMAD_TRY(plan_file(tool, plan, file, advises));
  }
  if (is_install) {
    plan.steps = steps_left(client, for_user, plan.project);
  }
  if (std::string twice = double_hooks(plan); !twice.empty()) {
    plan.warnings.push_back(std::move(twice));
  }
  return plan;
}

Status carry_out(const InstallPlan& plan) {
  if (plan.is_install) {
    BMAD_TRY(place_program(plan.program));
  }
  if (plan.makes_memory) {
    BMAD_TRY(MemoryManager::init(plan.root, trusting_folder()));
  }
  return write_files(plan);
}

namespace {

/// What the view shows of a file: also how many lines come and go. The two lines with the file's
/// name are no such.
RawJson shown_file(const PlannedFile& file) {
  const std::string diff = file.diff();
  const std::vector<std::string_view> lines = lines_of(diff);
  const auto begins = [](char sign) {
    return [sign](std::string_view line) { return line.starts_with(sign); };
  };
  return raw_object("path", file.read.path, "is_changed", file.is_changed(), "is_gone", !file.after,
                    "diff_lines", lines, "more", std::ranges::count_if(lines, begins('+')) - 1,
                    "less", std::ranges::count_if(lines, begins('-')) - 1);
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

namespace {

/// A memory, and what else programs write, in a folder that goes with this object.
class TrialFolder {
 public:
  [[nodiscard]] std::string root() const { return folder_.path() + "/memory"; }
  /// Errors: E_STORAGE_IO without a folder; those of MemoryManager::init().
  [[nodiscard]] Status begin() const {
    if (folder_.path().empty()) {
      return Error{.code = ErrorCode::E_STORAGE_IO,
                   .message = "no temporary folder can be made; set TMPDIR to one"};
    }
    BMAD_TRY(MemoryManager::init(root(), folder_.path() + "/bmad-mem"));
    // An index is made after the answer, and could be written after the removal.
    std::ofstream(root() + "/config.json") << R"({"memory_config":{"indexing":{"enabled":false}}})";
    return {};
  }
  /// What the shell's `line` says to `input`, on both ways, in the folder `project`.
  [[nodiscard]] std::string run(const std::string& project, const std::string& line,
                                std::string_view input) const {
    static constexpr std::string_view kProjects[] = {"CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR",
                                                     "CURSOR_PROJECT_DIR"};
    const std::string file = folder_.path() + "/input";
    std::ofstream(file) << input << '\n';
    return run_program({"env", "BMAD_MEMORY_ROOT=" + root(), "XDG_STATE_HOME=" + folder_.path(),
                        "TMPDIR=" + folder_.path(), "sh", "-c",
                        R"(cd "$1" && exec sh -c "$2" <"$3" 2>&1)", "sh", project, line, file},
                       65536, kProjects)
        .output;
  }

 private:
  ScratchFolder folder_;
};

constexpr std::string_view kTrialSession = "bmad-mem-setup";

std::string prompt_json(const ClientFacts& client, const HookEventRow& event,
                        const std::string& project) {
  const auto text = object_of(event.text, "Does the hook record? (A test of bmad-mem setup.)");
  const auto prompt = [&](JsonWriter& json) {
    event.inside.empty() ? text(json) : put(json, event.inside, text);
  };
  return json_object(client.event_key, event.name, client.session_key, kTrialSession, "cwd",
                     project, prompt);
}

/// The program that the settings name, from the project's folder.
std::string program_here(const InstallPlan& plan) {
  return plan.program.command.is_dependency ? fmt::format("./node_modules/.bin/{}", kServerName)
                                            : plan.program.command.program;
}

/// What the settings run at the event, for a shell; empty where they don't have it.
std::string hook_line_there(const InstallPlan& plan, const HookEventRow& event) {
  const ClientState state =
      client_state(plan.client, plan.for_user, plan.project, plan.program.command);
  for (const InstalledPart& part : state.parts) {
    if (part.part == SettingsPart::kPlugin && part.line != 0) {
      return shell_line({program_here(plan), "hook", std::string(plan.client.name)});
    }
    if (part.name == event.name && part.line != 0) {
      return part.part == SettingsPart::kHookScripts ? shell_line({part.path}) : part.command;
    }
  }
  return {};
}

std::string hook_problem(const InstallPlan& plan, const TrialFolder& folder) {
  const HookEventRow* const event = plan.client.asked(HookEventKind::kPrompt);
  const std::string line = event == nullptr ? "" : hook_line_there(plan, *event);
  if (line.empty()) {
    return "its settings have no hook for prompts";
  }
  const std::string prompt = prompt_json(plan.client, *event, plan.project);
  const std::string said = folder.run(plan.project, line, prompt);
  if (!is_there(fmt::format("{}/sessions/{}{}/conversation.jsonl", folder.root(),
                            plan.client.session_prefix, kTrialSession))) {
    return fmt::format("its hook did not record a prompt: {}",
                       said.empty() ? "it said nothing" : said.substr(0, said.find('\n')));
  }
  if (plan.root.empty()) {
    return {};
  }
  const Result<MemoryManager> memory = MemoryManager::open(
      {.root = plan.root, .state_folder = trusting_folder(), .tolerate_bad_config = true});
  const ParsedJson payload(prompt);
  if (memory && payload &&
      is_skipped(memory->hook_policy(), read_hook_event(plan.client, *payload))) {
    return "memory_config.recording in config.json keeps it from being recorded";
  }
  return {};
}

std::string server_problem(const InstallPlan& plan, const TrialFolder& folder) {
  const std::string said = folder.run(
      plan.project, shell_line({program_here(plan), "mcp"}),
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
      R"("capabilities":{},"clientInfo":{"name":"bmad-mem setup","version":"1"}}})");
  return said.contains("\"serverInfo\"")
             ? std::string()
             : fmt::format("its server did not answer: {}",
                           said.empty() ? "it said nothing" : said.substr(0, said.find('\n')));
}

}  // namespace

std::string find_host(const ClientFacts& client) {
  if (std::string program = find_in_path(client.program); !program.empty()) {
    return program;
  }
  for (const SettingsPlace& place : client.places) {
    const std::string path = user_file(place).path;
    const std::string folder = path.substr(0, path.rfind('/'));
    if (!place.in_folder.empty() && folder != environment("HOME") && is_there(folder)) {
      return folder;
    }
  }
  return {};
}

std::string newer_version(const ClientFacts& client) {
  const std::string program = find_in_path(client.program);
  if (program.empty() || client.how == "documents") {
    return {};
  }
  constexpr std::size_t kOutputMax = 256;
  const auto there =
      version_numbers(run_program({"timeout", "2", program, "--version"}, kOutputMax).output);
  return there > version_numbers(client.tried) ? fmt::format("{}", fmt::join(there, ".")) : "";
}

std::string host_problem(const InstallPlan& plan) {
  const TrialFolder folder;
  if (const Status begun = folder.begin(); !begun) {
    return fmt::format("it was not tried: {}", begun.error().to_string());
  }
  std::string problem = plan.client.has_hooks() ? hook_problem(plan, folder) : std::string();
  const bool has_server = std::ranges::any_of(plan.files, [](const PlannedFile& file) {
    return file.file.part == SettingsPart::kJsonServer ||
           file.file.part == SettingsPart::kTomlServer;
  });
  if (problem.empty() && (has_server || !plan.client.has_hooks())) {
    problem = server_problem(plan, folder);
  }
  return problem.empty() ? std::string(closed_gate(plan.client, plan.for_user, plan.project))
                         : problem;
}

}  // namespace bmad_mem::cli
