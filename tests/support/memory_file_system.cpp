#include "support/memory_file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "store/posix_file_system.hpp"

namespace bmad_mem::test {

struct MemoryNode {
  FileKind kind = FileKind::kRegular;
  std::uint64_t inode = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint64_t links = 1;
  std::string bytes;                                            // Of a file.
  std::map<std::string, std::shared_ptr<MemoryNode>> children;  // Of a folder.
};

namespace {

constexpr std::size_t kNameSizeMax = 255;
constexpr std::uint64_t kDevice = 1;

void touch(MemoryDisk& disk, MemoryNode& node) {
  constexpr std::int64_t kMillisecondNs = 1'000'000;
  disk.now_ns += kMillisecondNs;
  node.mtime_ns = disk.now_ns;
  node.ctime_ns = disk.now_ns;
}

std::shared_ptr<MemoryNode> new_node(MemoryDisk& disk, FileKind kind) {
  auto node = std::make_shared<MemoryNode>();
  node->kind = kind;
  node->inode = ++disk.last_inode;
  touch(disk, *node);
  return node;
}

FileInfo info_of(const MemoryNode& node) {
  return {.device = kDevice,
          .inode = node.inode,
          .size = node.bytes.size(),
          .mtime_ns = node.mtime_ns,
          .kind = node.kind,
          .links = node.links,
          .ctime_ns = node.ctime_ns};
}

class MemoryFile final : public File {
 public:
  MemoryFile(std::shared_ptr<MemoryDisk> disk, std::shared_ptr<MemoryNode> node, OpenMode mode,
             std::string path)
      : disk_(std::move(disk)), node_(std::move(node)), mode_(mode), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    const std::lock_guard guard(disk_->mutex);
    if (offset >= node_->bytes.size()) {
      return 0U;
    }
    return node_->bytes.copy(out.data(), out.size(), offset);
  }

  Result<std::size_t> write(std::string_view bytes) override {
    const std::lock_guard guard(disk_->mutex);
    const std::uint64_t offset = mode_ == OpenMode::kAppend ? node_->bytes.size() : position_;
    position_ = offset + bytes.size();
    return put(offset, bytes);
  }

  Result<std::size_t> write_at(std::uint64_t offset, std::string_view bytes) override {
    const std::lock_guard guard(disk_->mutex);
    // Linux appends whatever the offset says, when the file was opened for appending.
    return put(mode_ == OpenMode::kAppend ? node_->bytes.size() : offset, bytes);
  }

  Status truncate(std::uint64_t size) override {
    const std::lock_guard guard(disk_->mutex);
    if (mode_ == OpenMode::kRead) {
      return posix_error(EINVAL, "shorten", path_);
    }
    node_->bytes.resize(size);
    touch(*disk_, *node_);
    return {};
  }

  Status set_mtime(std::int64_t mtime_ns) override {
    const std::lock_guard guard(disk_->mutex);
    if (!disk_->sets_times) {
      return File::set_mtime(mtime_ns);
    }
    touch(*disk_, *node_);
    node_->mtime_ns = mtime_ns;
    return {};
  }

  Status sync_data() override { return {}; }
  Status sync_all() override { return {}; }

  Result<FileInfo> info() override {
    const std::lock_guard guard(disk_->mutex);
    return info_of(*node_);
  }

  [[nodiscard]] int descriptor() const override { return -1; }

 private:
  Result<std::size_t> put(std::uint64_t offset, std::string_view bytes) {
    if (mode_ == OpenMode::kRead) {
      return posix_error(EBADF, "write to", path_);
    }
    if (!bytes.empty()) {
      node_->bytes.resize(std::max<std::size_t>(node_->bytes.size(), offset + bytes.size()));
      node_->bytes.replace(offset, bytes.size(), bytes);
      touch(*disk_, *node_);
    }
    return bytes.size();
  }

  std::shared_ptr<MemoryDisk> disk_;
  std::shared_ptr<MemoryNode> node_;
  OpenMode mode_;
  std::string path_;
  std::uint64_t position_ = 0;
};

/// The names in `path`; nothing when it leads out of the root.
Result<std::vector<std::string>> split(const std::string& path, std::string_view action) {
  std::vector<std::string> names;
  if (path.starts_with('/') || path.find('\0') != std::string::npos) {
    return posix_error(EINVAL, action, path);
  }
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    std::string name = path.substr(at, end - at);
    if (name == "..") {
      return posix_error(EINVAL, action, path);
    }
    if (name.size() > kNameSizeMax) {
      return posix_error(ENAMETOOLONG, action, path);
    }
    if (!name.empty() && name != ".") {
      names.push_back(std::move(name));
    }
    at = end + 1;
  }
  return names;
}

/// errno of putting `node` in the place of `old`, or 0: a file replaces a file, a folder an empty
/// folder.
int replace_problem(const MemoryNode& node, const MemoryNode* old) {
  if (old == nullptr || old == &node) {
    return 0;
  }
  const bool old_is_folder = old->kind == FileKind::kDirectory;
  if ((node.kind == FileKind::kDirectory) != old_is_folder) {
    return old_is_folder ? EISDIR : ENOTDIR;
  }
  return old->children.empty() ? 0 : ENOTEMPTY;
}

}  // namespace

/// A name in a folder and what it stands for.
struct MemoryFileSystem::Place {
  std::shared_ptr<MemoryNode> parent;  // nullptr for the root.
  std::string name;
  std::shared_ptr<MemoryNode> node;  // nullptr when the name is free.
};

MemoryFileSystem::MemoryFileSystem()
    : disk_(std::make_shared<MemoryDisk>()), root_(new_node(*disk_, FileKind::kDirectory)) {}

MemoryFileSystem::~MemoryFileSystem() = default;

Result<MemoryFileSystem::Place> MemoryFileSystem::find(const std::string& path,
                                                       std::string_view action) const {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, split(path, action));
  Place place{.parent = nullptr, .name = {}, .node = root_};
  for (const std::string& name : names) {
    if (place.node == nullptr) {
      return posix_error(ENOENT, action, display_path(path));
    }
    if (place.node->kind != FileKind::kDirectory) {
      const int why = place.node->kind == FileKind::kOther ? ELOOP : ENOTDIR;
      return posix_error(why, action, display_path(path));
    }
    place.parent = std::move(place.node);
    place.name = name;
    const auto found = place.parent->children.find(name);
    place.node = found == place.parent->children.end() ? nullptr : found->second;
  }
  return place;
}

Result<std::unique_ptr<File>> MemoryFileSystem::open(const std::string& path, OpenMode mode) {
  const std::lock_guard guard(disk_->mutex);
  BMAD_TRY_ASSIGN(Place place, find(path, "open"));
  if (place.node == nullptr) {
    if (mode == OpenMode::kRead) {
      return posix_error(ENOENT, "open", display_path(path));
    }
    place.node = new_node(*disk_, FileKind::kRegular);
    place.parent->children[place.name] = place.node;
    touch(*disk_, *place.parent);
  }
  if (place.node->kind != FileKind::kRegular) {
    return posix_error(EINVAL, "use as a file", display_path(path));
  }
  if (mode == OpenMode::kCreate) {
    place.node->bytes.clear();
    touch(*disk_, *place.node);
  }
  return std::make_unique<MemoryFile>(disk_, place.node, mode, display_path(path));
}

Result<FileInfo> MemoryFileSystem::info(const std::string& path) {
  const std::lock_guard guard(disk_->mutex);
  BMAD_TRY_ASSIGN(const Place place, find(path, "look at"));
  if (place.node == nullptr) {
    return posix_error(ENOENT, "look at", display_path(path));
  }
  return info_of(*place.node);
}

Result<std::vector<std::string>> MemoryFileSystem::list(const std::string& path) {
  const std::lock_guard guard(disk_->mutex);
  BMAD_TRY_ASSIGN(const Place place, find(path, "list the folder"));
  if (place.node == nullptr || place.node->kind != FileKind::kDirectory) {
    return posix_error(place.node == nullptr ? ENOENT : ENOTDIR, "list the folder",
                       display_path(path));
  }
  std::vector<std::string> names;
  for (const auto& [name, child] : place.node->children) {
    names.push_back(name);
  }
  return names;
}

Status MemoryFileSystem::make_directory(const std::string& path) {
  const std::lock_guard guard(disk_->mutex);
  BMAD_TRY_ASSIGN(const Place place, find(path, "create the folder"));
  if (place.node != nullptr) {
    return posix_error(EEXIST, "create the folder", display_path(path));
  }
  place.parent->children[place.name] = new_node(*disk_, FileKind::kDirectory);
  touch(*disk_, *place.parent);
  return {};
}

Status MemoryFileSystem::rename(const std::string& from, const std::string& to) {
  const std::lock_guard guard(disk_->mutex);
  constexpr std::string_view kAction = "put a file in place of";
  BMAD_TRY_ASSIGN(const Place source, find(from, kAction));
  BMAD_TRY_ASSIGN(const Place target, find(to, kAction));
  if (source.node == nullptr) {
    return posix_error(ENOENT, kAction, display_path(to));
  }
  if (source.parent == nullptr || target.parent == nullptr) {
    return posix_error(EBUSY, kAction, display_path(to));
  }
  if (to.starts_with(from + "/")) {
    return posix_error(EINVAL, kAction, display_path(to));
  }
  if (const int problem = replace_problem(*source.node, target.node.get()); problem != 0) {
    return posix_error(problem, kAction, display_path(to));
  }
  if (source.node != target.node) {
    source.parent->children.erase(source.name);
    if (target.node != nullptr) {
      target.node->links = 0;
    }
    target.parent->children[target.name] = source.node;
    touch(*disk_, *source.parent);
    touch(*disk_, *target.parent);
  }
  return {};
}

Status MemoryFileSystem::remove(const std::string& path) { return unlink(path, false); }

Status MemoryFileSystem::remove_directory(const std::string& path) { return unlink(path, true); }

Status MemoryFileSystem::unlink(const std::string& path, bool is_folder) {
  const std::lock_guard guard(disk_->mutex);
  BMAD_TRY_ASSIGN(const Place place, find(path, "remove"));
  int problem = 0;
  if (place.node == nullptr) {
    problem = ENOENT;
  } else if ((place.node->kind == FileKind::kDirectory) != is_folder) {
    problem = is_folder ? ENOTDIR : EISDIR;
  } else if (place.parent == nullptr) {
    problem = EBUSY;
  } else if (!place.node->children.empty()) {
    problem = ENOTEMPTY;
  }
  if (problem != 0) {
    return posix_error(problem, "remove", display_path(path));
  }
  place.node->links = 0;
  place.parent->children.erase(place.name);
  touch(*disk_, *place.parent);
  return {};
}

Status MemoryFileSystem::sync_directory(const std::string& path) {
  const Result<std::vector<std::string>> names = list(path);
  if (!names) {
    return names.error();
  }
  return {};
}

std::string MemoryFileSystem::display_path(const std::string& path) const {
  return path.empty() ? "memory:" : "memory:/" + path;
}

void MemoryFileSystem::make_other(const std::string& path) {
  const std::lock_guard guard(disk_->mutex);
  const Place place = find(path, "make").value();
  place.parent->children[place.name] = new_node(*disk_, FileKind::kOther);
}

void MemoryFileSystem::make_folders(const std::string& path) {
  for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const Status made = make_directory(path.substr(0, end));
    if (!made && made.error().os_error != EEXIST) {
      throw std::bad_expected_access(made.error());
    }
    if (end == std::string::npos) {
      return;
    }
  }
}

void MemoryFileSystem::write(const std::string& path, std::string_view bytes) {
  const std::unique_ptr<File> file = std::move(open(path, OpenMode::kCreate).value());
  file->write(bytes).value();
}

std::string MemoryFileSystem::read(const std::string& path) {
  const std::unique_ptr<File> file = std::move(open(path, OpenMode::kRead).value());
  std::string bytes(file->info().value().size, '\0');
  bytes.resize(file->read_at(0, bytes).value());
  return bytes;
}

}  // namespace bmad_mem::test
