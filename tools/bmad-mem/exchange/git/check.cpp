// check.cpp - checks a repository for unfinished merges, local files and secrets.
#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/encryption.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/text.hpp"
#include "exchange/files.hpp"
#include "exchange/git/git_program.hpp"
#include "exchange/git/installation.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kPatchMax = std::size_t{256} << 20U;

/// "<<<<<<< ours": at least seven of `mark`, then a blank or nothing.
bool is_marker(std::string_view line, char mark) {
  constexpr std::size_t kMarkerSize = 7;
  const std::size_t size = std::min(line.find_first_not_of(mark), line.size());
  return size >= kMarkerSize && (size == line.size() || line[size] == ' ');
}

/// Whether it is sessions/ID/NAME.
bool is_in_session(std::string_view path, std::string_view name) {
  constexpr std::string_view kFolder = "sessions/";
  const std::size_t slash = path.find('/', kFolder.size());
  return path.starts_with(kFolder) && slash != std::string_view::npos &&
         path.substr(slash + 1) == name;
}

class RepositoryCheck {
 public:
  RepositoryCheck(const std::string& root, const SecretScanner& scanner,
                  const std::function<void(std::uint64_t, std::uint64_t)>& on_progress)
      : root_(root), scanner_(scanner), on_progress_(on_progress) {}

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
    for (const std::string_view line : lines_of(run.output, '\0')) {
      // "100644 <hash> <stage>\t<path>"
      const std::size_t tab = line.find('\t');
      if (tab == std::string_view::npos || tab == 0) {
        continue;
      }
      const std::string path(line.substr(tab + 1));
      if (path == last) {
        continue;  // Another stage of the same file.
      }
      last = path;
      check_file(path, line[tab - 1] != '0');
    }
  }

  /// All that commits added, also of those that only a reflog remembers.
  void check_history() {
    const ProgramRun run = list_commits(root_);
    check_whole(run);
    const std::vector<std::string_view> commits = lines_of(run.output);
    result_.commits = commits.size();
    const GitWords words = {"-c",
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
    run_git_on(root_, words, commits, kPatchMax,
               [&](const ProgramRun& patch) { check_patch(patch); });
    note_compressed();
  }

  /// What no commit has yet: staged, changed or new.
  void check_folder() {
    for (const bool is_staged : {true, false}) {
      GitWords words = {"diff",         "-p",         "-U0",          "--relative",
                        "--no-prefix",  "--no-color", "--no-renames", "--no-textconv",
                        "--no-ext-diff"};
      if (is_staged) {
        words.emplace_back("--cached");
      }
      check_patch(run_git(root_, words));
    }
    const ProgramRun run =
        run_git(root_, {"ls-files", "-z", "--others", "--exclude-standard", "--", "."});
    check_whole(run);
    for (const std::string_view path : lines_of(run.output, '\0')) {
      const Result<std::string> text = read_regular_file(root_ + "/" + std::string(path));
      if (!text || text->contains('\0')) {
        continue;
      }
      ++result_.files;
      for (const std::string_view line : lines_of(*text)) {
        look_for_secrets({}, path, line);
      }
    }
  }

  void add_secrets() {
    for (const auto& [what, where] : secrets_) {
      const auto& [path, rule] = what;
      const auto& [count, commit] = where;
      const std::string places = count == 1 ? "" : fmt::format(", {} places", count);
      constexpr std::string_view kTakesOut = "`bmad-mem redact --all` takes it out of the files";
      add({.kind = "secret",
           .path = path,
           .detail = commit.empty()
                         ? fmt::format("{}{}, in no commit yet", rule, places)
                         : fmt::format("{}{}, in the history since {}", rule, places, commit),
           .remedy =
               commit.empty()
                   ? fmt::format("{}; `git add` what was staged once more", kTakesOut)
                   : fmt::format("{}; `git filter-repo --replace-text FILE` takes it out of the "
                                 "history, then force-push; change the secret, since clones, "
                                 "forks and backups still have it",
                                 kTakesOut)});
    }
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
           .detail = "git reports it as unmerged",
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

  /// The lines that a patch adds, file by file.
  ///
  ///   \x01<hash>           of --format
  ///   diff --git a b       a file; what follows until '@' is its head
  ///   +++ path
  ///   @@ … @@              its lines: '+', '-', '\', and for merges one column a parent
  void check_patch(const ProgramRun& patch) {
    check_whole(patch);
    std::string_view commit;
    std::string_view path;
    std::size_t parents = 0;  // 0: in the head of a file.
    for (const std::string_view line : lines_of(patch.output)) {
      if (line.starts_with('\x01')) {
        commit = line.substr(1);
        on_progress_(looked_at_++, result_.commits);
      } else if (line.starts_with("diff ")) {
        parents = 0;
      } else if (parents == 0 && line.starts_with("+++ ")) {
        path = line.substr(4);
      } else if (line.starts_with("@@")) {
        parents = std::min(line.find_first_not_of('@'), line.size()) - 1;
        assert(parents > 0 && "a line that starts with @@ has two at least");
      } else if (const std::string_view columns = line.substr(0, parents); columns.contains('+')) {
        look_for_secrets(commit, path, line.substr(columns.size()));
      }
    }
  }

  void look_for_secrets(std::string_view commit, std::string_view path, std::string_view added) {
    if (!seen_.insert(std::hash<std::string_view>()(added)).second) {
      return;  // The same line in another commit or file: one finding names it already.
    }
    for (const SecretPlace& place : scanner_.find(added)) {
      if (place.is_certain) {
        auto& [count, first] = secrets_[{std::string(path), place.what + " (" + place.rule + ")"}];
        ++count;
        // Newest first, so the oldest stays; what has no commit comes last.
        first = commit.empty() ? first : std::string(commit.substr(0, 10));
      }
    }
  }

  void note_compressed() {
    const ProgramRun objects = list_commits(root_, "archive", {"--objects"});
    const auto count = std::ranges::count_if(
        lines_of(objects.output), [](std::string_view line) { return line.ends_with(".gz"); });
    if (count > 0 && result_.obstacle.empty()) {
      result_.obstacle = fmt::format(
          "{} not looked into for secrets; `bmad-mem redact --all --dry-run` does that "
          "for those of today",
          format_count(static_cast<std::uint64_t>(count), "compressed file in archive/ was",
                       "compressed files in archive/ were"));
    }
  }

  const std::string& root_;
  const SecretScanner& scanner_;
  std::unordered_set<std::size_t> seen_;
  /// By path and rule: how many lines, and the oldest commit.
  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::string>> secrets_;
  GitCheck result_;
  const std::function<void(std::uint64_t, std::uint64_t)>& on_progress_;
  std::uint64_t looked_at_ = 0;  ///< Commits.
};

}  // namespace

Result<GitCheck> check_repository(
    const std::string& root, const SecretScanner& scanner, bool history,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& on_progress) {
  if (const std::string obstacle = git_obstacle(root); !obstacle.empty()) {
    return path_error(ErrorCode::E_STORAGE_IO, root,
                      obstacle +
                          ", so there is nothing to check; `bmad-mem verify` checks the "
                          "files themselves");
  }
  RepositoryCheck check(root, scanner, on_progress);
  check.check_settings();
  check.check_files();
  if (history) {
    check.check_history();
  }
  check.check_folder();
  check.add_secrets();
  return check.take();
}

std::string_view reason_against_tracking(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (path == ".redaction-key") {
    return "is the secret key of this machine's placeholders";
  }
  if (name.starts_with(".lock")) {
    return "says who is at work on this machine";
  }
  if (path == "maintenance.json" || is_in_session(path, "access.jsonl")) {
    return "is local to this machine, and would conflict in every merge";
  }
  const bool is_shared_view =
      path.starts_with("shared/") && name.ends_with(".json") && path.find('/') == path.rfind('/');
  if (path == "catalog.json" || is_shared_view || is_in_session(path, "index.json")) {
    return "is derived from the logs, and would conflict in every merge";
  }
  if (path.starts_with("deleted/")) {
    return "was deleted, and comes back with every clone";
  }
  if (name.ends_with(".tmp") && !path.starts_with("memories/")) {
    return "was left by a process that died";
  }
  return {};
}

std::vector<GitFinding> find_conflict_markers(std::string_view path, std::string_view text) {
  constexpr std::string_view kRemedy =
      "take the three markers out, keep the lines of both sides, then `git add` the file; or `git "
      "checkout --merge FILE` to merge it anew with the driver, while the merge is not committed";
  std::vector<GitFinding> found;
  std::uint64_t number = 0;
  for (const std::string_view raw : lines_of(text)) {
    const std::string_view line = without_line_end(raw);
    ++number;
    // A row of '=' alone is a heading in Markdown; between the two others it is no news.
    if (is_marker(line, '<') || is_marker(line, '>') || is_marker(line, '|')) {
      found.push_back(
          {.kind = "conflict_marker",
           .path = std::string(path),
           .line = number,
           .detail = "a conflict marker of an unfinished merge",
           .remedy = std::string(path.ends_with("sealing.json") ? kConflictRemedy : kRemedy)});
    }
  }
  return found;
}

std::vector<GitFinding> find_repeated_lines(std::string_view path, std::string_view text) {
  struct Newest {
    std::string_view line;
    std::uint64_t number = 0;
  };
  std::unordered_map<std::string, Newest> newest;
  std::vector<GitFinding> found;
  JsonParser parser;
  std::uint64_t number = 0;
  for (const std::string_view raw : lines_of(text)) {
    const std::string_view line = without_line_end(raw);
    const Result<JsonValue> object = parser.parse(line);
    ++number;
    if (!object || (*object)["id"].string().empty()) {
      continue;
    }
    const auto [known, is_new] =
        newest.try_emplace(std::string((*object)["id"].string()), Newest{line, number});
    if (!is_new && known->second.line == line) {
      found.push_back(
          {.kind = "repeated_line",
           .path = std::string(path),
           .line = number,
           .detail = fmt::format("the same as line {}, and no new version", known->second.number),
           .remedy = "`bmad-mem compact --keep 100` takes repeated lines out; they do no "
                     "harm"});
    }
    known->second = {line, number};
  }
  return found;
}

}  // namespace bmad_mem::cli
