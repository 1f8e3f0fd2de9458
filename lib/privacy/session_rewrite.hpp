// session_rewrite.hpp - what operations share that rewrite all files of a session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/file_system.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

/// Removes what killed operations began to write in `folder`: it may hold what was there before.
inline Status remove_temporaries(FileSystem& files, const std::string& folder) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, list_if_there(files, folder));
  for (const std::string& name : names) {
    if (name.ends_with(".tmp")) {
      BMAD_TRY(remove_durably(files, fmt::format("{}/{}", folder, name)));
    }
  }
  return {};
}

/// Removes what is made from the logs of a session, and quotes them; the caller takes it out of the
/// index of the root.
inline Status remove_derived_files(FileSystem& files, const std::string& session_id) {
  for (const std::string& path : {index_path(session_id), std::string(kUserPreferencesFile),
                                  std::string(kAgentKnowledgeFile)}) {
    BMAD_TRY(remove_durably(files, path));
  }
  return {};
}

/// Replaces each line of `bytes` by `change(line)`, where that is another one. How many changed.
template <typename Change>
std::uint64_t change_lines(std::string& bytes, const Change& change) {
  std::string other;
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t newline = bytes.find('\n', at);
    const std::size_t end = newline == std::string::npos ? bytes.size() : newline;
    const std::string_view line = std::string_view(bytes).substr(at, end - at);
    const std::optional<std::string> changed = change(line);
    other += changed ? std::string_view(*changed) : line;
    other += newline == std::string::npos ? "" : "\n";
    count += changed ? 1 : 0;
    at = end + 1;
  }
  bytes = std::move(other);
  return count;
}

}  // namespace bmad_mem
