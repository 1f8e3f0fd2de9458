// workspace_tree.cpp - lists the files of a project, and searches them for names.
#include "exchange/workspace_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "bmad_mem/text.hpp"
#include "cli/program.hpp"
#include "exchange/files.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

namespace fs = std::filesystem;
using Deadline = std::chrono::steady_clock::time_point;

constexpr auto kSkippedFolders =
    std::to_array<std::string_view>({".bmad", ".cache", ".git", ".hg", ".mypy_cache", ".svn",
                                     ".tox", ".venv", "__pycache__", "node_modules", "venv"});

/// Endings of files that speak about code and are none: a change log names what has gone.
constexpr auto kProseEndings =
    std::to_array<std::string_view>({".jsonl", ".log", ".md", ".rst", ".txt"});

/// `path`, relative, without ".", ".." and doubled slashes; nothing for one that leads out of the
/// folder.
std::string plain_path(const fs::path& path) {
  const std::string plain = path.lexically_normal().generic_string();
  return plain == "." || plain == ".." || plain.starts_with("../")
             ? std::string()
             : std::string(trimmed(plain, "/"));
}

/// The bytes of a regular file; empty for any other, a longer one, and one with zero bytes.
std::string source_text(const std::string& path, std::uint64_t size_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  std::string text;
  if (::fstat(file.number(), &info) == 0 && S_ISREG(info.st_mode) &&
      static_cast<std::uint64_t>(info.st_size) <= size_max) {
    read_bytes(file, static_cast<std::size_t>(info.st_size), text);
  }
  return text.substr(0, 1024).contains('\0') ? std::string() : text;
}

/// Takes the names that stand in `text` out of `wanted`.
void strike_out(std::string_view text, std::set<std::string, std::less<>>& wanted) {
  for (std::size_t at = 0; at < text.size() && !wanted.empty();) {
    std::size_t end = at;
    while (end < text.size() && is_word_byte(text[end])) {
      ++end;
    }
    if (const auto found = wanted.find(text.substr(at, end - at)); found != wanted.end()) {
      wanted.erase(found);
    }
    at = std::max(end, at + 1);
  }
}

}  // namespace

WorkspaceTree::WorkspaceTree(std::string folder, const WorkspaceLimits& limits)
    : folder_(std::move(folder)), limits_(limits) {
  const Deadline deadline = std::chrono::steady_clock::now() + limits_.time;
  std::error_code error;
  fs::recursive_directory_iterator at(folder_, fs::directory_options::skip_permission_denied,
                                      error);
  const fs::recursive_directory_iterator end;
  while (!error && at != end) {
    if (files_.size() >= limits_.files || std::chrono::steady_clock::now() > deadline) {
      is_complete_ = false;
      break;
    }
    const std::string path = at->path().string().substr(folder_.size() + 1);
    std::error_code ignored;
    const bool is_folder = at->symlink_status(ignored).type() == fs::file_type::directory;
    const std::string_view name = base_name(path);
    if (is_folder && std::ranges::binary_search(kSkippedFolders, name)) {
      at.disable_recursion_pending();
    } else {
      by_name_[std::string(name)].push_back(files_.size());
      files_.push_back(is_folder ? path + '/' : path);
    }
    at.increment(error);
  }
  is_complete_ = is_complete_ && !error;
}

bool WorkspaceTree::has(std::string_view path) const {
  if (path.starts_with('/')) {
    if (!path.starts_with(folder_ + '/')) {
      return true;
    }
    path.remove_prefix(folder_.size() + 1);
  }
  const std::string plain = plain_path(path);
  if (plain.empty()) {
    return true;
  }
  const std::size_t slash = plain.find('/');
  if (std::ranges::binary_search(kSkippedFolders, std::string_view(plain).substr(0, slash))) {
    return true;  // Nobody has looked there.
  }
  const auto found = by_name_.find(std::string(base_name(plain)));
  return found != by_name_.end() && std::ranges::any_of(found->second, [&](std::size_t index) {
           const std::string_view file = trimmed(files_[index], "/");
           return file == plain || file.ends_with('/' + plain);
         });
}

std::optional<std::set<std::string, std::less<>>> WorkspaceTree::missing_names(
    const std::set<std::string, std::less<>>& names) const {
  std::set<std::string, std::less<>> wanted = names;
  const Deadline deadline = std::chrono::steady_clock::now() + limits_.time;
  std::uint64_t bytes = 0;
  for (const std::string& file : files_) {
    if (wanted.empty()) {
      return wanted;
    }
    const bool is_prose = std::ranges::any_of(
        kProseEndings, [&](std::string_view ending) { return file.ends_with(ending); });
    if (file.ends_with('/') || is_prose) {
      continue;
    }
    if (bytes > limits_.bytes || std::chrono::steady_clock::now() > deadline) {
      return std::nullopt;
    }
    const std::string text = source_text(folder_ + '/' + file, limits_.file_bytes);
    bytes += text.size();
    strike_out(text, wanted);
  }
  return is_complete_ || wanted.empty() ? std::optional(std::move(wanted)) : std::nullopt;
}

}  // namespace bmad_mem::cli
