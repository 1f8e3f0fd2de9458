// check_files.cpp - what can be seen in the name and the text of one tracked file.
#include <functional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "exchange/git/check.hpp"

namespace bmad_mem::cli {
namespace {

/// Calls `visit` with each line of `text`, without its line end, and its number.
template <typename Visit>
void each_line(std::string_view text, const Visit& visit) {
  std::uint64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    visit(line, ++number);
  }
}

/// "<<<<<<< ours": at least seven of `mark`, then a blank or nothing.
bool is_marker(std::string_view line, char mark) {
  constexpr std::size_t kMarkerSize = 7;
  const std::size_t size = std::min(line.find_first_not_of(mark), line.size());
  return size >= kMarkerSize && (size == line.size() || line[size] == ' ');
}

bool is_in_session(std::string_view path, std::string_view name) {
  constexpr std::string_view kFolder = "sessions/";
  if (!path.starts_with(kFolder)) {
    return false;
  }
  path.remove_prefix(kFolder.size());
  const std::size_t slash = path.find('/');
  return slash != std::string_view::npos && path.substr(slash + 1) == name;
}

}  // namespace

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
    return "was left behind by a process that died";
  }
  return {};
}

std::vector<GitFinding> find_conflict_markers(std::string_view path, std::string_view text) {
  std::vector<GitFinding> found;
  each_line(text, [&](std::string_view line, std::uint64_t number) {
    // A row of '=' alone is a heading in Markdown; between the two others it is no news.
    if (is_marker(line, '<') || is_marker(line, '>') || is_marker(line, '|')) {
      found.push_back({.kind = "conflict_marker",
                       .path = std::string(path),
                       .line = number,
                       .detail = "a conflict marker: a merge that nobody finished",
                       .remedy = "take the three markers out, keep the lines of both sides, then "
                                 "`git add` the file; or `git checkout --merge FILE` to merge it "
                                 "anew with the driver, while the merge is not committed"});
    }
  });
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
  each_line(text, [&](std::string_view line, std::uint64_t number) {
    const Result<JsonValue> object = parser.parse(line);
    if (!object || (*object)["id"].string().empty()) {
      return;
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
  });
  return found;
}

}  // namespace bmad_mem::cli
