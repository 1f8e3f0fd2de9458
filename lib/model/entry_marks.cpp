// entry_marks.cpp - marks that the engine sets on a line, and lines wrapped for another file.
#include <cassert>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/json_cursor.hpp"
#include "base/object_text.hpp"
#include "bmad_mem/json.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kEntryKey = "entry";

Error wrong(std::string_view field, std::string message) {
  return field_error(ErrorCode::E_INVALID_FORMAT, field, std::move(message));
}

/// The value of the outermost member `key` of `text`, blanks around it included; empty when there
/// is none. `text` need not be valid JSON: then it is some part of it.
std::string_view raw_member(std::string_view text, std::string_view key) {
  JsonCursor cursor(text);
  if (cursor.peek() != '{') {
    return {};
  }
  do {
    cursor.step();  // Over the '{' or a ','.
    const std::string_view name = cursor.peek() == '"' ? cursor.string() : std::string_view();
    if (cursor.peek() != ':') {
      return {};
    }
    const std::size_t begin = cursor.at() + 1;
    cursor.step();
    cursor.value();
    assert(cursor.at() >= begin);
    if (name == key) {
      return text.substr(begin, cursor.at() - begin);
    }
  } while (cursor.peek() == ',');
  return {};
}

}  // namespace

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

void append_wrapped(std::string& out, EntryType type, std::span<const WrapLabel> labels,
                    std::string_view entry) {
  JsonWriter writer;
  writer.begin_object().member("type", entry_type_name(type));
  for (const WrapLabel& label : labels) {
    writer.member(label.name, label.value);
  }
  writer.key(kEntryKey).raw(entry).end_object();
  out += writer.text();
}

/// In two parts, the wrapper and the entry, each strictly: as a whole, an entry that is nested as
/// deep as a log allows would be one level too deep.
Result<WrappedLine> unwrap_line(JsonParser& parser, std::string_view text) {
  const std::string_view entry = raw_member(text, kEntryKey);
  std::string wrapper(text);
  if (!entry.empty()) {
    const auto begin = static_cast<std::size_t>(entry.data() - text.data());
    assert(begin + entry.size() <= text.size());
    wrapper.replace(begin, entry.size(), "null");
    Result<JsonValue> value = parser.parse(entry);
    if (!value || !value->is_object()) {
      return wrong(kEntryKey, value ? "must be an object" : std::move(value).error().message);
    }
  }
  BMAD_TRY_ASSIGN(const JsonValue members, parser.parse(wrapper));
  if (!members.is_object()) {
    return wrong("", "must be a JSON object");
  }
  if (entry.empty()) {
    return wrong(kEntryKey, "is missing");
  }
  if (!members["type"].is_string()) {
    return wrong("type", "must be there, and a string");
  }
  BMAD_TRY_ASSIGN(const EntryType type, parse_entry_type(members["type"].string()));
  return WrappedLine{.type = type, .entry = entry, .members = members};
}

}  // namespace bmad_mem
