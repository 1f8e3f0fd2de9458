#include "exchange/git/git_program.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace bmad_mem::cli {
namespace {

/// With which git tells hooks about their repository. An agent's hook may be one of git's, and the
/// memory may lie in another repository.
constexpr std::array<std::string_view, 7> kRepositoryVariables = {
    "GIT_DIR",        "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR", "GIT_NAMESPACE"};

}  // namespace

ProgramRun run_git(const std::string& folder, std::vector<std::string> words,
                   std::size_t output_max) {
  std::vector<std::string> all = {"git", "--no-pager", "-C", folder, "-c", "core.quotePath=false"};
  std::ranges::move(words, std::back_inserter(all));
  return run_program(all, output_max, kRepositoryVariables);
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

std::vector<std::string> split_output(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return pieces;
}

}  // namespace bmad_mem::cli
