#include "model/entry_marks.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/object_text.hpp"
#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"

namespace bmad_mem {

namespace fs = std::filesystem;

std::string with_mark(JsonValue entry, std::string_view line, std::string_view name) {
  if (!entry.is_object() || entry[name].present()) {
    return std::string(line);
  }
  ObjectText object(entry, line);
  object.set(name, "true");
  return object.to_line();
}

std::string with_mark(std::string_view line, std::string_view name) {
  JsonParser parser;
  const Result<JsonValue> entry = parser.parse(line);
  return entry ? with_mark(*entry, line, name) : std::string(line);
}

std::string first_line_of_file(const fs::path& path) {
  constexpr std::size_t kSizeMax = 4096;
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) {
    return {};
  }
  std::ifstream file(path);
  std::string text(kSizeMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(kSizeMax));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text.substr(0, text.find('\n'));
}

namespace {

/// Where `folder` is in the other worktrees of the repository that holds it; none for most.
std::vector<std::string> worktrees_of(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code failure;
  fs::path below;
  for (fs::path top = folder; top != below; top = top.parent_path()) {
    below = top;
    const fs::path listed = top / ".git" / "worktrees";
    for (fs::directory_iterator each(listed, failure); each != fs::directory_iterator();
         each.increment(failure)) {
      // "/home/ann/app-feature/.git", or relative to the folder that says so.
      if (const std::string line = first_line_of_file(each->path() / "gitdir"); !line.empty()) {
        const fs::path there = (each->path() / line).lexically_normal().parent_path();
        const std::string back = first_line_of_file(there / ".git");
        if (!back.starts_with(kGitDir) ||
            !fs::equivalent(there / back.substr(kGitDir.size()), each->path(), failure)) {
          continue;  // It belongs to another repository, or is gone.
        }
        found.push_back((there / folder.lexically_relative(top)).lexically_normal().string());
      }
    }
    if (fs::exists(top / ".git", failure)) {
      break;
    }
  }
  return found;
}

}  // namespace

Workspace workspace_of(const std::string& root) {
  std::error_code failure;
  fs::path folder = fs::absolute(root, failure).lexically_normal();
  if (!folder.has_filename()) {
    folder = folder.parent_path();  // It ended in a slash.
  }
  folder = folder.parent_path();
  if (folder.filename() == ".bmad") {
    folder = folder.parent_path();
  }
  const fs::path resolved = fs::canonical(folder, failure);
  const char* home = std::getenv("HOME");
  return {.folder = folder.string(),
          .resolved = failure ? folder.string() : resolved.string(),
          .home = home == nullptr ? std::string() : home,
          .worktrees = worktrees_of(folder)};
}

std::optional<std::string> marked_outside(const Workspace& workspace, EntryType type,
                                          JsonValue entry, std::string_view line) {
  const bool has_path = type == EntryType::kEvent || type == EntryType::kArtifact;
  if (!has_path || !entry.is_object() || entry[kOutsideWorkspaceField].present() ||
      !is_outside_workspace(workspace, entry["path"].string())) {
    return std::nullopt;
  }
  return with_mark(entry, line, kOutsideWorkspaceField);
}

}  // namespace bmad_mem
