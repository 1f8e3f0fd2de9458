// line_reader.cpp - reads a log line by line, in chunks.
#include "store/line_reader.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"

namespace bmad_mem {

Status check_log_size(const FileSystem& files, const std::string& path, std::uint64_t size) {
  if (size <= kLogSizeMax) {
    return {};
  }
  return path_error(ErrorCode::E_SIZE_LIMIT, files.display_path(path),
                    fmt::format("has {} bytes, more than the {} that a log may have; bring "
                                "the file back from git or from a backup, or move it away",
                                size, kLogSizeMax));
}

namespace {

// 256 KiB stays in the second-level cache: measured no slower than 1 MiB, and a cold process that
// reads one small log does not pay for clearing memory it never uses.
constexpr std::size_t kChunkSize = 256U << 10U;

}  // namespace

Result<std::uint64_t> find_bytes(File& file, std::uint64_t begin, std::uint64_t end,
                                 std::string_view bytes) {
  std::string piece;
  while (begin < end) {
    piece.resize(std::min<std::uint64_t>(kChunkSize + bytes.size(), end - begin));
    BMAD_TRY_ASSIGN(const std::size_t got, file.read_at(begin, piece));
    piece.resize(got);
    if (const std::size_t at = piece.find(bytes); at != std::string::npos) {
      return begin + at;
    }
    begin += got < bytes.size() ? end : got - bytes.size() + 1;
  }
  return end;
}

LineReader::LineReader(File& file, std::uint64_t line_size_max)
    : file_(file), line_size_max_(line_size_max) {}

void LineReader::seek(std::uint64_t offset, std::uint64_t number) {
  line_offset_ = offset;
  line_number_ = number;
  begin_ = 0;
  filled_ = 0;
}

Result<bool> LineReader::next(Line& line) {
  if (!started_) {
    BMAD_TRY_ASSIGN(const FileInfo info, file_.info());
    end_ = std::max(info.size, line_offset_);
    started_ = true;
  }
  std::size_t searched = begin_;
  while (true) {
    assert(begin_ <= searched && searched <= filled_ && filled_ <= buffer_.size());
    const void* newline = std::memchr(buffer_.data() + searched, '\n', filled_ - searched);
    if (newline != nullptr) {
      const std::size_t at =
          static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data());
      const std::size_t size = at - begin_;
      if (size > line_size_max_) {
        return pass_over_long_line(line);
      }
      assert(at + kJsonPadding <= buffer_.size() && "the parser reads beyond the text");
      line = {.text = std::string_view(buffer_).substr(begin_, size),
              .offset = line_offset_,
              .size = size,
              .number = line_number_};
      begin_ = at + 1;
      line_offset_ += size + 1;
      ++line_number_;
      return true;
    }
    if (filled_ - begin_ > line_size_max_) {
      return pass_over_long_line(line);
    }
    searched = filled_ - begin_;
    BMAD_TRY_ASSIGN(const bool more, fill());
    if (!more) {
      return false;
    }
  }
}

/// Moves what is left of the buffer to its front and reads the next chunk behind it. False at the
/// end of the file.
Result<bool> LineReader::fill() {
  const std::size_t kept = filled_ - begin_;
  const std::uint64_t from = line_offset_ + kept;
  assert(from <= end_);
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(kChunkSize, end_ - from));
  if (wanted == 0) {
    return false;
  }
  std::memmove(buffer_.data(), buffer_.data() + begin_, kept);
  begin_ = 0;
  filled_ = kept;
  if (buffer_.size() < kept + wanted + kJsonPadding) {
    buffer_.resize(kept + wanted + kJsonPadding);
  }
  BMAD_TRY_ASSIGN(const std::size_t got,
                  file_.read_at(from, std::span<char>(buffer_.data() + kept, wanted)));
  assert(got <= wanted);
  filled_ += got;
  if (got < wanted) {
    end_ = from + got;  // Cut short since we looked: a torn end was mended.
  }
  return got > 0;
}

/// Finds the end of a line that is too long to keep, without keeping it.
Result<bool> LineReader::pass_over_long_line(Line& line) {
  const std::uint64_t start = line_offset_;
  std::uint64_t at = line_offset_;
  begin_ = 0;
  filled_ = 0;
  buffer_.resize(std::max(buffer_.size(), kChunkSize + kJsonPadding));
  while (at < end_) {
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(kChunkSize, end_ - at));
    BMAD_TRY_ASSIGN(const std::size_t got,
                    file_.read_at(at, std::span<char>(buffer_.data(), wanted)));
    const void* newline = std::memchr(buffer_.data(), '\n', got);
    if (newline != nullptr) {
      const auto inside =
          static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data());
      line = {
          .offset = start, .size = at + inside - start, .number = line_number_++, .too_long = true};
      line_offset_ = at + inside + 1;
      return true;
    }
    if (got == 0) {
      end_ = at;
    }
    at += got;
  }
  return false;  // No newline: the rest of the file is torn.
}

}  // namespace bmad_mem
