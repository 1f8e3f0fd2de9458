// unpacked_cache.cpp - keeps what was unpacked lately, and limits how much may be.
#include "store/unpacked_cache.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <ranges>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {

void UnpackBudget::renew() {
  constexpr std::chrono::seconds kQuestion(10);
  const auto now = std::chrono::steady_clock::now();
  if (now - since_ > kQuestion && !is_limited()) {
    since_ = now;
    spent_ = 0;
  }
}

std::uint64_t UnpackBudget::allowed(std::uint64_t packed, std::uint64_t size_max) {
  const std::lock_guard guard(mutex_);
  renew();
  const std::uint64_t left = kExcessMax - std::min(spent_, kExcessMax);
  return std::min(size_max, kLikelyRatio * packed + left);
}

void UnpackBudget::spend(std::uint64_t packed, std::uint64_t unpacked) {
  const std::lock_guard guard(mutex_);
  renew();
  spent_ += unpacked - std::min(unpacked, kLikelyRatio * packed);
}

void UnpackBudget::limit(std::uint64_t size_max) { max_ = size_max; }

Status UnpackBudget::take(std::uint64_t size, std::uint64_t packed) {
  const std::lock_guard guard(mutex_);
  renew();
  const std::uint64_t more = size - std::min(size, is_limited() ? packed : kLikelyRatio * packed);
  if (more <= max_ - std::min(spent_, max_)) {
    spent_ += more;
    return {};
  }
  Error error{.code = ErrorCode::E_SIZE_LIMIT};
  defer(error);
  error.os_error = is_limited() && size > max_ ? EFBIG : error.os_error;
  return error;
}

void UnpackBudget::defer(Error& error) {
  error.os_error = EAGAIN;
  error.message =
      "is not read now: the packed files of this memory unpack to too much; ask again, or "
      "remove those that are refused";
}

std::uint64_t UnpackedCache::new_owner() {
  const std::lock_guard guard(mutex_);
  return ++owners_;
}

std::shared_ptr<void> UnpackedCache::find_any(std::uint64_t owner, std::size_t part) {
  const std::lock_guard guard(mutex_);
  const auto found = items_.find({owner, part});
  if (found == items_.end()) {
    return nullptr;
  }
  found->second.used = ++uses_;
  return found->second.what;
}

void UnpackedCache::add(std::uint64_t owner, std::size_t part, std::shared_ptr<void> what,
                        std::uint64_t size, std::uint64_t size_max) {
  assert(what != nullptr);
  std::vector<std::shared_ptr<void>> gone;  // Freed without the mutex.
  const std::lock_guard guard(mutex_);
  Item& item = items_[{owner, part}];
  gone.push_back(std::move(item.what));
  size_ = size_ - item.size + size;
  item = {.what = std::move(what), .size = size, .used = ++uses_};
  while (size_ > size_max && items_.size() > 1) {
    const auto oldest =
        std::ranges::min_element(items_, {}, [](const auto& each) { return each.second.used; });
    size_ -= oldest->second.size;
    gone.push_back(std::move(oldest->second.what));
    items_.erase(oldest);
  }
}

void UnpackedCache::forget(std::uint64_t owner) {
  std::vector<std::shared_ptr<void>> gone;  // Freed without the mutex.
  const std::lock_guard guard(mutex_);
  auto next = items_.lower_bound({owner, 0});
  while (next != items_.end() && next->first.first == owner) {
    size_ -= next->second.size;
    gone.push_back(std::move(next->second.what));
    next = items_.erase(next);
  }
}

std::uint64_t UnpackedCache::size() {
  const std::lock_guard guard(mutex_);
  return size_;
}

std::string refused_key(const std::string& path, const FileInfo& file, ArchiveNote note) {
  return hash_hex(xxh3(fmt::format("{} {} {} {} {} {}", static_cast<int>(note), path, file.device,
                                   file.inode, file.size, file.mtime_ns)));
}

RefusedFiles read_refused(FileSystem& files) {
  RefusedFiles refused;
  const std::string text = read_file(files, kRefusedFile, kRefusedSizeMax).value_or("");
  JsonParser parser;
  for (const auto& line : text | std::views::split('\n')) {
    if (const Result<JsonValue> value = parser.parse(std::string_view(line))) {
      const bool is_size = (*value)["code"].string() == error_code_name(ErrorCode::E_SIZE_LIMIT);
      refused.insert_or_assign(
          std::string((*value)["key"].string()),
          Error{.code = is_size ? ErrorCode::E_SIZE_LIMIT : ErrorCode::E_STORAGE_CORRUPT,
                .message = std::string((*value)["message"].string())});
    }
  }
  return refused;
}

void remember_archive(FileSystem& files, const std::string& path, const Result<FileInfo>& file,
                      ArchiveNote note, const Error& error) {
  constexpr std::uint64_t kQuickAnyway = UnpackBudget::kQuickMax / 8;  // Text shrinks to a sixth.
  if (!file || (note == ArchiveNote::kOurs && file->size <= kQuickAnyway)) {
    return;
  }
  JsonWriter line;
  line.begin_object().member("key", refused_key(path, *file, note)).member("file", path);
  line.member("code", error_code_name(error.code)).member("message", error.message).end_object();
  const Result<FileInfo> before = files.info(kRefusedFile);
  if (before && before->size > kRefusedSizeMax / 2) {
    static_cast<void>(files.remove(kRefusedFile));
  }
  if (const auto log = files.open(kRefusedFile, OpenMode::kAppend)) {
    static_cast<void>(write_all(**log, line.take() + '\n'));
  }
}

}  // namespace bmad_mem
