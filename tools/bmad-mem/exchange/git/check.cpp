#include "exchange/git/check.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "exchange/files.hpp"
#include "exchange/git/driver_settings.hpp"
#include "exchange/git/git_program.hpp"
#include "text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kPatchMax = std::size_t{256} << 20U;

/// The lines that a patch adds, file by file.
///
///   \x01<hash>           of --format
///   diff --git a b       a file; what follows until '@' is its head
///   +++ path
///   @@ … @@              its lines: '+', '-', '\', and for merges one column a parent
class PatchReader {
 public:
  using Visit =
      std::function<void(std::string_view commit, std::string_view path, std::string_view added)>;

  explicit PatchReader(const Visit& visit) : visit_(visit) {}

  void read(std::string_view patch) {
    while (!patch.empty()) {
      const std::size_t end = patch.find('\n');
      read_line(patch.substr(0, end));
      patch.remove_prefix(end == std::string_view::npos ? patch.size() : end + 1);
    }
  }

 private:
  void read_line(std::string_view line) {
    if (line.starts_with('\x01')) {
      commit_ = line.substr(1);
    } else if (line.starts_with("diff ")) {
      parents_ = 0;
    } else if (parents_ == 0 && line.starts_with("+++ ")) {
      path_ = line.substr(4);
    } else if (line.starts_with("@@")) {
      parents_ = std::min(line.find_first_not_of('@'), line.size()) - 1;
    } else if (parents_ > 0) {
      const std::string_view columns = line.substr(0, parents_);
      if (columns.find('+') != std::string_view::npos) {
        visit_(commit_, path_, line.substr(columns.size()));
      }
    }
  }

  const Visit& visit_;
  std::string_view commit_;
  std::string_view path_;
  std::size_t parents_ = 0;  // 0: in the head of a file.
};

class RepositoryCheck {
 public:
  RepositoryCheck(const std::string& root, const SecretScanner& scanner)
      : root_(root), scanner_(scanner) {}

  void check_settings() {
    const ProgramRun section =
        run_git(root_, {"config", "--local", "--get-regexp", "^merge\\.bmadmem\\."});
    const ProgramRun driver = run_git(root_, {"config", "--get", "merge.bmadmem.driver"});
    if (section.status == 0 && driver.status != 0) {
      add({.kind = "half_installed",
           .path = ".git/config",
           .detail = "the section merge.bmadmem has no driver: every merge ends in a fatal error",
           .remedy = "`bmad-mem git install` writes the driver"});
    }
  }

  void check_files() {
    const ProgramRun run = run_git(root_, {"ls-files", "-z", "--stage", "--", "."});
    check_whole(run);
    std::string last;
    for (const std::string& line : split_output(run.output, '\0')) {
      // "100644 <hash> <stage>\t<path>"
      const std::size_t tab = line.find('\t');
      if (tab == std::string::npos || tab == 0) {
        continue;
      }
      const std::string path = line.substr(tab + 1);
      if (path == last) {
        continue;  // Another stage of the same file.
      }
      last = path;
      check_file(path, line[tab - 1] != '0');
    }
  }

  /// All that commits added, also of those that only a reflog remembers.
  void check_history() {
    const ProgramRun run =
        run_git(root_, {"rev-list", "--all", "--reflog", "--full-history", "--", "."});
    check_whole(run);
    const std::vector<std::string> commits = split_output(run.output);
    result_.commits = commits.size();
    const PatchReader::Visit visit = [this](std::string_view commit, std::string_view path,
                                            std::string_view added) {
      look_for_secrets(commit, path, added);
    };
    for (std::size_t at = 0; at < commits.size(); at += kCommitsAtOnce) {
      const auto begin = commits.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end = commits.begin() +
                       static_cast<std::ptrdiff_t>(std::min(at + kCommitsAtOnce, commits.size()));
      const ProgramRun patch = patch_of({begin, end});
      check_whole(patch);
      PatchReader(visit).read(patch.output);
    }
    add_secrets();
    note_compressed();
  }

  GitCheck take() { return std::move(result_); }

 private:
  void add(GitFinding finding) { result_.findings.push_back(std::move(finding)); }

  void check_whole(const ProgramRun& run) {
    if (run.status != 0 || run.was_cut) {
      result_.obstacle = "git could not be asked for everything, so there may be more";
    }
  }

  void check_file(const std::string& path, bool is_unmerged) {
    ++result_.files;
    if (is_unmerged) {
      add({.kind = "unmerged",
           .path = path,
           .detail = "git waits for somebody to merge it",
           .remedy = "merge the file, then `git add` it"});
    }
    if (const std::string_view reason = reason_against_tracking(path); !reason.empty()) {
      add({.kind = "not_for_git",
           .path = path,
           .detail = std::string(reason),
           .remedy = fmt::format("`git rm --cached -- {}` in the memory's folder, and commit; its "
                                 ".gitignore should name it (`bmad-mem init` in an empty folder "
                                 "shows how)",
                                 shell_quoted(path))});
      return;
    }
    if (!path.ends_with(".jsonl") && !path.ends_with(".json") && !path.ends_with(".md")) {
      return;
    }
    const Result<std::string> text = read_regular_file(root_ + "/" + path);
    if (!text) {
      return;  // Deleted, and not committed yet: nothing is in it.
    }
    std::ranges::move(find_conflict_markers(path, *text), std::back_inserter(result_.findings));
    if (path.ends_with(".jsonl")) {
      std::ranges::move(find_repeated_lines(path, *text), std::back_inserter(result_.findings));
    }
  }

  [[nodiscard]] ProgramRun patch_of(const std::vector<std::string>& commits) const {
    std::vector<std::string> words = {"-c",
                                      "log.showRoot=true",
                                      "log",
                                      "--no-walk=unsorted",
                                      "-p",
                                      "--cc",
                                      "-U0",
                                      "--relative",
                                      "--no-prefix",
                                      "--no-color",
                                      "--no-renames",
                                      "--no-textconv",
                                      "--no-ext-diff",
                                      "--no-show-signature",
                                      "--format=%x01%H"};
    words.insert(words.end(), commits.begin(), commits.end());
    words.insert(words.end(), {"--", "."});
    return run_git(root_, std::move(words), kPatchMax);
  }

  void look_for_secrets(std::string_view commit, std::string_view path, std::string_view added) {
    if (!seen_.insert(std::hash<std::string_view>()(added)).second) {
      return;  // The same line in another commit or file: one finding names it already.
    }
    for (const SecretPlace& place : scanner_.find(added)) {
      if (place.is_certain) {
        auto& [count, first] = secrets_[{std::string(path), place.what + " (" + place.rule + ")"}];
        ++count;
        first = std::string(commit.substr(0, 10));  // Newest first, so the oldest stays.
      }
    }
  }

  void add_secrets() {
    for (const auto& [what, where] : secrets_) {
      const auto& [path, rule] = what;
      const auto& [count, commit] = where;
      add({.kind = "secret",
           .path = path,
           .detail = fmt::format("{}{}, in the history since {}", rule,
                                 count == 1 ? "" : fmt::format(", {} places", count), commit),
           .remedy =
               "`bmad-mem redact --all` takes it out of the files; `git filter-repo "
               "--replace-text FILE` takes it out of the history, then force-push; change the "
               "secret, since clones, forks and backups still have it"});
    }
  }

  void note_compressed() {
    const ProgramRun objects = run_git(
        root_, {"rev-list", "--all", "--reflog", "--objects", "--full-history", "--", "archive"});
    const std::vector<std::string> lines = split_output(objects.output);
    const auto count =
        std::ranges::count_if(lines, [](const std::string& line) { return line.ends_with(".gz"); });
    if (count > 0 && result_.obstacle.empty()) {
      result_.obstacle = fmt::format(
          "{} in archive/ not looked into for secrets; `bmad-mem redact --all --dry-run` does that "
          "for those of today",
          format_count(static_cast<std::uint64_t>(count), "compressed file was",
                       "compressed files were"));
    }
  }

  const std::string& root_;
  const SecretScanner& scanner_;
  std::unordered_set<std::size_t> seen_;
  /// By path and rule: how many lines, and the oldest commit.
  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::string>> secrets_;
  GitCheck result_;
};

}  // namespace

Result<GitCheck> check_repository(const std::string& root, const SecretScanner& scanner,
                                  bool history) {
  if (const std::string obstacle = git_obstacle(root); !obstacle.empty()) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = obstacle +
                            ", so there is nothing to check; `bmad-mem verify` checks the "
                            "files themselves",
                 .path = root};
  }
  RepositoryCheck check(root, scanner);
  check.check_settings();
  check.check_files();
  if (history) {
    check.check_history();
  }
  return check.take();
}

}  // namespace bmad_mem::cli
