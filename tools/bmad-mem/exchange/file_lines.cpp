#include "exchange/file_lines.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bmad_mem/json_parser.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kChunk = std::size_t{256} * 1024;

}  // namespace

Result<FileLines> FileLines::open(const std::string& path, const ZipMember* member) {
  BMAD_TRY_ASSIGN(FileBytes bytes, FileBytes::open(path, member));
  return FileLines(std::move(bytes));
}

FileLines::FileLines(FileBytes bytes) : bytes_(std::move(bytes)), buffer_(2 * kChunk) {}

Result<std::string_view> FileLines::beginning() {
  if (end_ == 0 && !at_end_) {
    BMAD_TRY(fill());
  }
  return std::string_view(buffer_.data(), end_);
}

Result<std::string_view> FileLines::first_line() {
  while (!at_end_ && end_ <= kForeignLineSizeMax &&
         std::memchr(buffer_.data(), '\n', end_) == nullptr) {
    BMAD_TRY(fill());
  }
  return std::string_view(buffer_.data(), end_);
}

Result<std::string_view> FileLines::chunk() {
  if (begin_ == end_ && !at_end_) {
    BMAD_TRY(fill());
  }
  const std::string_view text(buffer_.data() + begin_, end_ - begin_);
  begin_ = end_;
  return text;
}

Status FileLines::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() < end_ + kChunk + kJsonPadding) {
    buffer_.resize(std::max(buffer_.size() * 2, end_ + kChunk + kJsonPadding));
  }
  BMAD_TRY_ASSIGN(const std::size_t got, bytes_.read(buffer_.data() + end_, kChunk));
  end_ += got;
  at_end_ = got == 0;
  return {};
}

Status FileLines::skip_line() {
  while (true) {
    const auto* found =
        static_cast<const char*>(std::memchr(buffer_.data() + begin_, '\n', end_ - begin_));
    if (found != nullptr) {
      begin_ = static_cast<std::size_t>(found - buffer_.data()) + 1;
      return {};
    }
    begin_ = end_;
    if (at_end_) {
      return {};
    }
    BMAD_TRY(fill());
  }
}

Result<bool> FileLines::next(FileLine& line) {
  std::size_t searched = begin_;
  while (true) {
    const auto* found =
        static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched));
    const std::size_t size =
        (found == nullptr ? end_ : static_cast<std::size_t>(found - buffer_.data())) - begin_;
    const bool ends = found != nullptr || (at_end_ && size > 0);
    if (ends && size <= line_size_max_) {
      line = {.text = {buffer_.data() + begin_, size}, .number = ++number_};
      begin_ += size + (found != nullptr ? 1 : 0);
      if (line.text.ends_with('\r')) {
        line.text.remove_suffix(1);
      }
      return true;
    }
    if (size > line_size_max_) {
      BMAD_TRY(skip_line());
      line = {.text = {}, .number = ++number_, .too_long = true};
      return true;
    }
    if (at_end_) {
      return false;
    }
    searched = size;  // fill() moves the line to the front.
    BMAD_TRY(fill());
  }
}

}  // namespace bmad_mem::cli
