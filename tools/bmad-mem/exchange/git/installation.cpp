#include "exchange/git/installation.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "exchange/files.hpp"
#include "exchange/git/attributes.hpp"
#include "exchange/git/git_program.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgramName = "bmad-mem";

std::string first_line(const ProgramRun& run) {
  return run.output.substr(0, run.output.find('\n'));
}

Result<GitPlan> begin_plan(const std::string& root) {
  if (const std::string obstacle = git_obstacle(root); !obstacle.empty()) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = obstacle + "; `git init` in the project makes a repository",
                 .path = root};
  }
  GitPlan plan;
  plan.repository = first_line(run_git(root, {"rev-parse", "--show-toplevel"}));
  plan.attributes_path = root + "/.gitattributes";
  plan.is_ignored =
      run_git(root, {"check-ignore", "-q", "sessions/x/conversation.jsonl"}).status == 0;
  return plan;
}

Result<std::string> present_attributes(const GitPlan& plan) {
  return is_there(plan.attributes_path) ? read_regular_file(plan.attributes_path)
                                        : Result<std::string>(std::string());
}

/// The value in the clone's own configuration; empty when there is none.
std::string present_setting(const std::string& folder, const std::string& key) {
  const ProgramRun run = run_git(folder, {"config", "--local", "--null", "--get", key});
  return run.status == 0 ? run.output.substr(0, run.output.find('\0')) : std::string();
}

bool has_section(const std::string& folder, std::string_view section) {
  std::string pattern = "^";
  for (const char c : section) {
    pattern += c == '.' ? "\\." : std::string(1, c);
  }
  return run_git(folder, {"config", "--local", "--get-regexp", pattern + "\\."}).status == 0;
}

Error git_failed(const GitPlan& plan, std::string_view what) {
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = fmt::format("git could not {} in the repository's configuration; is "
                                      ".git/config locked, or not yours to write?",
                                      what),
               .path = plan.repository};
}

Status write_attributes(const GitPlan& plan) {
  if (plan.attributes->empty()) {
    if (::unlink(plan.attributes_path.c_str()) != 0 && errno != ENOENT) {
      return Error{.code = ErrorCode::E_STORAGE_IO,
                   .message = fmt::format("cannot remove it: {}", std::strerror(errno)),
                   .path = plan.attributes_path,
                   .os_error = errno};
    }
    return {};
  }
  BMAD_TRY_ASSIGN(OutputFile file, OutputFile::create(plan.attributes_path, /*force=*/true));
  file.out().write(*plan.attributes);
  return file.commit();
}

}  // namespace

std::string own_program() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  std::string_view rest = environment("PATH");
  while (!failure && !rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    const fs::path candidate = fs::path(folder) / kProgramName;
    std::error_code ignored;
    if (folder.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) {
      // The first on the PATH is the one that git will run.
      return fs::equivalent(candidate, self, ignored) ? kProgramName : self.string();
    }
  }
  return failure ? kProgramName : self.string();
}

Result<GitPlan> plan_install(const std::string& root) {
  BMAD_TRY_ASSIGN(GitPlan plan, begin_plan(root));
  BMAD_TRY_ASSIGN(const std::string present, present_attributes(plan));
  if (std::string wanted = with_attributes(present); wanted != present) {
    plan.attributes = std::move(wanted);
  }
  for (GitSetting& setting : driver_settings(own_program())) {
    if (present_setting(plan.repository, setting.key) != setting.value) {
      plan.settings.push_back(std::move(setting));
    }
  }
  return plan;
}

Result<GitPlan> plan_uninstall(const std::string& root, bool keep_attributes) {
  BMAD_TRY_ASSIGN(GitPlan plan, begin_plan(root));
  BMAD_TRY_ASSIGN(const std::string present, present_attributes(plan));
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
    const ProgramRun run = run_git(
        plan.repository, {"config", "--local", "--replace-all", setting.key, setting.value});
    if (run.status != 0) {
      return git_failed(plan, fmt::format("set {}", setting.key));
    }
  }
  for (const std::string& section : plan.sections) {
    const ProgramRun run =
        run_git(plan.repository, {"config", "--local", "--remove-section", section});
    if (run.status != 0) {
      return git_failed(plan, fmt::format("remove the section {}", section));
    }
  }
  return plan.attributes ? write_attributes(plan) : Status();
}

}  // namespace bmad_mem::cli
