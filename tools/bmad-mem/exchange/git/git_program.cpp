#include "exchange/git/git_program.hpp"

#include <algorithm>
#include <array>

namespace bmad_mem::cli {
namespace {

/// With which git tells hooks about their repository. An agent's hook may be one of git's, and the
/// memory may lie in another repository.
constexpr std::array<std::string_view, 7> kRepositoryVariables = {
    "GIT_DIR",        "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR", "GIT_NAMESPACE"};

/// Far from the limit of a command line (2 MB).
constexpr std::size_t kCommitsAtOnce = 500;

}  // namespace

ProgramRun run_git(const std::string& folder, const GitWords& words, std::size_t output_max) {
  GitWords all = {"git", "--no-pager", "-C", folder, "-c", "core.quotePath=false"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all, output_max, kRepositoryVariables);
}

ProgramRun run_git_aloud(const std::string& folder, const GitWords& words) {
  GitWords all = {"sh", "-c", "exec \"$@\" 2>&1", "sh", "git", "--no-pager", "-C", folder};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all, kGitOutputMax, kRepositoryVariables);
}

std::string git_obstacle(const std::string& folder) {
  const ProgramRun version = run_program({"git", "--version"}, kGitOutputMax);
  if (!version.started || version.status != 0) {
    return "git is not installed";
  }
  const ProgramRun inside = run_git(folder, {"rev-parse", "--is-inside-work-tree"});
  return inside.status == 0 && inside.output.starts_with("true")
             ? std::string()
             : "the memory is in no git repository that git can read";
}

bool is_on_another_branch(const std::string& folder, const std::string& path) {
  const ProgramRun here = run_git(folder, {"ls-files", "--", path});
  if (!here.started || here.status != 0 || !here.output.empty()) {
    return false;
  }
  const ProgramRun anywhere =
      run_git(folder, {"log", "--all", "--max-count=1", "--format=%h", "--", path});
  return anywhere.status == 0 && !anywhere.output.empty();
}

ProgramRun list_commits(const std::string& folder, const std::string& path, const GitWords& more) {
  GitWords words = {"rev-list", "--all", "--reflog", "--full-history"};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--", path});
  return run_git(folder, words);
}

void run_git_on(const std::string& folder, const GitWords& words,
                std::span<const std::string_view> commits, std::size_t output_max,
                const std::function<void(const ProgramRun&)>& visit) {
  while (!commits.empty()) {
    const auto some = commits.first(std::min(kCommitsAtOnce, commits.size()));
    commits = commits.subspan(some.size());
    GitWords all = words;
    all.insert(all.end(), some.begin(), some.end());
    all.insert(all.end(), {"--", "."});
    visit(run_git(folder, all, output_max));
  }
}

}  // namespace bmad_mem::cli
