#include "sync_order.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string_view>

namespace bmad_mem {
namespace {

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Files that are derived, local or information: losing them loses no memory.
bool is_expendable(const std::string& path) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "index.json",   "maintenance.json", "access.jsonl",  // Made again, or a schedule.
      "catalog.json", "audit.jsonl",      ".gitignore"};
  const std::string name = path.substr(path.rfind('/') + 1);
  return std::ranges::find(kNames, name) != kNames.end() || name.starts_with(".lock") ||
         name.ends_with(".tmp") || name.ends_with(".index.json") ||
         name.ends_with(".known.jsonl") || parent_of(path).ends_with("/index") || name == "index" ||
         parent_of(path).ends_with("/shared");
}

class PageCache {
 public:
  explicit PageCache(const std::string& folder) : folder_(folder) {}

  void apply(const TracePoint& point) {
    switch (point.kind) {
      case CallKind::kOpenWrite:
        if (point.creates) {
          names_.insert(point.path);
        }
        break;
      case CallKind::kWrite:
      case CallKind::kTruncate:
      case CallKind::kAllocate:
      case CallKind::kCopy:
        bytes_.insert(point.path);
        break;
      case CallKind::kMakeNode:
        names_.insert(point.path_to.empty() ? point.path : point.path_to);
        holds_kept_ = holds_kept_ || point.path.ends_with("/shared/kept");
        break;
      case CallKind::kUnlink:
        bytes_.erase(point.path);
        names_.erase(point.path);
        distrusted_.erase(point.path);
        break;
      case CallKind::kRename:
        rename(point.path, point.path_to);
        break;
      case CallKind::kSync:
        sync(point);
        break;
      default:
        break;
    }
  }

  /// After a failed sync nobody knows what the disk holds, and a second one that succeeds proves
  /// nothing: Linux drops the error and marks the pages clean. Only a new file is trusted again.
  void sync_failed(const TracePoint& point) { distrusted_.insert(point.path); }

  void acknowledge(const std::string& when) {
    for (const std::string& path : bytes_) {
      if (!is_expendable(path)) {
        report(path + ": its bytes are not synced " + when);
      }
    }
    for (const std::string& path : names_) {
      // The folder of what is derived may be lost, but not once it holds the folder of what is
      // kept.
      const bool is_derived = path.ends_with("/shared") && !holds_kept_;
      if (!is_expendable(path) && !is_derived) {
        report(path + ": its folder is not synced " + when);
      }
    }
  }

  std::vector<std::string> losses() && { return std::move(losses_); }

 private:
  void rename(const std::string& from, const std::string& to) {
    if (bytes_.contains(from) && !is_expendable(to)) {
      report(to + ": renamed into place before its bytes were synced");
    }
    bytes_.erase(to);  // The replaced file is gone, and whatever it lost with it.
    move_below(bytes_, from, to);
    move_below(names_, from, to);
    distrusted_.erase(to);
    move_below(distrusted_, from, to);
    names_.insert(to);
  }

  void sync(const TracePoint& point) {
    if (point.call == "sync_file_range") {
      return;  // It promises nothing about metadata, and so nothing about a file that grew.
    }
    if (point.call == "syncfs") {
      bytes_.clear();
      names_.clear();
      return;
    }
    if (distrusted_.contains(point.path)) {
      return;
    }
    bytes_.erase(point.path);
    std::erase_if(names_,
                  [&point](const std::string& name) { return parent_of(name) == point.path; });
  }

  /// A renamed folder takes what lies below it along.
  static void move_below(std::set<std::string>& paths, const std::string& from,
                         const std::string& to) {
    std::set<std::string> moved;
    for (const std::string& path : paths) {
      const bool is_below = path == from || path.starts_with(from + "/");
      moved.insert(is_below ? to + path.substr(from.size()) : path);
    }
    paths = std::move(moved);
  }

  void report(std::string sentence) {
    if (sentence.starts_with(folder_ + "/")) {
      sentence.erase(0, folder_.size() + 1);
    }
    if (std::ranges::find(losses_, sentence) == losses_.end()) {
      losses_.push_back(std::move(sentence));
    }
  }

  const std::string& folder_;
  std::set<std::string> bytes_;       ///< files with bytes that only the page cache holds
  std::set<std::string> names_;       ///< directory entries that only the page cache holds
  bool holds_kept_ = false;           ///< shared/kept was made
  std::set<std::string> distrusted_;  ///< files and folders on which a sync has failed
  std::vector<std::string> losses_;
};

}  // namespace

std::vector<std::string> unsafe_when_acknowledged(const std::vector<TracePoint>& points,
                                                  const std::string& folder) {
  PageCache cache(folder);
  bool has_output = false;
  for (const TracePoint& point : points) {
    if (point.kind == CallKind::kOutput && !has_output) {
      has_output = true;
      cache.acknowledge("when the command reports success");
    }
    if (point.result < 0 && point.kind == CallKind::kSync && point.result != -EINTR) {
      cache.sync_failed(point);
    } else if (point.executed && point.result >= 0) {
      cache.apply(point);
    }
  }
  cache.acknowledge("when the command ends");
  return std::move(cache).losses();
}

}  // namespace bmad_mem
