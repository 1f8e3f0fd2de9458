// folder_watch.cpp - reports which watched folders have changed, by inotify.
#include <linux/magic.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "store/store_watch.hpp"

namespace bmad_mem {
namespace {

// What changes the entries of a log, or the names in a folder.
constexpr std::uint32_t kEvents = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                  IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::uint32_t kGone = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;

Error watch_error(int error, const std::string& path) {
  Error result = posix_error(error, "watch", path);
  if (error == ENOSPC || error == EMFILE) {
    // Not a full disk, whatever the number means elsewhere.
    result.code = ErrorCode::E_STORAGE_IO;
    result.message =
        std::string("the system has no more watches for this user; raise fs.inotify.") +
        (error == ENOSPC ? "max_user_watches" : "max_user_instances") + " with sysctl";
  }
  return result;
}

void sort_once(std::vector<std::string>& names) {
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
}

}  // namespace

struct FolderWatch::Impl {
  std::string root;
  Descriptor inotify;
  Descriptor stopper;  // An eventfd that is never read: it wakes every wait().
  std::atomic<bool> stopped{false};
  std::map<int, std::string> folders;  // By watch.

  void take(const inotify_event& event, std::string_view name, FolderChanges& changes);
  void lose(const std::string& folder, FolderChanges& changes);
  Status read_events(FolderChanges& changes);
};

void FolderWatch::Impl::take(const inotify_event& event, std::string_view name,
                             FolderChanges& changes) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) {
    changes.everything = true;
    return;
  }
  const auto folder = folders.find(event.wd);
  if (folder == folders.end()) {
    return;
  }
  if ((event.mask & kGone) == 0) {
    // Each append stamps the lock, right behind the log: nobody wants to be woken twice. A session
    // may have any name.
    if ((event.mask & IN_ISDIR) == 0 && is_local_name(name)) {
      return;
    }
    changes.changed.push_back(folder->second);
    constexpr std::uint32_t kNames = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
    if ((event.mask & IN_ISDIR) != 0 && (event.mask & kNames) != 0) {
      lose(folder->second.empty() ? std::string(name) : folder->second + "/" + std::string(name),
           changes);
    }
    return;
  }
  changes.gone.push_back(folder->second);
  if ((event.mask & IN_IGNORED) == 0) {
    inotify_rm_watch(inotify.get(), event.wd);  // A folder that was moved away is still watched.
  }
  folders.erase(folder);
}

/// Another folder may be at that path. A removed one does not say so itself as long as somebody has
/// a file of it open.
void FolderWatch::Impl::lose(const std::string& folder, FolderChanges& changes) {
  const auto watched =
      std::ranges::find_if(folders, [&](const auto& each) { return each.second == folder; });
  if (watched != folders.end()) {
    changes.gone.push_back(folder);
    inotify_rm_watch(inotify.get(), watched->first);
    folders.erase(watched);
  }
}

Status FolderWatch::Impl::read_events(FolderChanges& changes) {
  alignas(inotify_event) std::array<char, std::size_t{64} * 1024> buffer;
  while (true) {
    const ssize_t got = ::read(inotify.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && errno != EAGAIN) {
      return watch_error(errno, root);
    }
    if (got <= 0) {
      return {};
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      assert(at + sizeof(inotify_event) <= static_cast<std::size_t>(got));
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      take(event, event.len > 0 ? buffer.data() + at + sizeof event : "", changes);
      at += sizeof event + event.len;
    }
  }
}

Result<FolderWatch> FolderWatch::open(std::string root) {
  auto impl = std::make_unique<Impl>();
  impl->root = std::move(root);
  impl->inotify = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  impl->stopper = Descriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!impl->inotify.is_open() || !impl->stopper.is_open()) {
    return watch_error(errno, impl->root);
  }
  return FolderWatch(std::move(impl));
}

bool FolderWatch::tells_all(const std::string& root) {
  constexpr std::uint32_t kZfs = 0x2fc12fc1;  // Linux itself does not have it.
  struct statfs status{};
  if (::statfs(root.c_str(), &status) != 0) {
    return false;
  }
  switch (static_cast<std::uint32_t>(status.f_type)) {
    case EXT4_SUPER_MAGIC:  // And ext2, ext3.
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case kZfs:
      return true;
    default:
      return false;
  }
}

FolderWatch::FolderWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FolderWatch::FolderWatch(FolderWatch&&) noexcept = default;
FolderWatch& FolderWatch::operator=(FolderWatch&&) noexcept = default;
FolderWatch::~FolderWatch() = default;

Result<bool> FolderWatch::add(const std::string& folder) {
  assert(!folder.starts_with('/') && "folders are relative to the root");
  const std::string path = folder.empty() ? impl_->root : impl_->root + "/" + folder;
  // The root may be reached through a link, as everywhere: it is the user's own.
  const std::uint32_t events = folder.empty() ? kEvents : kEvents | IN_DONT_FOLLOW;
  const int watch = ::inotify_add_watch(impl_->inotify.get(), path.c_str(), events);
  if (watch < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return false;
  }
  if (watch < 0) {
    return watch_error(errno, path);
  }
  impl_->folders[watch] = folder;
  return true;
}

Result<FolderChanges> FolderWatch::wait(std::chrono::milliseconds timeout) {
  FolderChanges changes;
  std::array<pollfd, 2> waited = {
      pollfd{.fd = impl_->inotify.get(), .events = POLLIN, .revents = 0},
      pollfd{.fd = impl_->stopper.get(), .events = POLLIN, .revents = 0}};
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (std::int64_t left = timeout.count();;) {
    const auto limit = std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max());
    const int ready = ::poll(waited.data(), waited.size(), static_cast<int>(limit));
    if (ready < 0 && errno != EINTR) {
      return watch_error(errno, impl_->root);
    }
    BMAD_TRY(impl_->read_events(changes));
    const bool is_nothing = changes.changed.empty() && changes.gone.empty() && !changes.everything;
    left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now())
               .count();
    // Events that nobody wants end no wait.
    if (ready <= 0 || !is_nothing || waited[1].revents != 0 || left <= 0) {
      break;
    }
  }
  sort_once(changes.changed);
  sort_once(changes.gone);
  return changes;
}

void FolderWatch::stop() noexcept {
  impl_->stopped = true;
  const std::uint64_t one = 1;
  const int kept = errno;  // A signal's handler must not change it.
  static_cast<void>(::write(impl_->stopper.get(), &one, sizeof one));
  errno = kept;
}

bool FolderWatch::is_stopped() const noexcept { return impl_->stopped; }

}  // namespace bmad_mem
