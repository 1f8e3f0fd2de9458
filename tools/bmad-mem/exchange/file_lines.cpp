#include "exchange/file_lines.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/json_parser.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kChunk = std::size_t{256} * 1024;

}  // namespace

Error io_error(std::string_view what, const std::string& path) {
  const int error = errno;
  return {.code = ErrorCode::E_STORAGE_IO,
          .message = fmt::format("cannot {}: {}", what, std::strerror(error)),
          .path = path,
          .os_error = error};
}

FileLines::FileLines(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)), buffer_(2 * kChunk) {}

FileLines::FileLines(FileLines&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      at_end_(other.at_end_),
      number_(other.number_),
      bytes_read_(other.bytes_read_) {}

FileLines::~FileLines() {
  if (descriptor_ > STDIN_FILENO) {
    static_cast<void>(::close(descriptor_));
  }
}

Result<FileLines> FileLines::open(const std::string& path) {
  if (path == "-") {
    return FileLines(STDIN_FILENO, "<stdin>");
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return io_error("open it", path);
  }
  return FileLines(descriptor, path);
}

Result<std::string_view> FileLines::beginning() {
  if (end_ == 0 && !at_end_) {
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
  ssize_t got = -1;
  do {
    got = ::read(descriptor_, buffer_.data() + end_, kChunk);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return io_error("read it", path_);
  }
  end_ += static_cast<std::size_t>(got);
  bytes_read_ += static_cast<std::uint64_t>(got);
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
    if (ends && size <= kLineSizeMax) {
      line = {.text = {buffer_.data() + begin_, size}, .number = ++number_};
      begin_ += size + (found != nullptr ? 1 : 0);
      if (line.text.ends_with('\r')) {
        line.text.remove_suffix(1);
      }
      return true;
    }
    if (size > kLineSizeMax) {
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
