#include "exchange/git/git_history.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "exchange/git/git_program.hpp"

namespace bmad_mem::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlobSizeMax = std::size_t{256} << 20U;

constexpr std::string_view kRemedy =
    "`git filter-repo --replace-text FILE`, where FILE holds the text, then force-push; other "
    "clones, forks and backups still have it";

/// The folder that takes a copy of what is compressed in the history; gone with the object.
class ScratchRoot {
 public:
  ScratchRoot() {
    std::error_code ignored;
    std::string path = (fs::temp_directory_path(ignored) / "bmad-mem-XXXXXX").string();
    if (::mkdtemp(path.data()) != nullptr) {
      path_ = path;
    }
  }
  ScratchRoot(const ScratchRoot&) = delete;
  ScratchRoot& operator=(const ScratchRoot&) = delete;
  ~ScratchRoot() {
    std::error_code ignored;
    if (!path_.empty()) {
      fs::remove_all(path_, ignored);
    }
  }

  /// Empty when it could not be made.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool write_copy(const std::string& path, std::string_view bytes) {
  constexpr mode_t kOwnerOnly = 0600;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly);
  if (file < 0) {
    return false;
  }
  while (!bytes.empty()) {
    const ssize_t size = ::write(file, bytes.data(), bytes.size());
    if (size <= 0) {
      break;
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return ::close(file) == 0 && bytes.empty();
}

class History {
 public:
  explicit History(const std::string& root) : root_(root) {}

  /// Why there is no history to look at; empty when there is one.
  [[nodiscard]] std::string obstacle() const {
    const std::string obstacle = git_obstacle(root_);
    return obstacle.empty() ? obstacle : obstacle + ", so no history was looked at";
  }

  /// As `git WORDS…` prints it.
  [[nodiscard]] ProgramRun git(std::vector<std::string> words,
                               std::size_t output_max = kGitOutputMax) const {
    return run_git(root_, std::move(words), output_max);
  }

 private:
  const std::string& root_;
};

class TextInHistory {
 public:
  TextInHistory(const std::string& root, std::string_view text) : history_(root), texts_{} {
    texts_.emplace_back(text);
    const std::string quoted = json_quoted(text);
    if (const std::string inner = quoted.substr(1, quoted.size() - 2); inner != text) {
      texts_.push_back(inner);
    }
  }

  GitSearch run() {
    result_.obstacle = history_.obstacle();
    if (result_.obstacle.empty()) {
      find_commits();
      find_files();
      find_staged();
      find_compressed();
    }
    return std::move(result_);
  }

 private:
  void found(std::string detail, std::string_view remedy) {
    result_.found.push_back(
        {.place = "git history", .detail = std::move(detail), .remedy = std::string(remedy)});
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
    std::set<std::string> seen;
    for (const std::string& text : texts_) {
      const ProgramRun run =
          history_.git({"log", "--all", "--reflog", "--oneline", "--no-decorate", "--no-color",
                        "--no-textconv", "--no-ext-diff", "-S" + text, "--", "."});
      is_whole(run);
      for (std::string& line : split_output(run.output)) {
        if (seen.insert(line).second) {
          found("commit " + line, kRemedy);
        }
      }
    }
  }

  /// By file: how many commits hold it, and one of them.
  void find_files() {
    const ProgramRun commits =
        history_.git({"rev-list", "--all", "--reflog", "--full-history", "--", "."});
    if (!is_whole(commits)) {
      return;
    }
    std::map<std::string, std::pair<std::size_t, std::string>> files;
    const std::vector<std::string> revisions = split_output(commits.output);
    for (std::size_t at = 0; at < revisions.size(); at += kCommitsAtOnce) {
      std::vector<std::string> words = grep_words();
      const std::size_t end = std::min(at + kCommitsAtOnce, revisions.size());
      words.insert(words.end(), revisions.begin() + static_cast<std::ptrdiff_t>(at),
                   revisions.begin() + static_cast<std::ptrdiff_t>(end));
      words.insert(words.end(), {"--", "."});
      const ProgramRun run = history_.git(std::move(words));
      is_whole(run, true);
      for (const std::string& line : split_output(run.output)) {
        const std::size_t colon = line.find(':');
        auto& [count, commit] = files[line.substr(colon + 1)];
        ++count;
        commit = line.substr(0, std::min<std::size_t>(colon, 10));
      }
    }
    for (const auto& [file, where] : files) {
      found(fmt::format("{} in {} ({})", file,
                        where.first == 1 ? "1 commit" : fmt::format("{} commits", where.first),
                        where.first == 1 ? where.second : "such as " + where.second),
            kRemedy);
    }
  }

  [[nodiscard]] std::vector<std::string> grep_words() const {
    std::vector<std::string> words = {"grep",       "-F",          "-l",
                                      "--no-color", "--full-name", "--no-textconv"};
    for (const std::string& text : texts_) {
      words.insert(words.end(), {"-e", text});
    }
    return words;
  }

  void find_staged() {
    std::vector<std::string> words = grep_words();
    words.insert(words.end(), {"--cached", "--", "."});
    const ProgramRun run = history_.git(std::move(words));
    is_whole(run, true);
    for (const std::string& file : split_output(run.output)) {
      result_.found.push_back({.place = "git index",
                               .detail = file,
                               .remedy = "`git add -A` the files as they are now, and commit"});
    }
  }

  /// Copies what was ever committed under archive/ into a root of its own and has it searched
  /// there: the library knows how to unpack.
  void find_compressed() {
    const ProgramRun objects = history_.git({"rev-list", "--all", "--reflog", "--indexed-objects",
                                             "--objects", "--full-history", "--", "archive"});
    is_whole(objects);
    std::vector<std::pair<std::string, std::string>> blobs;  // Hash and path.
    for (const std::string& line : split_output(objects.output)) {
      const std::size_t blank = line.find(' ');
      if (blank != std::string::npos && line.ends_with(".gz")) {
        blobs.emplace_back(line.substr(0, blank), line.substr(blank + 1));
      }
    }
    if (blobs.empty()) {
      return;
    }
    const ScratchRoot scratch;
    for (const auto& [hash, path] : blobs) {
      if (scratch.path().empty() || !search_blob(scratch.path(), hash, path)) {
        result_.obstacle = fmt::format("{} (blob {}) could not be unpacked", path, hash);
      }
    }
  }

  /// False when it could not be looked at.
  bool search_blob(const std::string& scratch, const std::string& hash, const std::string& path) {
    const ProgramRun blob = history_.git({"cat-file", "blob", hash}, kBlobSizeMax);
    if (blob.status != 0 || blob.was_cut) {
      return false;
    }
    const std::string copy = fmt::format("{}/blob.gz", scratch);
    if (!write_copy(copy, blob.output) || !MemoryManager::init(scratch)) {
      return false;
    }
    const Result<MemoryManager> memory = MemoryManager::open({.root = scratch});
    if (!memory) {
      return false;
    }
    const Result<std::vector<Leftover>> hits = memory->find_text(texts_.front());
    const bool is_there = hits && std::ranges::any_of(*hits, [](const Leftover& hit) {
                            return hit.place.ends_with("blob.gz");
                          });
    if (is_there) {
      found(fmt::format("{}, compressed (blob {})", path, hash.substr(0, 10)),
            fmt::format("`git filter-repo --invert-paths --path {}`, then force-push; other "
                        "clones, forks and backups still have it",
                        path));
    }
    return hits.has_value();
  }

  History history_;
  std::vector<std::string> texts_;
  GitSearch result_;
};

}  // namespace

GitSearch search_git_history(const std::string& root, std::string_view text) {
  return TextInHistory(root, text).run();
}

GitSearch search_git_paths(const std::string& root, std::span<const std::string> paths) {
  const History history(root);
  GitSearch result{.obstacle = history.obstacle(), .found = {}};
  if (!result.obstacle.empty()) {
    return result;
  }
  const std::vector<std::string> prefix =
      split_output(history.git({"rev-parse", "--show-prefix"}).output);
  for (const std::string& path : paths) {
    const std::string full_path = (prefix.empty() ? std::string() : prefix.front()) + path;
    const ProgramRun run =
        history.git({"rev-list", "--all", "--reflog", "--full-history", "--", path});
    if (run.status != 0) {
      result.obstacle = "git could not be asked for everything, so the history may hold more";
    }
    if (const std::vector<std::string> commits = split_output(run.output); !commits.empty()) {
      result.found.push_back(
          {.place = "git history",
           .detail = fmt::format(
               "{} in {}, such as {}", full_path,
               commits.size() == 1 ? "1 commit" : fmt::format("{} commits", commits.size()),
               commits.front().substr(0, 10)),
           .remedy = fmt::format("`git filter-repo --invert-paths --path {}`, then "
                                 "force-push; other clones, forks and backups still have it",
                                 full_path)});
    }
  }
  return result;
}

}  // namespace bmad_mem::cli
