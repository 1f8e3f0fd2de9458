// tracked_files.cpp - what git tracks below a folder.

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/core.h>

#include "exchange/files.hpp"
#include "exchange/git/shared_session.hpp"

namespace bmad_mem::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeaderSize = 12;
constexpr std::size_t kStatSize = 40;  // Of an entry, in front of the hash.
constexpr std::size_t kPadding = 8;
constexpr std::uint32_t kExtended = 0x4000;
constexpr std::uint32_t kNameSizeMask = 0x0FFF;

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) {
    number = (number << 8U) | static_cast<unsigned char>(byte);
  }
  return number;
}

/// Goes through the entries of an index. Every size in it is checked against what there is.
class IndexReader {
 public:
  IndexReader(std::string_view index, std::size_t hash_size)
      : index_(index), at_(kHeaderSize), hash_size_(hash_size) {}

  [[nodiscard]] std::uint32_t version() const { return big_endian(index_.substr(4, 4)); }
  [[nodiscard]] std::uint32_t count() const { return big_endian(index_.substr(8, 4)); }

  /// The path of the next entry; nothing when the bytes are none.
  std::optional<std::string> next() {
    const std::size_t begin = at_;
    const std::size_t flags_at = begin + kStatSize + hash_size_;
    if (flags_at + 4 > index_.size()) {
      return std::nullopt;
    }
    const std::uint32_t flags = big_endian(index_.substr(flags_at, 2));
    at_ = flags_at + ((flags & kExtended) != 0 ? 4 : 2);
    if (version() == 4 && !drop_end()) {
      return std::nullopt;
    }
    const std::size_t end = index_.find('\0', at_);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    path_ = (version() == 4 ? path_ : std::string()) + std::string(index_.substr(at_, end - at_));
    const std::uint32_t size = flags & kNameSizeMask;
    if (size != kNameSizeMask ? size != path_.size() : path_.size() < kNameSizeMask) {
      return std::nullopt;
    }
    at_ = version() == 4 ? end + 1 : begin + (end - begin) / kPadding * kPadding + kPadding;
    return path_;
  }

 private:
  /// Version 4 says how much of the last path goes before more of the next comes.
  bool drop_end() {
    std::size_t size = 0;
    for (std::size_t shift = 0;; ++shift) {
      constexpr std::size_t kBytesMax = 5;
      if (at_ >= index_.size() || shift == kBytesMax) {
        return false;
      }
      const auto byte = static_cast<unsigned char>(index_[at_++]);
      size = (size << 7U) + (byte & 0x7FU);
      if ((byte & 0x80U) == 0) {
        break;
      }
      ++size;
    }
    if (size > path_.size()) {
      return false;
    }
    path_.resize(path_.size() - size);
    return true;
  }

  std::string_view index_;
  std::size_t at_;
  std::size_t hash_size_;
  std::string path_;
};

using Paths = std::set<std::string, std::less<>>;

std::optional<Paths> paths_with_hash(std::string_view index, std::size_t hash_size,
                                     std::string_view prefix) {
  Paths paths;
  IndexReader reader(index, hash_size);
  for (std::uint32_t i = 0; i < reader.count(); ++i) {
    const std::optional<std::string> path = reader.next();
    if (!path) {
      return std::nullopt;
    }
    if (path->starts_with(prefix)) {
      paths.insert(path->substr(prefix.size()));
    }
  }
  return paths;
}

/// The folder that `.git` in a working tree stands for; empty when it stands for none.
fs::path git_folder(const fs::path& dot_git) {
  std::error_code failure;
  if (fs::is_directory(dot_git, failure)) {
    return dot_git;
  }
  static constexpr std::string_view kMark = "gitdir: ";
  const Result<std::string> text = read_regular_file(dot_git.string());
  if (!text || !text->starts_with(kMark)) {
    return {};
  }
  const fs::path named = text->substr(kMark.size(), text->find('\n') - kMark.size());
  return named.is_absolute() ? named : dot_git.parent_path() / named;
}

/// When and how large the file is; git replaces its index whole.
std::string stamp_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return {};
  }
  return fmt::format("{} {} {} {}", status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

/// The paths in `index`, the bytes of a file of git (versions 2 to 4), that begin with `prefix`,
/// without it. Nothing for other bytes.
std::optional<Paths> paths_in_git_index(std::string_view index, std::string_view prefix) {
  constexpr std::array<std::size_t, 2> kHashSizes = {20, 32};
  const std::uint32_t version =
      index.size() < kHeaderSize || !index.starts_with("DIRC") ? 0 : big_endian(index.substr(4, 4));
  if (version >= 2 && version <= 4) {
    for (const std::size_t hash_size : kHashSizes) {
      if (std::optional<Paths> paths = paths_with_hash(index, hash_size, prefix)) {
        return paths;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

TrackedSessions::TrackedSessions(const std::string& root) {
  std::error_code failure;
  const fs::path memory = fs::weakly_canonical(root, failure);
  for (fs::path top = memory; !failure && top.has_relative_path(); top = top.parent_path()) {
    if (!fs::exists(top / ".git", failure)) {
      continue;
    }
    const fs::path folder = git_folder(top / ".git");
    if (!folder.empty()) {
      index_file_ = (folder / "index").string();
      prefix_ = (memory / "sessions" / "").lexically_relative(top).generic_string();
    }
    return;
  }
}

bool TrackedSessions::is_tracked(const std::string& session_id) {
  if (!in_repository()) {
    return false;
  }
  refresh();
  const auto first = tracked_.lower_bound(session_id + "/");
  return !is_readable_ || (first != tracked_.end() && first->starts_with(session_id + "/"));
}

std::size_t TrackedSessions::count_event_logs() {
  refresh();
  return static_cast<std::size_t>(std::ranges::count_if(
      tracked_, [](const std::string& path) { return path.ends_with("/events.jsonl"); }));
}

void TrackedSessions::refresh() {
  const std::string stamp = stamp_of(index_file_);
  if (stamp == seen_) {
    return;
  }
  seen_ = stamp;
  tracked_.clear();
  is_readable_ = true;
  const Result<std::string> bytes = read_regular_file(index_file_);
  if (!bytes) {
    is_readable_ = bytes.error().os_error == ENOENT;  // Nothing was ever added.
    return;
  }
  std::optional<Paths> paths = paths_in_git_index(*bytes, prefix_);
  is_readable_ = paths.has_value();
  if (paths) {
    tracked_ = std::move(*paths);
  }
}

}  // namespace bmad_mem::cli
