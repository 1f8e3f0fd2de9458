// store_watch.cpp - counts the changes of folders that the kernel reports, for later questions.
#include "store/store_watch.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "bmad_mem/question.hpp"
#include "store/store.hpp"

namespace bmad_mem {

void StoreWatch::look() {
  const std::lock_guard guard(mutex_);
  if (is_off_ || Question::holds(look_)) {
    return;
  }
  look_ = Question::look();
  const Status followed = store_.files->follow_root();
  const Result<FileInfo> root = store_.files->info("");
  if (!followed || !root) {
    watch_.reset();
    return;
  }
  if (watch_ && root->same_file(root_)) {
    drain();
  } else {
    root_ = *root;
    open();
  }
  const Timestamp now = store_.clock.now();
  if (now < unchanged_since_ || now - unchanged_since_ > kUnchangedFor) {
    unchanged_since_ = now;
    all_changed_ = ++now_;
  }
}

/// Watches nothing yet.
void StoreWatch::open() {
  watch_.reset();
  folders_.clear();
  ++now_;
  if (!FolderWatch::tells_all(store_.root)) {
    give_up();
    return;
  }
  Result<FolderWatch> opened = FolderWatch::open(store_.root);
  if (opened) {
    watch_ = *std::move(opened);
  } else {
    give_up();
  }
}

void StoreWatch::drain() {
  assert(watch_);
  const Result<FolderChanges> changes = watch_->wait(std::chrono::milliseconds(0));
  if (!changes) {
    give_up();
    return;
  }
  // The folders in one that was moved are at other paths. And where the kernel lost count, it may
  // have lost that one is watched no more.
  const auto holds_others = [](const std::string& folder) { return !folder.contains('/'); };
  if (changes->everything || std::ranges::any_of(changes->gone, holds_others)) {
    open();
    return;
  }
  for (const std::string& folder : changes->gone) {
    folders_.erase(folder);
    ++now_;
  }
  for (const std::string& folder : changes->changed) {
    if (const auto known = folders_.find(folder); known != folders_.end()) {
      known->second = ++now_;
    }
  }
}

/// The user's other programs need watches more: this one can do without.
void StoreWatch::give_up() {
  watch_.reset();
  folders_.clear();
  is_off_ = true;
}

StoreWatch::Moment StoreWatch::changed(const std::string& folder) {
  const std::lock_guard guard(mutex_);
  return changed_in(folder);
}

StoreWatch::Moment StoreWatch::changed_in(const std::string& folder) {
  if (!watch_) {
    return kAlways;
  }
  if (const auto known = folders_.find(folder); known != folders_.end()) {
    assert(known->second <= now_ && all_changed_ <= now_);
    return std::max(known->second, all_changed_);
  }
  if (folder.empty()) {
    return begin(folder, kAlways);
  }
  const std::size_t slash = folder.rfind('/');
  const Moment above = changed_in(slash == std::string::npos ? "" : folder.substr(0, slash));
  return above == kAlways ? kAlways : begin(folder, above);
}

/// `above`: when the folder that holds this one changed.
StoreWatch::Moment StoreWatch::begin(const std::string& folder, Moment above) {
  if (folders_.size() >= kFoldersMax) {
    return kAlways;
  }
  assert(watch_ && !folders_.contains(folder));
  const Result<bool> added = watch_->add(folder);
  if (!added) {
    give_up();
    return kAlways;
  }
  const Result<FileInfo> info = store_.files->info(folder);
  if (!*added) {
    return !info && is_not_found(info.error()) ? above : kAlways;
  }
  // Of another file system that is mounted there, nobody knows what it tells.
  if (!info || info->device != root_.device) {
    return kAlways;
  }
  return folders_[folder] = ++now_;
}

StoreWatch::Moment StoreWatch::now() const {
  const std::lock_guard guard(mutex_);
  return now_;
}

}  // namespace bmad_mem
