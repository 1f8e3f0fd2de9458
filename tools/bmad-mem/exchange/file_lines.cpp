// file_lines.cpp - reads a file line by line, and unpacks zstd and members of a zip.
#include "exchange/file_lines.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/core.h>
#include <zlib.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/files.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kChunk = std::size_t{256} * 1024;

constexpr std::size_t kPiece = std::size_t{256} * 1024;
constexpr std::uint64_t kUnpackedFree = std::uint64_t{256} << 20U;
constexpr std::uint64_t kUnpackedTimes = 200;

constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
constexpr std::string_view kMemberMagic("PK\x03\x04", 4);
constexpr std::string_view kEntryMagic("PK\x01\x02", 4);
constexpr std::string_view kEndMagic("PK\x05\x06", 4);

// A zip ends with its directory, of which the end has a comment of 64 KiB at most:
//   entry  magic 8:flags.2 method.2 20:packed.4 28:name.2 extra.2 comment.2 42:offset.4 46:name …
//   end    magic 10:entries.2 size.4 offset.4 comment.2
//   member magic 26:name.2 extra.2 30:name extra bytes
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kMemberSize = 30;
constexpr std::size_t kCommentMax = 0xFFFF;
constexpr std::size_t kDirectoryMax = std::size_t{64} << 20U;

/// The number of `size` bytes at `offset`, lowest first; `bytes` has them.
std::uint32_t number_at(std::string_view bytes, std::size_t offset, std::size_t size) {
  assert(size <= 4 && offset + size <= bytes.size());
  std::uint32_t number = 0;
  for (std::size_t i = size; i-- > 0;) {
    number = number << 8U | static_cast<unsigned char>(bytes[offset + i]);
  }
  return number;
}

Error damaged(std::string message, const std::string& path) {
  return {.code = ErrorCode::E_INVALID_FORMAT, .message = std::move(message), .path = path};
}

/// `size` bytes at `offset`, or as many as there are.
Result<std::string> bytes_at(const Descriptor& file, const std::string& path, std::uint64_t offset,
                             std::uint64_t size) {
  std::string bytes;
  if (::lseek(file.number(), static_cast<off_t>(offset), SEEK_SET) < 0 ||
      !read_bytes(file, size, bytes)) {
    return file_error("read it", path, errno);
  }
  return bytes;
}

}  // namespace

Result<std::string_view> FileLines::beginning() {
  assert(begin_ == 0 && "only before next()");
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
  BMAD_TRY_ASSIGN(const std::size_t got, read(buffer_.data() + end_, kChunk));
  end_ += got;
  at_end_ = got == 0;
  assert(end_ + kJsonPadding <= buffer_.size());
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

/// A search continues where the last one ended, so that a long line costs one step a byte.
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
      assert(begin_ <= end_);
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

bool is_zip(std::string_view beginning) { return beginning.starts_with(kMemberMagic); }

Result<std::vector<ZipMember>> zip_members(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const off_t end_of_file = file.is_open() ? ::lseek(file.number(), 0, SEEK_END) : -1;
  if (end_of_file < 0) {
    return file_error("open it", path, errno);
  }
  const auto size = static_cast<std::uint64_t>(end_of_file);
  const std::uint64_t tail_size = std::min<std::uint64_t>(size, kEndSize + kCommentMax);
  BMAD_TRY_ASSIGN(const std::string tail, bytes_at(file, path, size - tail_size, tail_size));
  const std::size_t end = tail.rfind(kEndMagic);
  if (end == std::string::npos || tail.size() - end < kEndSize) {
    return damaged("the end of the zip is missing", path);
  }
  const std::uint64_t offset = number_at(tail, end + 16, 4);
  if (number_at(tail, end + 10, 2) == 0xFFFF || offset == UINT32_MAX) {
    return damaged("is a ZIP64; unpack it and import the folder", path);
  }
  BMAD_TRY_ASSIGN(const std::string directory,
                  bytes_at(file, path, offset,
                           std::min<std::uint64_t>(number_at(tail, end + 12, 4), kDirectoryMax)));
  std::vector<ZipMember> members;
  std::uint64_t packed = 0;
  std::string_view rest = directory;
  while (rest.size() >= kEntrySize && rest.starts_with(kEntryMagic)) {
    const std::size_t name_size = number_at(rest, 28, 2);
    const std::uint32_t method = number_at(rest, 10, 2);
    const ZipMember member = {.name = utf8_repaired(rest.substr(kEntrySize, name_size)),
                              .offset = number_at(rest, 42, 4),
                              .size = number_at(rest, 20, 4),
                              .is_deflated = method == Z_DEFLATED};
    const bool is_encrypted = number_at(rest, 8, 1) % 2 != 0;
    packed += member.size;
    if (!member.name.ends_with('/') && !is_encrypted && (method == 0 || member.is_deflated)) {
      members.push_back(member);
    }
    rest.remove_prefix(std::min(
        rest.size(), kEntrySize + name_size + number_at(rest, 30, 2) + number_at(rest, 32, 2)));
  }
  if (packed > size) {
    return damaged("the members of the zip share bytes", path);
  }
  return members;
}

/// Unpacks bytes as they come.
struct FileLines::Unpacker {
  explicit Unpacker(bool deflated) : is_deflated(deflated) {
    if (is_deflated ? ::inflateInit2(&inflating, -MAX_WBITS) != Z_OK
                    : (zstd = ::ZSTD_createDStream()) == nullptr) {
      throw std::bad_alloc();
    }
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;
  ~Unpacker() {
    if (is_deflated) {
      ::inflateEnd(&inflating);
    }
    ::ZSTD_freeDStream(zstd);
  }

  /// Takes of `packed` what it can, and gives at most `size` bytes; false for damage.
  bool unpack(std::string_view& packed, char* out, std::size_t size, std::size_t& given) {
    if (!is_deflated) {
      ZSTD_outBuffer to{out, size, 0};
      ZSTD_inBuffer from{packed.data(), packed.size(), 0};
      const std::size_t state = ::ZSTD_decompressStream(zstd, &to, &from);
      packed.remove_prefix(from.pos);
      given = to.pos;
      is_whole = state == 0;
      return ::ZSTD_isError(state) == 0;
    }
    inflating.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    inflating.avail_in = static_cast<uInt>(packed.size());
    inflating.next_out = reinterpret_cast<Bytef*>(out);
    inflating.avail_out = static_cast<uInt>(size);
    const int state = is_whole ? Z_STREAM_END : ::inflate(&inflating, Z_NO_FLUSH);
    is_whole = state == Z_STREAM_END;
    packed = is_whole ? "" : packed.substr(packed.size() - inflating.avail_in);
    assert(inflating.avail_out <= size);
    given = size - inflating.avail_out;
    return state == Z_OK || state == Z_STREAM_END || state == Z_BUF_ERROR;
  }

  bool is_deflated;
  bool is_whole = false;  ///< The end of what was packed is reached.
  z_stream inflating{};
  ZSTD_DStream* zstd = nullptr;
};

FileLines::FileLines(Descriptor file, std::string path)
    : file_(std::move(file)), path_(std::move(path)), buffer_(2 * kChunk) {}
FileLines::FileLines(FileLines&&) noexcept = default;
FileLines::~FileLines() = default;

Result<FileLines> FileLines::open(const std::string& path, const std::optional<ZipMember>& member) {
  // A copy of stdin: it is closed with this.
  FileLines lines(Descriptor(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                         : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
                  path == "-" ? "<stdin>" : path);
  if (!lines.file_.is_open()) {
    return file_error("open it", lines.path_, errno);
  }
  if (member) {
    BMAD_TRY_ASSIGN(const std::string header,
                    bytes_at(lines.file_, path, member->offset, kMemberSize));
    if (header.size() < kMemberSize || !header.starts_with(kMemberMagic)) {
      return damaged("the zip is damaged", path);
    }
    const std::uint64_t begin =
        member->offset + kMemberSize + number_at(header, 26, 2) + number_at(header, 28, 2);
    BMAD_TRY(bytes_at(lines.file_, path, begin, 0));
    lines.left_ = member->size;
    if (member->is_deflated) {
      lines.unpacker_ = std::make_unique<Unpacker>(true);
    }
    return lines;
  }
  BMAD_TRY(lines.fill_raw());
  if (lines.raw_.starts_with(kZstdMagic)) {
    lines.unpacker_ = std::make_unique<Unpacker>(false);
  }
  return lines;
}

Result<std::size_t> FileLines::read_file(char* out, std::size_t size) {
  size = static_cast<std::size_t>(std::min<std::uint64_t>(size, left_));
  ssize_t got = -1;
  do {
    got = ::read(file_.number(), out, size);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    return file_error("read it", path_, errno);
  }
  assert(static_cast<std::uint64_t>(got) <= left_);
  left_ -= static_cast<std::uint64_t>(got);
  raw_read_ += static_cast<std::uint64_t>(got);
  return static_cast<std::size_t>(got);
}

Status FileLines::fill_raw() {
  if (raw_begin_ == raw_.size()) {
    raw_begin_ = 0;
    raw_.resize(kPiece);
    BMAD_TRY_ASSIGN(const std::size_t got, read_file(raw_.data(), raw_.size()));
    raw_.resize(got);
  }
  return {};
}

Result<std::size_t> FileLines::read(char* out, std::size_t size) {
  assert(raw_begin_ <= raw_.size());
  if (unpacker_ == nullptr) {
    const std::size_t had = raw_.copy(out, size, raw_begin_);
    raw_begin_ += had;
    return had != 0 ? Result<std::size_t>(had) : read_file(out, size);
  }
  std::size_t given = 0;
  while (given == 0) {
    BMAD_TRY(fill_raw());
    std::string_view rest = std::string_view(raw_).substr(raw_begin_);
    const bool at_end = rest.empty();
    if (at_end && unpacker_->is_whole) {
      return 0;
    }
    if (!unpacker_->unpack(rest, out, size, given)) {
      return damaged("its packed bytes are damaged", path_);
    }
    raw_begin_ = raw_.size() - rest.size();
    if (given == 0 && at_end) {
      return damaged("the end of its packed bytes is missing", path_);
    }
  }
  unpacked_ += given;
  if (unpacked_ > kUnpackedFree + kUnpackedTimes * raw_read_) {
    return Error{
        .code = ErrorCode::E_SIZE_LIMIT,
        .message = fmt::format("unpacks to more than {} times its size; unpack it yourself "
                               "if you know what it is",
                               kUnpackedTimes),
        .path = path_};
  }
  return given;
}

}  // namespace bmad_mem::cli
