// tracked_files.cpp - reads git's index: which files of a memory it tracks or waits to merge.
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <system_error>

#include "model/entry.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeaderSize = 12;
constexpr std::size_t kStatSize = 40;  // Of an entry, in front of the hash.
constexpr std::size_t kPadding = 8;
constexpr std::uint32_t kExtended = 0x4000;
constexpr std::uint32_t kStageMask = 0x3000;
constexpr std::uint32_t kNameSizeMask = 0x0FFF;
constexpr std::uint64_t kIndexSizeMax = std::uint64_t{4} << 30U;

std::uint32_t big_endian(std::string_view bytes) {
  assert(bytes.size() <= sizeof(std::uint32_t));
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

  /// The path of the next entry, until the next call; nothing when the bytes are none.
  std::optional<std::string_view> next() {
    const std::size_t begin = at_;
    const std::size_t flags_at = begin + kStatSize + hash_size_;
    if (flags_at + 4 > index_.size()) {
      return std::nullopt;
    }
    const std::uint32_t flags = big_endian(index_.substr(flags_at, 2));
    stage_ = (flags & kStageMask) / (kNameSizeMask + 1);
    at_ = flags_at + ((flags & kExtended) != 0 ? 4 : 2);
    if (version() == 4 && !drop_end()) {
      return std::nullopt;
    }
    const std::size_t end = index_.find('\0', at_);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    path_.resize(version() == 4 ? path_.size() : 0);
    path_ += index_.substr(at_, end - at_);
    const std::uint32_t size = flags & kNameSizeMask;
    if (size != kNameSizeMask ? size != path_.size() : path_.size() < kNameSizeMask) {
      return std::nullopt;
    }
    at_ = version() == 4 ? end + 1 : begin + (end - begin) / kPadding * kPadding + kPadding;
    return path_;
  }
  /// Of that entry: 0, or in an unfinished merge 1 for the base, 2 for ours, 3 for theirs.
  [[nodiscard]] std::uint32_t stage() const { return stage_; }

  /// Whether the entries are all: no others are in a shared index, and none is a folder.
  [[nodiscard]] bool is_whole() const {
    for (std::size_t at = at_; at + kPadding + hash_size_ <= index_.size();) {
      const std::string_view name = index_.substr(at, 4);
      if (name == "link" || name == "sdir") {
        return false;
      }
      at += kPadding + big_endian(index_.substr(at + 4, 4));
    }
    return true;
  }

 private:
  /// Version 4 says how much of the last path goes before more of the next comes.
  bool drop_end() {
    std::size_t size = 0;
    for (std::size_t shift = 0;; ++shift) {
      constexpr std::size_t kNumberBytesMax = 5;
      if (at_ >= index_.size() || shift == kNumberBytesMax) {
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
  std::uint32_t stage_ = 0;
  std::string path_;
};

/// Calls `use` for each entry of `index` (versions 2 to 4); false for other bytes.
bool read_index(std::string_view index, std::size_t hash_size,
                const std::function<void(std::string_view path, std::uint32_t stage)>& use) {
  if (index.size() < kHeaderSize || !index.starts_with("DIRC")) {
    return false;
  }
  IndexReader reader(index, hash_size);
  if (reader.version() < 2 || reader.version() > 4) {
    return false;
  }
  for (std::uint32_t i = 0; i < reader.count(); ++i) {
    const std::optional<std::string_view> path = reader.next();
    if (!path) {
      return false;
    }
    use(*path, reader.stage());
  }
  return reader.is_whole();
}

/// The folder that `.git` in a working tree stands for; empty when it stands for none.
fs::path git_folder(const fs::path& dot_git) {
  std::error_code failure;
  if (fs::is_directory(dot_git, failure)) {
    return dot_git;
  }
  static constexpr std::string_view kMark = "gitdir: ";
  const std::string line = first_line_of_file(dot_git);
  return line.starts_with(kMark) ? dot_git.parent_path() / line.substr(kMark.size()) : fs::path();
}

/// The session whose file `path` of the memory is; empty when it is of none.
std::string_view session_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  const std::string_view name = slash == path.npos ? std::string_view() : path.substr(slash + 1);
  if (path.substr(0, slash) == kSessionsFolder) {
    return name.substr(0, name.find('/'));
  }
  for (const std::string_view end : {".tar.gz", ".manifest.json"}) {
    if (path.substr(0, slash) == kArchiveFolder && name.ends_with(end)) {
      return name.substr(0, name.size() - end.size());
    }
  }
  return {};
}

/// Whether a file that was in the base is in one of the sides; `bits`: 1 << stage each.
bool is_of_one_side(std::uint32_t bits) {
  constexpr std::uint32_t kBase = 1U << 1U;
  constexpr std::uint32_t kOurs = 1U << 2U;
  constexpr std::uint32_t kTheirs = 1U << 3U;
  return bits == (kBase | kOurs) || bits == (kBase | kTheirs);
}

}  // namespace

void TrackedFiles::find_index() {
  is_looked_for_ = true;
  std::error_code failure;
  const fs::path memory = fs::weakly_canonical(root_, failure);
  for (fs::path top = memory; !failure && top.has_relative_path(); top = top.parent_path()) {
    if (!fs::exists(top / ".git", failure)) {
      continue;
    }
    const fs::path folder = git_folder(top / ".git");
    if (!folder.empty()) {
      index_file_ = (folder / "index").string();
      prefix_ = memory == top ? "" : (memory / "").lexically_relative(top).generic_string();
      assert(prefix_.empty() || prefix_.ends_with('/'));
    }
    return;
  }
}

void TrackedFiles::refresh() {
  if (!is_looked_for_) {
    find_index();
  }
  const std::uint64_t stamp = outside_file_stamp(index_file_);
  if (stamp == seen_) {
    return;
  }
  seen_ = stamp;
  sessions_.clear();
  in_conflict_.clear();
  has_any_ = false;
  event_logs_ = 0;
  is_readable_ = true;
  if (stamp == 0) {
    return;  // Nothing was ever added.
  }
  const Result<std::string> bytes = read_outside_file(index_file_, kIndexSizeMax);
  std::map<std::string, std::uint32_t> stages;  // Of what is unmerged: a bit each.
  const auto use = [&](std::string_view path, std::uint32_t stage) {
    if (!path.starts_with(prefix_)) {
      return;
    }
    has_any_ = true;
    path.remove_prefix(prefix_.size());
    if (const std::string_view session = session_of(path); !session.empty()) {
      sessions_.emplace(session);
      event_logs_ += path.ends_with("/events.jsonl") ? 1U : 0U;
    }
    if (stage > 0) {
      stages[std::string(path)] |= 1U << stage;
    }
  };
  constexpr std::array<std::size_t, 2> kHashSizes = {20, 32};
  is_readable_ =
      bytes && (read_index(*bytes, kHashSizes[0], use) || read_index(*bytes, kHashSizes[1], use));
  for (const auto& [path, bits] : stages) {
    const std::string_view session = session_of(path);
    if (!session.empty() && (path.starts_with(kArchiveFolder) || is_of_one_side(bits))) {
      in_conflict_.emplace(session);
    }
  }
}

template <typename Ask>
auto TrackedFiles::after_refresh(const Ask& ask) {
  const std::scoped_lock lock(mutex_);
  refresh();
  return ask();
}

bool TrackedFiles::in_repository() {
  return after_refresh([&] { return !index_file_.empty(); });
}

bool TrackedFiles::any() {
  return after_refresh([&] { return has_any_ || !is_readable_; });
}

bool TrackedFiles::has_session(std::string_view session_id) {
  return after_refresh([&] { return !is_readable_ || sessions_.contains(session_id); });
}

std::size_t TrackedFiles::count_event_logs() {
  return after_refresh([&] { return event_logs_; });
}

std::set<std::string> TrackedFiles::sessions_in_conflict() {
  return after_refresh([&] { return in_conflict_; });
}

}  // namespace bmad_mem
