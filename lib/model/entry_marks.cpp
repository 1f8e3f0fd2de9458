#include "model/entry_marks.hpp"

#include <cstdlib>
#include <filesystem>
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
          .home = home == nullptr ? std::string() : home};
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
