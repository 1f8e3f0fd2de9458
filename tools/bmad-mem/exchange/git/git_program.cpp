// git_program.cpp - runs git, and searches its history for texts, paths and secrets.
#include "exchange/git/git_program.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "cli/text.hpp"
#include "exchange/files.hpp"

namespace bmad_mem::cli {
namespace {

/// With which git tells hooks about their repository. An agent's hook may be one of git's, and the
/// memory may lie in another repository.
constexpr std::array<std::string_view, 7> kRepositoryVariables = {
    "GIT_DIR",        "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR", "GIT_NAMESPACE"};

/// Far from the limit of a command line (2 MB).
constexpr std::size_t kCommitsAtOnce = 500;

namespace fs = std::filesystem;

constexpr std::size_t kBlobSizeMax = std::size_t{256} << 20U;
constexpr std::string_view kPlace = "git history";
/// What takes a text out of the history.
constexpr const char* kReplaceText =
    "`git filter-repo --replace-text FILE`, where FILE holds the text, then force-push; other "
    "clones, forks and backups still have it";

std::string commits_text(std::size_t count) {
  return count == 1 ? "1 commit" : fmt::format("{} commits", count);
}

/// What takes a file out of the history.
std::string drop_path(std::string_view path) {
  return fmt::format(
      "`git filter-repo --invert-paths --path {}`, then force-push; other clones, forks and "
      "backups still have it",
      path);
}

/// Looks through the history of one root.
class HistorySearch {
 public:
  explicit HistorySearch(const std::string& root) : root_(root) {
    if (const std::string obstacle = git_obstacle(root); !obstacle.empty()) {
      result_.obstacle = obstacle + ", so no history was looked at";
    }
  }

  GitSearch for_text(std::string_view text) {
    texts_.emplace_back(text);
    const std::string quoted = json_quoted(text);
    if (const std::string inner = quoted.substr(1, quoted.size() - 2); inner != text) {
      texts_.push_back(inner);
    }
    if (result_.obstacle.empty()) {
      find_commits();
      find_files();
      find_staged();
      find_compressed();
    }
    return std::move(result_);
  }

  GitSearch for_paths(std::span<const std::string> paths) {
    if (!result_.obstacle.empty()) {
      return std::move(result_);
    }
    const ProgramRun prefix = run_git(root_, {"rev-parse", "--show-prefix"});
    for (const std::string& path : paths) {
      const std::string full_path = prefix.output.substr(0, prefix.output.find('\n')) + path;
      const ProgramRun run = list_commits(root_, path);
      is_whole(run);
      if (const auto commits = lines_of(run.output); !commits.empty()) {
        found(fmt::format("{} in {}, such as {}", full_path, commits_text(commits.size()),
                          commits.front().substr(0, 10)),
              drop_path(full_path));
      }
    }
    return std::move(result_);
  }

  GitSearch for_secrets(const SecretScanner& scanner) {
    if (!result_.obstacle.empty()) {
      return std::move(result_);
    }
    const ProgramRun run =
        run_git(root_, {"log", "--all", "--reflog", "-p", "-U0", "--no-color", "--no-textconv",
                        "--no-ext-diff", "--format=%x01%h", "--", "."});
    is_whole(run);
    std::string_view commit;
    std::uint64_t count = 0;
    const auto end_commit = [&] {
      if (count > 0) {
        found(fmt::format("commit {}: {}", commit, format_count(count, "secret", "secrets")),
              kReplaceText);
      }
      count = 0;
    };
    for (const std::string_view line : lines_of(run.output)) {
      if (line.starts_with('\x01')) {
        end_commit();
        commit = line.substr(1);
      } else if (line.starts_with('+') && !line.starts_with("+++ ")) {
        count += static_cast<std::uint64_t>(
            std::ranges::count_if(scanner.find(line.substr(1)), &SecretPlace::is_certain));
      }
    }
    end_commit();
    const ProgramRun packed = list_commits(root_, "archive");
    if (is_whole(packed) && !packed.output.empty() && result_.obstacle.empty()) {
      result_.obstacle =
          "packed files in commits were not looked at; `bmad-mem purge --verify TEXT` does";
    }
    return std::move(result_);
  }

 private:
  void found(std::string detail, std::string remedy, std::string_view place = kPlace) {
    result_.found.push_back(
        {.place = std::string(place), .detail = std::move(detail), .remedy = std::move(remedy)});
  }

  /// Notes what went wrong; whether the output is all there is.
  bool is_whole(const ProgramRun& run, bool nothing_is_one = false) {
    const bool good = run.status == 0 || (nothing_is_one && run.status == 1);
    if (!good || run.was_cut) {
      result_.obstacle = "git could not be asked for everything, so the history may hold more";
    }
    return good;
  }

  void find_commits() {
    std::set<std::string, std::less<>> seen;
    for (const std::string& text : texts_) {
      const ProgramRun run =
          run_git(root_, {"log", "--all", "--reflog", "--oneline", "--no-decorate", "--no-color",
                          "--no-textconv", "--no-ext-diff", "-S" + text, "--", "."});
      is_whole(run);
      for (const std::string_view line : lines_of(run.output)) {
        if (seen.emplace(line).second) {
          found(fmt::format("commit {}", line), kReplaceText);
        }
      }
    }
  }

  /// By file: how many commits hold it, and one of them.
  void find_files() {
    const ProgramRun commits = list_commits(root_);
    if (!is_whole(commits)) {
      return;
    }
    std::map<std::string, std::pair<std::size_t, std::string>> files;
    run_git_on(root_, grep_words(), lines_of(commits.output), kGitOutputMax,
               [&](const ProgramRun& run) {
                 is_whole(run, true);
                 for (const std::string_view line : lines_of(run.output)) {
                   const std::size_t colon = line.find(':');
                   auto& [count, commit] = files[std::string(line.substr(colon + 1))];
                   ++count;
                   commit = line.substr(0, std::min<std::size_t>(colon, 10));
                 }
               });
    for (const auto& [file, where] : files) {
      const auto& [count, commit] = where;
      found(fmt::format("{} in {} ({}{})", file, commits_text(count), count == 1 ? "" : "such as ",
                        commit),
            kReplaceText);
    }
  }

  [[nodiscard]] GitWords grep_words() const {
    GitWords words = {"grep", "-F", "-l", "--no-color", "--full-name", "--no-textconv"};
    for (const std::string& text : texts_) {
      words.insert(words.end(), {"-e", text});
    }
    return words;
  }

  void find_staged() {
    GitWords words = grep_words();
    words.insert(words.end(), {"--cached", "--", "."});
    const ProgramRun run = run_git(root_, words);
    is_whole(run, true);
    for (const std::string_view file : lines_of(run.output)) {
      found(std::string(file), "`git add -A` the files as they are now, and commit", "git index");
    }
  }

  /// Copies what was ever committed under archive/ into a root of its own and has it searched
  /// there: the library knows how to unpack.
  void find_compressed() {
    const ProgramRun objects = list_commits(root_, "archive", {"--indexed-objects", "--objects"});
    is_whole(objects);
    std::unique_ptr<ScratchFolder> scratch;
    for (const std::string_view line : lines_of(objects.output)) {
      const std::size_t blank = line.find(' ');
      if (blank == std::string_view::npos || !line.ends_with(".gz")) {
        continue;
      }
      if (scratch == nullptr) {
        scratch = std::make_unique<ScratchFolder>();
      }
      const std::string hash(line.substr(0, blank));
      const std::string path(line.substr(blank + 1));
      if (scratch->path().empty() || !search_blob(scratch->path(), hash, path)) {
        result_.obstacle = fmt::format("{} (blob {}) could not be unpacked", path, hash);
      }
    }
  }

  /// False when it could not be looked at.
  bool search_blob(const std::string& scratch, const std::string& hash, const std::string& path) {
    const ProgramRun blob = run_git(root_, {"cat-file", "blob", hash}, kBlobSizeMax);
    if (blob.status != 0 || blob.was_cut ||
        !write_copy(fmt::format("{}/blob.gz", scratch), blob.output) ||
        !MemoryManager::init(scratch)) {
      return false;
    }
    const Result<MemoryManager> memory = MemoryManager::open({.root = scratch});
    if (!memory) {
      return false;
    }
    assert(!texts_.empty());
    const Result<std::vector<Leftover>> hits = memory->find_text(texts_.front());
    if (hits && std::ranges::any_of(
                    *hits, [](const Leftover& hit) { return hit.place.ends_with("blob.gz"); })) {
      found(fmt::format("{}, compressed (blob {})", path, hash.substr(0, 10)), drop_path(path));
    }
    return hits.has_value();
  }

  const std::string& root_;
  std::vector<std::string> texts_;  ///< What is looked for: as it is, and as JSON writes it.
  GitSearch result_;
};

}  // namespace

ProgramRun run_git(const std::string& folder, const GitWords& words, std::size_t output_max) {
  assert(!words.empty());
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

bool is_in_git(fs::path folder) {
  std::error_code failed;
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", failed)) {
      return true;
    }
  }
  return false;
}

GitSearch search_git_paths(const std::string& root, std::span<const std::string> paths) {
  return HistorySearch(root).for_paths(paths);
}

GitSearch search_git_secrets(const std::string& root, const SecretScanner& scanner) {
  return HistorySearch(root).for_secrets(scanner);
}

ExitStatus print_git_search(Tool& tool, const GitSearch& search) {
  std::vector<RawJson> lines = mapped(search.found, [](const Leftover& each) {
    return raw_object("left",
                      object_of("place", each.place, "detail", each.detail, "remedy", each.remedy));
  });
  lines.push_back(raw_object(
      "verified", object_of("left", search.found.size(), "not_looked_at", search.obstacle)));
  print_lines(tool, "git_search", lines);
  return search.found.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

Result<ExitStatus> verify_gone(Tool& tool, const MemoryManager& memory, std::string_view text) {
  BMAD_TRY_ASSIGN(const std::vector<Leftover> files, memory.find_text(text));
  GitSearch search = HistorySearch(memory.root()).for_text(text);
  search.found.insert(search.found.begin(), files.begin(), files.end());
  return print_git_search(tool, search);
}

}  // namespace bmad_mem::cli
