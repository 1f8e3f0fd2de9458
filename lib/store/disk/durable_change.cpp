#include "store/durable_change.hpp"

#include <algorithm>
#include <cerrno>

#include "base/ids.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

// NOLINTNEXTLINE(misc-no-recursion): as deep as our layout is.
Status ensure_folder(FileSystem& files, const std::string& path) {
  const std::string parent = parent_folder(path);
  if (!parent.empty()) {
    BMAD_TRY(ensure_folder(files, parent));
  }
  Status made = files.make_directory(path);
  if (!made && made.error().os_error != EEXIST) {
    return made;
  }
  return files.sync_directory(parent);
}

Status remove_durably(FileSystem& files, const std::string& path) {
  Status removed = files.remove(path);
  if (!removed && !is_not_found(removed.error())) {
    return removed;
  }
  Status synced = files.sync_directory(parent_folder(path));
  if (!synced && is_not_found(synced.error())) {
    return {};
  }
  return synced;
}

Status ensure_ignored(FileSystem& files, std::string_view pattern) {
  constexpr std::uint64_t kIgnoreFileSizeMax = 1U << 20U;
  Result<std::string> text = read_file(files, kGitignoreFile, kIgnoreFileSizeMax);
  if (!text && is_not_found(text.error())) {
    return {};  // Somebody doesn't want one.
  }
  BMAD_TRY(text);
  if (text->contains(pattern)) {
    return {};
  }
  if (!text->empty() && text->back() != '\n') {
    *text += '\n';
  }
  return replace_file(files, kGitignoreFile, *text + std::string(pattern) + '\n');
}

Result<std::vector<std::string>> ids_of_files(FileSystem& files, const std::string& folder,
                                              std::string_view suffix) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, list_if_there(files, folder));
  std::vector<std::string> ids;
  for (const std::string& name : names) {
    if (name.ends_with(suffix) &&
        is_session_id(std::string_view(name).substr(0, name.size() - suffix.size()))) {
      ids.push_back(name.substr(0, name.size() - suffix.size()));
    }
  }
  std::ranges::sort(ids);  // "a-b" before "a", once the suffix begins with a dot.
  return ids;
}

}  // namespace bmad_mem
