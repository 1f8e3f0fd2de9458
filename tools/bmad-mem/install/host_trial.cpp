#include "install/host_trial.hpp"

#include <algorithm>
#include <fstream>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "bmad_mem/json.hpp"
#include "cli/program.hpp"
#include "cli/results.hpp"
#include "exchange/files.hpp"
#include "hooks/hook_event.hpp"
#include "hooks/hook_learning.hpp"
#include "install/client_state.hpp"

namespace bmad_mem::cli {
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
  return plan.command.is_dependency ? fmt::format("./node_modules/.bin/{}", kServerName)
                                    : plan.command.program;
}

/// What the settings run at the event, for a shell; empty where they don't have it.
std::string hook_line_there(const InstallPlan& plan, const HookEventRow& event) {
  const ClientState state = client_state(plan.client, plan.for_user, plan.project,
                                         std::string(environment("HOME")), plan.command);
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
  JsonParser parser;
  const Result<JsonValue> payload = parser.parse(prompt);
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

std::string find_host(const ClientFacts& client, const std::string& home) {
  if (std::string program = find_in_path(client.program); !program.empty()) {
    return program;
  }
  for (const SettingsPlace& place : client.places) {
    const std::string path = user_file(place, home).path;
    const std::string folder = path.substr(0, path.rfind('/'));
    if (!place.in_folder.empty() && folder != home && is_there(folder)) {
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
  return problem.empty() ? std::string(closed_gate(plan.client, plan.for_user, plan.project,
                                                   std::string(environment("HOME"))))
                         : problem;
}

}  // namespace bmad_mem::cli
