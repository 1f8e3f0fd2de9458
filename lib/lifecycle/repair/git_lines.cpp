// git_lines.cpp - asks git which lines of a log it has, and which commits changed them.
#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <filesystem>
#include <limits>
#include <ranges>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "repair_steps.hpp"
#include "store/command.hpp"
#include "store/line_reader.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

/// Of a history; of anything else a tenth of a second is long.
constexpr std::chrono::seconds kPatience{2};
constexpr std::size_t kOutputSizeMax = 64U << 20U;

/// Whether git may know `folder`: looking costs less than asking git.
bool is_in_work_tree(std::filesystem::path folder) {
  std::error_code ignored;
  while (!std::filesystem::exists(folder / ".git", ignored)) {
    if (!folder.has_relative_path()) {
      return false;
    }
    folder = folder.parent_path();
  }
  return true;
}

/// Whether a reflog says that a commit was written here.
bool tells_of_commit(std::string_view message) {
  static constexpr std::array<std::string_view, 4> kMade = {
      "commit:", "commit (amend):", "commit (initial):", "commit (merge):"};
  return std::ranges::any_of(kMade,
                             [&](std::string_view made) { return message.starts_with(made); });
}

}  // namespace

std::string_view bare_line(std::string_view line) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  line.remove_prefix(line.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  line.remove_suffix(line.ends_with('\r') ? 1 : 0);
  return line;
}

std::uint32_t line_hash(std::string_view line) { return static_cast<std::uint32_t>(xxh3(line)); }

GitLines::GitLines(const FileSystem& files, const std::string& path) {
  const std::string shown = files.display_path(path);
  const std::size_t slash = shown.rfind('/');
  assert(slash != std::string::npos && "a log is in a folder");
  folder_ = shown.substr(0, slash);
  name_ = "./" + shown.substr(slash + 1);
  if (!is_in_work_tree(folder_)) {
    has_asked_ = true;
    return;
  }
  for_each_text_line(
      ask({"ls-files", "--stage", "--", name_}).value_or(""), [&](std::string_view row) {
        const std::size_t tab = row.find('\t');  // "100644 SHA STAGE\tNAME"
        if (tab != std::string_view::npos && tab >= 2) {
          has_file_ = true;
          const std::size_t stage = static_cast<unsigned char>(row[tab - 1]) % stages_.size();
          const std::string name = fmt::format(":{}:{}", stage, name_);
          add_now(ask({"cat-file", "blob", name}).value_or(""),
                  stage == 0 ? index_ : stages_[stage]);
        }
      });
  add_now(ask({"cat-file", "blob", "HEAD:" + name_}).value_or(""), head_);
  // "PATH: ident: unspecified". What git writes then is not what it stores.
  for_each_text_line(ask({"check-attr", "ident", "filter", "working-tree-encoding", "--", name_})
                         .value_or(": set"),
                     [&](std::string_view row) {
                       is_converted_ = is_converted_ || !(row.ends_with(": unspecified") ||
                                                          row.ends_with(": unset"));
                     });
}

std::optional<std::string> GitLines::ask(const std::vector<std::string>& words,
                                         std::string_view input) const {
  // A hook of git has its own idea of the work tree in the variables. What a repository may name
  // is not run, and nothing is fetched.
  std::vector<std::string> command = {"env"};
  for (const char* variable : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}) {
    command.insert(command.end(), {"-u", variable});
  }
  command.insert(command.end(),
                 {"GIT_NO_LAZY_FETCH=1", "git", "-C", folder_, "--no-optional-locks"});
  for (const char* setting : {"core.fsmonitor=false", "core.hooksPath=/dev/null",
                              "log.showSignature=false", "protocol.allow=never"}) {
    command.insert(command.end(), {"-c", setting});
  }
  command.insert(command.end(), words.begin(), words.end());
  Result<CommandOutput> output =
      run_command(command, input, {.timeout = kPatience, .output_size_max = kOutputSizeMax});
  return output ? std::optional(std::move(output->out)) : std::nullopt;
}

void GitLines::add_now(std::string_view text, std::vector<std::uint32_t>& lines) {
  for_each_text_line(text, [&](std::string_view line) {
    lines.push_back(line_hash(bare_line(line)));
    now_.insert(lines.back());
    texts_.try_emplace(lines.back(), bare_line(line));
  });
}

void GitLines::read_reflogs() {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders;
  for_each_text_line(
      ask({"rev-parse", "--git-dir", "--git-common-dir"}).value_or(""),
      [&](std::string_view folder) { folders.push_back(fs::path(folder_) / folder); });
  if (folders.size() != 2) {
    return;
  }
  // What was fetched from an address is in no branch.
  for (const char* name : {"FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD"}) {
    const Result<std::string> text =
        read_outside_file((folders.front() / name).string(), kOutputSizeMax);
    for_each_text_line(text ? std::string_view(*text) : "", [&](std::string_view line) {
      fetched_ += fmt::format("{}\n", line.substr(0, line.find('\t')));
    });
  }
  const fs::path& common = folders.back();
  std::vector<fs::path> logs = {common / "logs/HEAD"};
  std::error_code problem;
  for (fs::directory_iterator each(common / "worktrees", problem), end; !problem && each != end;
       each.increment(problem)) {
    logs.push_back(each->path() / "logs/HEAD");
  }
  std::size_t place = 0;
  for (const fs::path& log : logs) {
    const Result<std::string> text = read_outside_file(log.string(), kOutputSizeMax);
    // "OLD NEW Name <address> SECONDS ZONE\tmessage"
    for_each_text_line(text ? std::string_view(*text) : "", [&](std::string_view line) {
      const std::size_t tab = line.find('\t');
      const std::size_t zone = line.rfind(' ', tab);
      const std::size_t time = line.rfind(' ', zone - 1);
      const std::size_t old = line.find(' ');
      if (tab == std::string_view::npos || time == std::string_view::npos || old >= time) {
        return;
      }
      const std::string_view commit = line.substr(old + 1, line.find(' ', old + 1) - old - 1);
      const Made made{.time_s = std::atoll(std::string(line.substr(time + 1)).c_str()),
                      .place = ++place,
                      .is_made = tells_of_commit(line.substr(tab + 1))};
      const auto [known, is_new] = commits_.try_emplace(std::string(commit), made);
      if (!is_new &&
          std::tie(made.time_s, made.place) < std::tie(known->second.time_s, known->second.place)) {
        known->second = made;
      }
    });
  }
}

/// A stash is a copy of the working tree; of a merge only what neither side has is its own.
void GitLines::read_history() {
  if (std::exchange(has_asked_, true)) {
    return;
  }
  read_reflogs();
  std::string known = fetched_;
  for (const auto& [commit, made] : commits_) {
    known += commit + '\n';
  }
  const std::optional<std::string> text =
      ask({"log", "--exclude=refs/stash", "--all", "--ignore-missing", "--stdin", "-p", "--cc",
           "-U0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature",
           "--format=commit %H", "--", name_},
          known);
  is_complete_ = text.has_value();
  std::string commit;
  for_each_text_line(text ? std::string_view(*text) : "", [&](std::string_view line) {
    constexpr std::string_view kCommit = "commit ";
    if (line.starts_with(kCommit)) {
      commit = line.substr(kCommit.size());
    } else if (line.starts_with('+') || line.starts_with('-')) {
      const char sign = line.front();
      line.remove_prefix(line.size() > 1 && line[1] == sign ? 2 : 1);
      line = bare_line(line);
      const std::uint32_t hash = line_hash(line);
      (sign == '+' ? adders_ : removers_)[hash].push_back(commit);
      texts_.try_emplace(hash, line);
    }
  });
}

bool GitLines::was_tracked() {
  read_history();
  return is_tracked() || !adders_.empty();
}

bool GitLines::is_removed_by_side(std::uint32_t line) const {
  const auto has = [&](std::size_t stage) {
    return std::ranges::find(stages_[stage], line) != stages_[stage].end();
  };
  return has(1) && !(has(2) && has(3));
}

std::vector<std::uint32_t> GitLines::history() {
  read_history();
  const auto lines = std::views::keys(adders_);
  return {lines.begin(), lines.end()};
}

bool GitLines::brought(std::uint32_t line) {
  if (!is_tracked() || is_converted_) {
    return is_tracked();
  }
  read_history();
  const auto adders = adders_.find(line);
  if (!is_complete_ || adders == adders_.end()) {
    const bool is_in_head = std::ranges::find(head_, line) != head_.end();
    return is_complete_ ? is_in_head : has_now(line);
  }
  std::tuple<std::int64_t, std::size_t> first(std::numeric_limits<std::int64_t>::max(), 0);
  for (const std::string& commit : adders->second) {
    const auto found = commits_.find(commit);
    if (found != commits_.end() && found->second.is_made) {
      first = std::min(first, std::tuple(found->second.time_s, found->second.place));
    }
  }
  return std::ranges::any_of(adders->second, [&](const std::string& commit) {
    const auto found = commits_.find(commit);
    return found == commits_.end() ||
           (!found->second.is_made &&
            std::tuple(found->second.time_s, found->second.place) < first);
  });
}

bool GitLines::is_removed_here(std::uint32_t line, std::int64_t time_s) {
  read_history();
  const auto removers = removers_.find(line);
  return removers != removers_.end() &&
         std::ranges::any_of(removers->second, [&](const std::string& commit) {
           const auto made = commits_.find(commit);
           return made != commits_.end() && made->second.is_made && made->second.time_s >= time_s;
         });
}

std::optional<std::string> GitLines::text_of(std::uint32_t line) {
  if (!texts_.contains(line)) {
    read_history();
  }
  const auto found = texts_.find(line);
  return found == texts_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace bmad_mem
